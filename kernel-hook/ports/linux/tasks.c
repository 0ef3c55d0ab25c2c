/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "ktop.h"
#include "maps.h"
#include "queue.h"
#include "tasks.h"
#include "wire.h"

enum {
	MARKS = 64,			/* Linux has only 8 KiB of per-CPU memory for modules */
	QUEUE = 32,			/* entries of a CPU's queue of threads */
	GLIMPSES = 16,			/* entries of a CPU's queue of glimpses */
	KNOWN_BITS = 10,		/* of the size of the hash table */
	LOOK_JIFFIES = HZ / 4,		/* between two looks at all known tasks */
	TRIES = 40,			/* how often a process's maps are tried */
	AREAS = 1 << 17,		/* memory areas that one call looks at, at most */
};

/* A thread that was sampled; it may have ended since. */
struct sighting {
	pid_t pid, tgid;
	u32 program;			/* how often it has called exec */
	bool user;			/* false: a thread of the kernel */
	char name[TASK_COMM_LEN];
};

/* What a process had mapped when it was sampled; it may have ended since. */
struct glimpse {
	pid_t tgid;
	u32 program;
	struct maps_glimpse maps;
};

/*
 * A look is the time from one look_at_all() to the next, a quarter of a second. A mark says that a thread was queued
 * in a look, with the program that it ran then.
 */
struct mark {
	u64 thread;			/* count of exec << 32 | pid */
	u32 look;			/* `looks` at that time */
	unsigned long mapped;		/* pages of code that its process had at the last glimpse; 0: there was none */
};

/*
 * The threads that one CPU has sampled; and another one, those of which it has written trace events: an NMI may come
 * between. A thread without a mark of this look is queued; if the queue is full, the next sample tries again. A thread
 * that goes on running is therefore queued once in each look, with what has changed. The sampler, or the trace point,
 * writes the queue, the drainer reads it.
 */
struct seen {
	struct mark marks[MARKS];	/* of who writes the queue alone */
	struct sighting sightings[QUEUE];	/* the entries of `queue` */
	struct queue queue;
};

/*
 * A program may end before the drainer runs. So the first sample of one, and the first after it has mapped more code,
 * raises an interrupt on its CPU, in which it is still there: that writes the queue, the drainer reads it.
 */
struct glimpses {
	struct irq_work work;		/* the interrupt */
	struct glimpse list[GLIMPSES];	/* the entries of `queue` */
	struct queue queue;
};

/* A thread that the hook was given. For the drainer alone. */
struct known {
	struct hlist_node node;
	struct list_head in;		/* the list `all` */
	struct pid *id;			/* held; a later thread with this number has another; NULL: it had ended */
	struct sighting told;		/* what the hook was given */
	unsigned long mapped;		/* maps_pages() when its maps were given; 0: some are missing */
	unsigned int tries;		/* how often its maps were tried */
};

static DEFINE_PER_CPU(struct seen, seen);
static struct seen __percpu *traced;
static struct glimpses __percpu *glimpses;
static DEFINE_HASHTABLE(known, KNOWN_BITS);
static LIST_HEAD(all);
static u32 looks = 1;			/* number of the look; written by the drainer, read by samplers */
static unsigned long looked_at;		/* jiffies of the last look */
static unsigned int areas;		/* how many this call may still look at */

/* ---- the sampler ---- */

static bool news;			/* a new thread is queued; the drainer sets it back to false */
static DECLARE_WAIT_QUEUE_HEAD(waiting);

static void announce(struct irq_work *work)
{
	queue_announce(&news);
	wake_up(&waiting);
}

/* Runs at the next tick, so that the drainer also finds most programs that run for a short time. */
static struct irq_work announcement = IRQ_WORK_INIT_LAZY(announce);

/* Notes what the sample knows of a task. */
static void sight(struct sighting *to, const struct task_struct *task)
{
	to->pid = task->pid;
	to->tgid = task->tgid;
	to->program = task->self_exec_id;
	to->user = !(task->flags & PF_KTHREAD);
	memcpy(to->name, task->comm, sizeof(to->name));
	to->name[sizeof(to->name) - 1] = '\0';
}

static u64 thread_of(const struct task_struct *task)
{
	return (u64)task->self_exec_id << 32 | (u32)task->pid;
}

static struct mark *mark_of(struct seen *mine, u64 thread)
{
	return &mine->marks[hash_64(thread, ilog2(MARKS))];
}

/* The task is `current`, so its address space stays. */
static unsigned long mapped_by(const struct task_struct *task)
{
	return task->mm && !(task->flags & PF_KTHREAD) ? READ_ONCE(task->mm->exec_vm) : 0;
}

/* Runs on the sampled CPU, as soon as the interrupt or NMI that took the sample is over. */
static void glimpse(struct irq_work *work)
{
	struct glimpses *mine = this_cpu_ptr(glimpses);
	struct glimpse *to = &mine->list[mine->queue.head % GLIMPSES];
	unsigned long mapped = mapped_by(current);
	u64 thread = thread_of(current);
	struct mark *mark = mark_of(this_cpu_ptr(&seen), thread);

	if (!mapped || !queue_has_room(&mine->queue, GLIMPSES) || !maps_glimpse(current->mm, &to->maps))
		return;
	to->tgid = current->tgid;
	to->program = current->self_exec_id;
	queue_put(&mine->queue);
	if (mark->thread == thread)
		WRITE_ONCE(mark->mapped, mapped);
}

static void queue_task(struct seen *mine, const struct task_struct *task)
{
	u64 thread = thread_of(task);
	struct mark *mark = mark_of(mine, thread);
	u32 look = READ_ONCE(looks);
	bool is_new = mark->thread != thread;

	if ((!is_new && mark->look == look) || !queue_has_room(&mine->queue, QUEUE))
		return;
	*mark = (struct mark) { .thread = thread, .look = look, .mapped = is_new ? 0 : mark->mapped };
	sight(&mine->sightings[mine->queue.head % QUEUE], task);
	queue_put(&mine->queue);
	if (is_new)
		irq_work_queue(&announcement);
}

void tasks_seen(const struct task_struct *task)
{
	struct seen *mine = this_cpu_ptr(&seen);
	const struct mark *mark = mark_of(mine, thread_of(task));
	unsigned long mapped = mapped_by(task);

	if (mapped && (mark->thread != thread_of(task) || mark->mapped != mapped))
		irq_work_queue(&this_cpu_ptr(glimpses)->work);
	queue_task(mine, task);
}

void tasks_traced(const struct task_struct *task)
{
	unsigned long state;

	local_irq_save(state);
	queue_task(this_cpu_ptr(traced), task);
	local_irq_restore(state);
}

/* ---- the drainer ---- */

static struct known *find(pid_t pid)
{
	struct known *one;

	hash_for_each_possible(known, one, node, pid)
		if (one->told.pid == pid)
			return one;
	return NULL;
}

/* Adds a thread, and keeps the caller's reference to `id`. NULL: there is no memory now. */
static struct known *add(pid_t pid, struct pid *id)
{
	struct known *one = kzalloc(sizeof(*one), GFP_NOWAIT | __GFP_NOWARN);

	if (!one) {
		put_pid(id);
		return NULL;
	}
	one->id = id;
	one->told.pid = pid;
	hash_add(known, &one->node, pid);
	list_add(&one->in, &all);
	return one;
}

static void drop(struct known *one)
{
	hash_del(&one->node);
	list_del(&one->in);
	put_pid(one->id);
	kfree(one);
}

static void forget(struct ktop *ktop, struct known *one)
{
	ktop_thread_exit(ktop, one->told.pid);
	if (one->told.pid == one->told.tgid)
		ktop_process_exit(ktop, one->told.pid);
	drop(one);
}

/* A process is known by its first thread, whose pid is the process's. */
static bool is_process(const struct known *one)
{
	return one->told.user && one->told.pid == one->told.tgid;
}

static void tell_maps(struct ktop *ktop, struct known *one, struct task_struct *task)
{
	if (maps_pages(task) == one->mapped || one->tries >= TRIES)
		return;
	one->mapped = maps_tell(ktop, task, &areas);
	one->tries = one->mapped ? 0 : one->tries + 1;
}

/* Gives the hook the thread's name, if that or the program has changed. */
static void tell(struct ktop *ktop, struct known *one, const struct sighting *now)
{
	bool is_new = !one->told.name[0] || one->told.program != now->program;

	if (is_new)
		one->mapped = one->tries = 0;
	if (is_new || strcmp(now->name, one->told.name) != 0) {
		one->told = *now;
		if (is_process(one))
			ktop_process(ktop, now->tgid, now->name);
		ktop_thread(ktop, now->pid, now->user ? now->tgid : KTOP_KERNEL, now->name);
	}
}

/* Finds or adds the thread that was sampled. A known thread with its number that is another one is forgotten. */
static struct known *recognize(struct ktop *ktop, const struct sighting *now)
{
	struct pid *id = find_get_pid(now->pid);
	struct known *one = find(now->pid);

	if (one && one->id != id) {
		forget(ktop, one);
		one = NULL;
	}
	if (!one)
		return add(now->pid, id);
	put_pid(id);
	return one;
}

static void meet(struct ktop *ktop, const struct sighting *now)
{
	struct known *one = recognize(ktop, now);
	struct task_struct *task;

	if (!one)
		return;
	tell(ktop, one, now);
	task = is_process(one) ? get_pid_task(one->id, PIDTYPE_PID) : NULL;
	if (!task)
		return;
	tell_maps(ktop, one, task);
	put_task_struct(task);
}

/* Gives the hook the process of a thread that was sampled. */
static void meet_process(struct ktop *ktop, pid_t tgid)
{
	struct pid *id = find_get_pid(tgid);
	struct task_struct *task = get_pid_task(id, PIDTYPE_PID);
	struct sighting now;

	put_pid(id);
	if (!task)
		return;
	sight(&now, task);
	put_task_struct(task);
	meet(ktop, &now);
}

static void take_queue(struct ktop *ktop, struct seen *theirs)
{
	u32 head = queue_head(&theirs->queue);

	for (u32 at = theirs->queue.tail; at != head; at++) {
		const struct sighting *now = &theirs->sightings[at % QUEUE];

		meet(ktop, now);
		if (now->tgid != now->pid)
			meet_process(ktop, now->tgid);
	}
	queue_drop(&theirs->queue, head);
}

/* Of a process that is still there, more is known than a glimpse. */
static void take_glimpses(struct ktop *ktop, struct glimpses *theirs)
{
	u32 head = queue_head(&theirs->queue);

	for (u32 at = theirs->queue.tail; at != head; at++) {
		struct glimpse *one = &theirs->list[at % GLIMPSES];
		const struct known *process = find(one->tgid);

		if (process && process->told.program == one->program && !process->mapped)
			maps_tell_glimpse(ktop, one->tgid, &one->maps);
		maps_drop_glimpse(&one->maps);
	}
	queue_drop(&theirs->queue, head);
}

/* Forgets the threads that have ended, and tries again the maps that are missing. */
static void look_at_all(struct ktop *ktop)
{
	struct known *one, *next;

	list_for_each_entry_safe(one, next, &all, in) {
		struct task_struct *task = get_pid_task(one->id, PIDTYPE_PID);

		if (!task) {
			forget(ktop, one);
			continue;
		}
		if (is_process(one) && !one->mapped)
			tell_maps(ktop, one, task);
		put_task_struct(task);
	}
}

void tasks_tell(struct ktop *ktop)
{
	unsigned int cpu;

	areas = AREAS;
	queue_take_news(&news);
	for_each_possible_cpu(cpu)
		take_queue(ktop, per_cpu_ptr(&seen, cpu));
	for_each_possible_cpu(cpu)
		take_queue(ktop, per_cpu_ptr(traced, cpu));
	for_each_possible_cpu(cpu)
		take_glimpses(ktop, per_cpu_ptr(glimpses, cpu));
	if (time_after(jiffies, looked_at + LOOK_JIFFIES)) {
		looked_at = jiffies;
		look_at_all(ktop);
		WRITE_ONCE(looks, looks + 1);
	}
}

void tasks_wait(unsigned long timeout)
{
	wait_event_interruptible_timeout(waiting, READ_ONCE(news) || kthread_should_stop(), timeout);
}

int tasks_start(void)
{
	unsigned int cpu;
	int error;

	glimpses = alloc_percpu(struct glimpses);
	traced = alloc_percpu(struct seen);
	error = glimpses && traced ? maps_start() : -ENOMEM;
	if (error) {
		free_percpu(traced);
		free_percpu(glimpses);
		return error;
	}
	for_each_possible_cpu(cpu)
		per_cpu_ptr(glimpses, cpu)->work = IRQ_WORK_INIT_HARD(glimpse);
	return 0;
}

static void drop_glimpses(unsigned int cpu)
{
	struct glimpses *theirs = per_cpu_ptr(glimpses, cpu);

	irq_work_sync(&theirs->work);
	for (; theirs->queue.tail != theirs->queue.head; theirs->queue.tail++)
		maps_drop_glimpse(&theirs->list[theirs->queue.tail % GLIMPSES].maps);
}

void tasks_stop(void)
{
	struct known *one, *next;
	unsigned int cpu;

	irq_work_sync(&announcement);
	for_each_possible_cpu(cpu)
		drop_glimpses(cpu);
	list_for_each_entry_safe(one, next, &all, in)
		drop(one);
	maps_stop();
	free_percpu(traced);
	free_percpu(glimpses);
}
