#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ktop.h"
#include "maps.h"
#include "tasks.h"
#include "wire.h"

enum { MARKS = 64, QUEUE = 256, KNOWN_BITS = 10, LOOK_JIFFIES = HZ / 4 };

/*
 * Of one CPU. A mark is a thread that was queued lately, with the program that it then ran; a
 * thread without a mark is queued, again and again until there is room.
 * The sampler releases `head` after the entry, and the drainer acquires it; the same with `tail`, by
 * which the drainer gives entries back.
 */
struct seen {
	u64 marks[MARKS];		/* the sampler's: pid and count of exec */
	pid_t queue[QUEUE];
	u32 head;			/* the sampler's */
	u32 tail;			/* the drainer's */
};

/* What the host was told of. The drainer's. */
struct known {
	struct hlist_node node;
	pid_t pid, tgid;
	u64 start;			/* of the thread: another one may have its number later */
	u32 program;			/* count of exec */
	unsigned long mapped;		/* executable pages, when its maps were told */
	char name[TASK_COMM_LEN];
};

static DEFINE_PER_CPU(struct seen, seen);
static DEFINE_HASHTABLE(known, KNOWN_BITS);
static unsigned long looked_at;		/* jiffies, of the last look at all */

void tasks_seen(const struct task_struct *task)
{
	struct seen *mine = this_cpu_ptr(&seen);
	u64 mark = (u64)task->self_exec_id << 32 | (u32)task->pid;
	u64 *slot = &mine->marks[hash_64(mark, ilog2(MARKS))];

	if (*slot == mark || mine->head - smp_load_acquire(&mine->tail) == QUEUE)
		return;
	*slot = mark;
	mine->queue[mine->head % QUEUE] = task->pid;
	smp_store_release(&mine->head, mine->head + 1);
}

static struct known *find(pid_t pid)
{
	struct known *one;

	hash_for_each_possible(known, one, node, pid)
		if (one->pid == pid)
			return one;
	return NULL;
}

static struct known *add(pid_t pid)
{
	struct known *one = kzalloc(sizeof(*one), GFP_KERNEL);

	if (one) {
		one->pid = pid;
		hash_add(known, &one->node, pid);
	}
	return one;
}

/* ---- one task ---- */

/* A process is told of by its first thread. */
static void tell(struct ktop *ktop, struct known *one, struct task_struct *task)
{
	bool is_new = one->start != task->start_time || one->program != task->self_exec_id;
	bool is_process = !(task->flags & PF_KTHREAD) && task->pid == task->tgid;
	char name[TASK_COMM_LEN];

	get_task_comm(name, task);
	if (is_new || strcmp(name, one->name) != 0) {
		if (is_process)
			ktop_process(ktop, task->tgid, name);
		ktop_thread(ktop, task->pid, task->flags & PF_KTHREAD ? KTOP_KERNEL : task->tgid,
			name);
	}
	one->tgid = task->tgid;
	one->start = task->start_time;
	one->program = task->self_exec_id;
	strscpy(one->name, name, sizeof(one->name));
	if (is_process && (is_new || maps_pages(task) != one->mapped))
		one->mapped = maps_tell(ktop, task);
}

static void forget(struct ktop *ktop, struct known *one)
{
	ktop_thread_exit(ktop, one->pid);
	if (one->pid == one->tgid)
		ktop_process_exit(ktop, one->pid);
	hash_del(&one->node);
	kfree(one);
}

static struct task_struct *task_of(pid_t pid)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}

static void look_at(struct ktop *ktop, pid_t pid)
{
	struct task_struct *task = task_of(pid);
	struct known *one = find(pid);

	if (!one && task)
		one = add(pid);
	if (one && task)
		tell(ktop, one, task);
	else if (one)
		forget(ktop, one);
	if (task)
		put_task_struct(task);
}

/* Its process, too. */
static void meet(struct ktop *ktop, pid_t pid)
{
	struct known *one;

	look_at(ktop, pid);
	one = find(pid);
	if (one && one->tgid != pid && !find(one->tgid))
		look_at(ktop, one->tgid);
}

static void look_at_all(struct ktop *ktop)
{
	struct hlist_node *next;
	struct known *one;
	int bucket;

	hash_for_each_safe(known, bucket, next, one, node)
		look_at(ktop, one->pid);
}

void tasks_tell(struct ktop *ktop)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct seen *theirs = per_cpu_ptr(&seen, cpu);
		u32 head = smp_load_acquire(&theirs->head);

		for (u32 at = theirs->tail; at != head; at++)
			meet(ktop, theirs->queue[at % QUEUE]);
		smp_store_release(&theirs->tail, head);
	}
	if (time_after(jiffies, looked_at + LOOK_JIFFIES)) {
		looked_at = jiffies;
		look_at_all(ktop);
	}
}

int tasks_init(void)
{
	return maps_init();
}

void tasks_free(void)
{
	struct hlist_node *next;
	struct known *one;
	int bucket;

	hash_for_each_safe(known, bucket, next, one, node) {
		hash_del(&one->node);
		kfree(one);
	}
	maps_free();
}
