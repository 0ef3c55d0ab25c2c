/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
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
	MARKS = 64,			/* a kernel has little memory of each CPU for modules: 8 KiB */
	QUEUE = 32,
	KNOWN_BITS = 10,
	LOOK_JIFFIES = HZ / 4,		/* between two looks at who has ended */
	TRIES = 40,			/* looks at what a process has mapped */
	AREAS = 1 << 17,		/* of memory, looked at in one call */
};

/* What is told of a thread that was sampled; it may have ended since. */
struct sighting {
	pid_t pid, tgid;
	u32 program;			/* count of exec */
	bool user;			/* not a thread of the kernel's own */
	char name[TASK_COMM_LEN];
};

/* A thread that was queued lately, with the program that it then ran, and in which look. */
struct mark {
	u64 thread;			/* pid and count of exec */
	u32 look;
};

/*
 * Of one CPU. A thread without a mark is queued, again and again until there is room; each look makes
 * marks old, so that a thread that goes on is queued again, with what has changed. The sampler writes
 * the queue, the drainer reads it.
 */
struct seen {
	struct mark marks[MARKS];	/* the sampler's */
	struct sighting sightings[QUEUE];	/* the entries of `queue` */
	struct queue queue;
};

/* What the host was told of. The drainer's. */
struct known {
	struct hlist_node node;
	struct list_head in;		/* all of them */
	struct pid *id;			/* held: another thread with this number has another; NULL: it had ended */
	struct sighting told;
	unsigned long mapped;		/* executable pages, when its maps were told; 0: not all were */
	unsigned int tries;
};

static DEFINE_PER_CPU(struct seen, seen);
static DEFINE_HASHTABLE(known, KNOWN_BITS);
static LIST_HEAD(all);
static u32 looks = 1;			/* the drainer's, read by samplers */
static unsigned long looked_at;		/* jiffies, of the last look */
static unsigned int areas;		/* that this call may still look at */

/* ---- the sampler's ---- */

static bool news;			/* a thread is queued that had no mark; the drainer takes it back */
static DECLARE_WAIT_QUEUE_HEAD(waiting);

static void announce(struct irq_work *work)
{
	queue_announce(&news);
	wake_up(&waiting);
}

/* At the next tick: the drainer then finds also most programs that are short. */
static struct irq_work announcement = IRQ_WORK_INIT_LAZY(announce);

static void sight(struct sighting *to, const struct task_struct *task)
{
	to->pid = task->pid;
	to->tgid = task->tgid;
	to->program = task->self_exec_id;
	to->user = !(task->flags & PF_KTHREAD);
	memcpy(to->name, task->comm, sizeof(to->name));
	to->name[sizeof(to->name) - 1] = '\0';
}

void tasks_seen(const struct task_struct *task)
{
	struct seen *mine = this_cpu_ptr(&seen);
	u64 thread = (u64)task->self_exec_id << 32 | (u32)task->pid;
	struct mark *mark = &mine->marks[hash_64(thread, ilog2(MARKS))];
	u32 look = READ_ONCE(looks);
	bool is_new = mark->thread != thread;

	if ((!is_new && mark->look == look) || !queue_has_room(&mine->queue, QUEUE))
		return;
	*mark = (struct mark){ .thread = thread, .look = look };
	sight(&mine->sightings[mine->queue.head % QUEUE], task);
	queue_put(&mine->queue);
	if (is_new)
		irq_work_queue(&announcement);
}

/* ---- the drainer's ---- */

static struct known *find(pid_t pid)
{
	struct known *one;

	hash_for_each_possible(known, one, node, pid)
		if (one->told.pid == pid)
			return one;
	return NULL;
}

/* Takes over the reference; NULL: there is no memory now. */
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

/* A process is told of by its first thread. */
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

/* The one that was sighted: another one may have its number since it was told of. */
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

/* Of a thread that was sampled, its process. */
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

/* Forgets who has ended; and goes on with maps that could not be told of. */
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
	return maps_start();
}

void tasks_stop(void)
{
	struct known *one, *next;

	irq_work_sync(&announcement);
	list_for_each_entry_safe(one, next, &all, in)
		drop(one);
	maps_stop();
}
