/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A probe is called by a pointer without a type. So the arguments that it takes are compared with those that the BTF of
 * the kernel that runs tells, before it is attached. Layout of BTF: Documentation/bpf/btf.rst.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/blktrace_api.h>
#include <linux/btf.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <trace/events/lock.h>
#include <trace/events/signal.h>
#include <trace/syscall.h>
#include <asm/irq_vectors.h>
#include <asm/syscall.h>
#include <asm/trap_pf.h>
#include <asm/unistd.h>

#include "ktop.h"
#include "private.h"
#include "tasks.h"
#include "trace.h"
#include "tracepoints.h"

/* ---- probes: each gets the hook as its first argument ---- */

/*
 * Written by the drainer. To attach one takes some milliseconds, in which a busy thread makes thousands of calls:
 * nothing is written before all that were chosen are attached, so that what begins also ends.
 */
static bool all_attached;

/* The hook, if events are to be written; else NULL. */
static inline struct ktop *writes(void *hook)
{
	return READ_ONCE(all_attached) ? hook : NULL;
}

static uint32_t thread_of(const struct task_struct *task)
{
	return is_idle_task(task) ? KTOP_NO_THREAD : (uint32_t)task->pid;
}

/* KTOP_NO_THREAD: an interrupt, or a softirq, whatever thread it came to. Not in an NMI. */
static uint32_t thread_here(void)
{
	if (!in_task() || is_idle_task(current))
		return KTOP_NO_THREAD;
	tasks_traced(current);
	return (uint32_t)current->pid;
}

/* `state`: as it was when the scheduler looked at it; a wake may have changed it since. */
static uint8_t leaves_of(bool preempt, unsigned int state)
{
	if (preempt || !state)
		return KTOP_LEAVES_READY;
	if (state & TASK_DEAD)
		return KTOP_LEAVES_DEAD;
	return state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD) ? KTOP_LEAVES_BLOCKED : KTOP_LEAVES_ASLEEP;
}

static void on_switch(void *data, bool preempt, struct task_struct *from, struct task_struct *to, unsigned int state)
{
	struct ktop *ktop = writes(data);

	if (!ktop)
		return;
	if (!is_idle_task(from))
		tasks_traced(from);
	ktop_trace_sched_switch(ktop, thread_of(from), thread_of(to), leaves_of(preempt, state));
}

/* In the context of the waker, for the thread that it wakes, or has made. */
static void on_wake(void *data, struct task_struct *task)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_sched_wake(ktop, (uint32_t)task->pid, thread_here());
}

static void on_irq_entry(void *data, int irq, struct irqaction *action)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_irq_enter(ktop, (uint32_t)irq);
}

static void on_irq_exit(void *data, int irq, struct irqaction *action, int result)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_irq_exit(ktop, (uint32_t)irq);
}

/*
 * x86's timer and what CPUs send each other have no number of Linux's, but a vector. Numbers of Linux's are ints, none
 * of them negative: no number is both.
 */
enum { VECTORS = 1u << 31 };

static void on_vector_entry(void *data, int vector)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_irq_enter(ktop, VECTORS + (uint32_t)vector);
}

static void on_vector_exit(void *data, int vector)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_irq_exit(ktop, VECTORS + (uint32_t)vector);
}

static void on_softirq_entry(void *data, unsigned int softirq)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_softirq_enter(ktop, softirq);
}

static void on_softirq_exit(void *data, unsigned int softirq)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_softirq_exit(ktop, softirq);
}

enum {
	OWNER_FLAGS = 7,		/* the bits of an owner that are none of its address: kernel/locking/mutex.c */
	READER_OWNED = 1,		/* one of these, of an rwsem: kernel/locking/rwsem.c */
};

/* The owner may let go, and end, at any moment: its memory may be another's by now, or gone. */
static uint32_t owner_thread(unsigned long owner)
{
	const struct task_struct *task = (const void *)(owner & ~(unsigned long)OWNER_FLAGS);
	pid_t thread;

	return !task || task == current || get_kernel_nofault(thread, &task->pid) ? KTOP_NO_THREAD : (uint32_t)thread;
}

/*
 * Who holds it, as it is now. Of an rwsem that readers hold, one of them stands in it, and may have let go long ago. No
 * other kind of lock tells who holds it; each has a flag besides, or none at all.
 */
static uint32_t holder_of(const void *lock, unsigned int flags)
{
	unsigned long owner = 0;

#ifndef CONFIG_PREEMPT_RT
	if (flags & LCB_F_MUTEX)
		owner = READ_ONCE(*(const unsigned long *)&((const struct mutex *)lock)->owner);
	else if (flags == LCB_F_READ || flags == LCB_F_WRITE)
		owner = READ_ONCE(*(const unsigned long *)&((const struct rw_semaphore *)lock)->owner);
	if (!(flags & LCB_F_MUTEX) && owner & READER_OWNED)
		owner = 0;
#endif
	return owner_thread(owner);
}

/* An NMI may have to wait, too; but it writes no trace event (trace.c). */
static void on_contention_begin(void *data, void *lock, unsigned int flags)
{
	struct ktop *ktop = writes(data);

	if (ktop && !in_nmi())
		ktop_trace_lock_wait(ktop, (uintptr_t)lock, thread_here(), holder_of(lock, flags));
}

static void on_contention_end(void *data, void *lock, int error)
{
	struct ktop *ktop = writes(data);

	if (ktop && !in_nmi())
		ktop_trace_lock_waited(ktop, (uintptr_t)lock, thread_here(), error == 0);
}

static void on_call(void *data, struct pt_regs *regs, long number)
{
	struct ktop *ktop = writes(data);
	unsigned long words[6];

	if (!ktop)
		return;
	tasks_traced(current);
	syscall_get_arguments(current, regs, words);
	ktop_trace_syscall_enter(ktop, (uint32_t)current->pid, (uint32_t)number, words[0], words[1], words[2],
		words[3], words[4], words[5]);
}

static void on_call_end(void *data, struct pt_regs *regs, long result)
{
	struct ktop *ktop = writes(data);
	int number = syscall_get_nr(current, regs);

	if (number == -1)			/* the registers of what a signal had interrupted are back */
		number = __NR_rt_sigreturn;
	if (ktop)
		ktop_trace_syscall_exit(ktop, (uint32_t)current->pid, (uint32_t)number, (uint64_t)result);
}

/* One that is content to fail, as the hook's own, asks for no page; and an interrupt or NMI makes no other. */
static void on_fault(void *data, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	struct ktop *ktop = writes(data);

	if (ktop && (user_mode(regs) || (in_task() && !pagefault_disabled())))
		ktop_trace_fault(ktop, thread_here(), address, instruction_pointer(regs), !!(error & X86_PF_WRITE));
}

/*
 * An allocator that gets its memory from another one: both tell of it. What is NULL or of no bytes is nowhere. They are
 * in any context but NMI.
 */
enum { KMALLOC, CACHES, PAGES };

static void on_kmalloc(void *data, unsigned long site, const void *at, size_t wanted, size_t bytes, gfp_t flags,
	int node)
{
	struct ktop *ktop = writes(data);

	if (ktop && !ZERO_OR_NULL_PTR(at))
		ktop_trace_memory_alloc(ktop, thread_here(), KMALLOC, (uintptr_t)at, bytes);
}

static void on_kfree(void *data, unsigned long site, const void *at)
{
	struct ktop *ktop = writes(data);

	if (ktop && !ZERO_OR_NULL_PTR(at))
		ktop_trace_memory_free(ktop, thread_here(), KMALLOC, (uintptr_t)at);
}

static void on_cache_alloc(void *data, unsigned long site, const void *at, struct kmem_cache *cache, gfp_t flags,
	int node)
{
	struct ktop *ktop = writes(data);

	if (ktop && at)
		ktop_trace_memory_alloc(ktop, thread_here(), CACHES, (uintptr_t)at, kmem_cache_size(cache));
}

static void on_cache_free(void *data, unsigned long site, const void *at, const void *cache)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_memory_free(ktop, thread_here(), CACHES, (uintptr_t)at);
}

static void on_page_alloc(void *data, struct page *page, unsigned int order, gfp_t flags, int type)
{
	struct ktop *ktop = writes(data);

	if (ktop && page)
		ktop_trace_memory_alloc(ktop, thread_here(), PAGES, (uintptr_t)page_address(page), PAGE_SIZE << order);
}

static void on_page_free(void *data, struct page *page, unsigned int order)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_memory_free(ktop, thread_here(), PAGES, (uintptr_t)page_address(page));
}

static void on_issue(void *data, struct request *request)
{
	struct ktop *ktop = writes(data);
	struct gendisk *disk = request->q->disk;

	if (ktop)
		ktop_trace_block_begin(ktop, (uintptr_t)request, thread_here(), (uint32_t)req_op(request),
			disk ? disk_devt(disk) : 0, blk_rq_trace_sector(request), blk_rq_bytes(request));
}

/*
 * A request may be done in parts: its end is that of the last one. Linux also ends requests here that went to no
 * device: an empty one that only asked for a flush; and a write which a flush had to follow, a second time.
 */
static void on_complete(void *data, struct request *request, blk_status_t status, unsigned int bytes)
{
	struct ktop *ktop = writes(data);

	if (ktop && blk_mq_request_started(request) && bytes >= blk_rq_bytes(request) &&
			(bytes || req_op(request) != REQ_OP_WRITE))
		ktop_trace_block_end(ktop, (uintptr_t)request, blk_status_to_errno(status));
}

/* The device could not take it now. It is issued again. */
static void on_requeue(void *data, struct request *request)
{
	struct ktop *ktop = writes(data);

	if (ktop && blk_mq_request_started(request))
		ktop_trace_block_end(ktop, (uintptr_t)request, -EAGAIN);
}

static void on_xmit(void *data, struct sk_buff *packet, int result, struct net_device *device, unsigned int bytes)
{
	struct ktop *ktop = writes(data);

	if (ktop && result == NETDEV_TX_OK)		/* else it is tried again */
		ktop_trace_net_send(ktop, (uint32_t)device->ifindex, bytes);
}

static void on_receive(void *data, struct sk_buff *packet)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_net_receive(ktop, (uint32_t)packet->dev->ifindex, packet->len);
}

static void on_migrate(void *data, struct task_struct *task, int cpu)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_sched_migrate(ktop, (uint32_t)task->pid, (uint32_t)cpu);
}

/* In the context of its maker. A CPU's idle thread is none. */
static void on_new_task(void *data, struct task_struct *task, unsigned long flags)
{
	struct ktop *ktop = writes(data);

	if (ktop && task->pid)
		ktop_trace_task_begin(ktop, (uint32_t)task->pid,
			task->flags & PF_KTHREAD ? KTOP_KERNEL : (uint32_t)task->tgid, thread_here());
}

static void on_exit(void *data, struct task_struct *task)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_task_end(ktop, (uint32_t)task->pid);
}

/* The form of newer kernels. */
static void on_group_exit(void *data, struct task_struct *task, bool last)
{
	on_exit(data, task);
}

static void on_exec(void *data, struct task_struct *task, pid_t before, struct linux_binprm *program)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_task_exec(ktop, (uint32_t)task->pid, (uint32_t)task->tgid);
}

/* The name itself is told as all changes of names are (tasks.h). */
static void on_rename(void *data, struct task_struct *task, const char *name)
{
	struct ktop *ktop = writes(data);

	if (!ktop)
		return;
	if (task == current)
		tasks_traced(task);
	ktop_trace_task_name(ktop, (uint32_t)task->pid);
}

/* `lender`: the one whose priority the task has, too, if that is the better one; NULL: none lends it any. */
static void on_priority(void *data, struct task_struct *task, struct task_struct *lender)
{
	struct ktop *ktop = writes(data);

	if (ktop)
		ktop_trace_sched_priority(ktop, (uint32_t)task->pid,
			lender ? min(task->normal_prio, lender->prio) : task->normal_prio);
}

/* One that is ignored, or that waits for the thread already, does not come. */
static void on_signal(void *data, int number, struct kernel_siginfo *info, struct task_struct *task, int group,
	int result)
{
	struct ktop *ktop = writes(data);

	if (ktop && (result == TRACE_SIGNAL_DELIVERED || result == TRACE_SIGNAL_LOSE_INFO))
		ktop_trace_signal_send(ktop, (uint32_t)task->pid, (uint32_t)number, thread_here());
}

/*
 * `arguments`: a letter for each one, behind the pointer that each probe gets first: p for a pointer, else the bytes of
 * the number. `vector`: 0, or the vector of which a beginning and an end are told by two points: where one of them is
 * missing, so is this vector, and no event. Two rows of one name have the forms of two kernels: one of them will do.
 */
static struct point {
	const char *name, *arguments;
	uint32_t event;
	void *probe;
	u8 vector;
	struct tracepoint *found;	/* NULL: not in this kernel, or with other arguments */
	bool on;
} points[] = {
	{ "sched_switch", "1pp4", KTOP_EVENT_sched_switch, on_switch },
	{ "sched_waking", "p", KTOP_EVENT_sched_wake, on_wake },
	{ "sched_wakeup_new", "p", KTOP_EVENT_sched_wake, on_wake },
	{ "irq_handler_entry", "4p", KTOP_EVENT_irq_enter, on_irq_entry },
	{ "irq_handler_exit", "4p4", KTOP_EVENT_irq_exit, on_irq_exit },
	{ "sys_enter", "p8", KTOP_EVENT_syscall_enter, on_call },
	{ "sys_exit", "p8", KTOP_EVENT_syscall_exit, on_call_end },
	{ "softirq_entry", "4", KTOP_EVENT_softirq_enter, on_softirq_entry },
	{ "softirq_exit", "4", KTOP_EVENT_softirq_exit, on_softirq_exit },
	{ "contention_begin", "p4", KTOP_EVENT_lock_wait, on_contention_begin },
	{ "contention_end", "p4", KTOP_EVENT_lock_waited, on_contention_end },
	{ "local_timer_entry", "4", KTOP_EVENT_irq_enter, on_vector_entry, LOCAL_TIMER_VECTOR },
	{ "local_timer_exit", "4", KTOP_EVENT_irq_exit, on_vector_exit, LOCAL_TIMER_VECTOR },
	{ "reschedule_entry", "4", KTOP_EVENT_irq_enter, on_vector_entry, RESCHEDULE_VECTOR },
	{ "reschedule_exit", "4", KTOP_EVENT_irq_exit, on_vector_exit, RESCHEDULE_VECTOR },
	{ "page_fault_user", "8p8", KTOP_EVENT_fault, on_fault },
	{ "page_fault_kernel", "8p8", KTOP_EVENT_fault, on_fault },
	{ "kmalloc", "8p8844", KTOP_EVENT_memory_alloc, on_kmalloc },
	{ "kfree", "8p", KTOP_EVENT_memory_free, on_kfree },
	{ "kmem_cache_alloc", "8pp44", KTOP_EVENT_memory_alloc, on_cache_alloc },
	{ "kmem_cache_free", "8pp", KTOP_EVENT_memory_free, on_cache_free },
	{ "mm_page_alloc", "p444", KTOP_EVENT_memory_alloc, on_page_alloc },
	{ "mm_page_free", "p4", KTOP_EVENT_memory_free, on_page_free },
	{ "block_rq_issue", "p", KTOP_EVENT_block_begin, on_issue },
	{ "block_rq_complete", "p14", KTOP_EVENT_block_end, on_complete },
	{ "block_rq_requeue", "p", KTOP_EVENT_block_end, on_requeue },
	{ "net_dev_xmit", "p4p4", KTOP_EVENT_net_send, on_xmit },
	{ "netif_receive_skb", "p", KTOP_EVENT_net_receive, on_receive },
	{ "sched_migrate_task", "p4", KTOP_EVENT_sched_migrate, on_migrate },
	{ "task_newtask", "p8", KTOP_EVENT_task_begin, on_new_task },
	{ "sched_process_exit", "p", KTOP_EVENT_task_end, on_exit },
	{ "sched_process_exit", "p1", KTOP_EVENT_task_end, on_group_exit },
	{ "sched_process_exec", "p4p", KTOP_EVENT_task_exec, on_exec },
	{ "signal_generate", "4pp44", KTOP_EVENT_signal_send, on_signal },
	{ "task_rename", "pp", KTOP_EVENT_task_name, on_rename },
	{ "sched_pi_setprio", "pp", KTOP_EVENT_sched_priority, on_priority },
};

/* ---- names of numbers ---- */

/* The kernel's tables of calls. They are looked for once: that goes through all of its symbols. The drainer's own. */
static struct {
	bool found;
	const unsigned long *functions;
	struct syscall_metadata *const *const *metadata;
} calls;

static void find_calls(void)
{
	if (calls.found)
		return;
	calls.functions = (const void *)private_address("sys_call_table");
#ifdef CONFIG_FTRACE_SYSCALLS
	calls.metadata = (const void *)private_address("syscalls_metadata");
#endif
	calls.found = true;
}

/* How the kernel finds an interrupt by its number. Looked for once, as `calls`. */
static struct {
	bool found;
	struct irq_desc *(*find)(unsigned int irq);	/* NULL: they cannot be found */
	u32 count;
} irqs;

static void find_irqs(void)
{
	const int *count;

	if (irqs.found)
		return;
	count = (const void *)private_address("nr_irqs");
	irqs.find = (void *)private_address("irq_to_desc");
	irqs.count = count && *count > 0 ? (u32)*count : 0;
	irqs.found = true;
}

/* The type of an argument, by what the kernel's source calls it. What is not known here is a word. */
static const char *type_named(const char *name)
{
	static const struct { const char *name, *type; } types[] = {
		{ "int", "s32" }, { "pid_t", "s32" }, { "key_t", "s32" }, { "clockid_t", "s32" },
		{ "const clockid_t", "s32" }, { "timer_t", "s32" }, { "mqd_t", "s32" },
		{ "key_serial_t", "s32" }, { "rwf_t", "s32" }, { "unsigned int", "u32" },
		{ "unsigned", "u32" }, { "u32", "u32" }, { "__u32", "u32" }, { "uid_t", "u32" },
		{ "gid_t", "u32" }, { "qid_t", "u32" }, { "umode_t", "u16" }, { "long", "s64" },
		{ "off_t", "s64" }, { "loff_t", "s64" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].type;
	return "u64";
}

/* What the kernel tells of itself for tracing, by number (include/trace/syscall.h). NULL: it does not. */
static const char *arguments_of(u32 number)
{
	static char text[KTOP_ARGUMENTS_MAX + 1];
#ifdef CONFIG_FTRACE_SYSCALLS
	const struct syscall_metadata *call = calls.metadata && *calls.metadata ? (*calls.metadata)[number] : NULL;
	size_t used = 0;
	int i;

	text[0] = 0;
	for (i = 0; call && i < call->nb_args; i++)
		used += scnprintf(text + used, sizeof(text) - used, "%s %s;", type_named(call->types[i]),
			call->args[i]);
	return call ? text : NULL;
#else
	return NULL;
#endif
}

/* A call's function is `__x64_sys_getpid`, or the like. Numbers without a call have `sys_ni_syscall`. */
static struct ktop_number call_number(u32 call)
{
	static char text[KSYM_SYMBOL_LEN];
	struct ktop_number number = { .event = KTOP_EVENT_syscall_enter, .number = call };
	char *name;

	find_calls();
	if (!calls.functions)
		return number;
	sprint_symbol_no_offset(text, calls.functions[call]);
	name = strstr(text, "sys_");
	if (!name || strcmp(name, "sys_ni_syscall") == 0)
		return number;
	number.name = name + strlen("sys_");
	number.arguments = arguments_of(call);
	return number;
}

/* By those who handle it, as in /proc/interrupts. NULL: nobody does. What they call it is theirs while they do. */
static const char *irq_name(u32 irq)
{
	static char text[64];
	struct irq_desc *desc;
	struct irqaction *action;
	size_t used = 0;
	unsigned long state;

	rcu_read_lock();
	desc = irqs.find(irq);
	if (desc) {
		raw_spin_lock_irqsave(&desc->lock, state);
		for (action = desc->action; action; action = action->next)
			used += scnprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
				action->name ? action->name : "?");
		raw_spin_unlock_irqrestore(&desc->lock, state);
	}
	rcu_read_unlock();
	return used ? text : NULL;
}

/* First the calls, then softirqs, others, and Linux's numbers of interrupts: as many as there are in this guest. */
bool tracepoints_number(u32 index, struct ktop_number *number)
{
	static const char *const softirqs[NR_SOFTIRQS] = {
		[HI_SOFTIRQ] = "HI", [TIMER_SOFTIRQ] = "TIMER", [NET_TX_SOFTIRQ] = "NET_TX",
		[NET_RX_SOFTIRQ] = "NET_RX", [BLOCK_SOFTIRQ] = "BLOCK", [IRQ_POLL_SOFTIRQ] = "IRQ_POLL",
		[TASKLET_SOFTIRQ] = "TASKLET", [SCHED_SOFTIRQ] = "SCHED", [HRTIMER_SOFTIRQ] = "HRTIMER",
		[RCU_SOFTIRQ] = "RCU",
	};
	static const struct { u32 event, number; const char *name; } others[] = {
		{ KTOP_EVENT_irq_enter, VECTORS + LOCAL_TIMER_VECTOR, "local timer" },
		{ KTOP_EVENT_irq_enter, VECTORS + RESCHEDULE_VECTOR, "reschedule" },
		{ KTOP_EVENT_memory_alloc, KMALLOC, "kmalloc" }, { KTOP_EVENT_memory_alloc, CACHES, "caches" },
		{ KTOP_EVENT_memory_alloc, PAGES, "pages" }, { KTOP_EVENT_block_begin, REQ_OP_READ, "read" },
		{ KTOP_EVENT_block_begin, REQ_OP_WRITE, "write" }, { KTOP_EVENT_block_begin, REQ_OP_FLUSH, "flush" },
		{ KTOP_EVENT_block_begin, REQ_OP_DISCARD, "discard" },
		{ KTOP_EVENT_block_begin, REQ_OP_SECURE_ERASE, "secure erase" },
		{ KTOP_EVENT_block_begin, REQ_OP_WRITE_ZEROES, "write zeroes" },
		{ KTOP_EVENT_block_begin, REQ_OP_DRV_IN, "driver in" },
		{ KTOP_EVENT_block_begin, REQ_OP_DRV_OUT, "driver out" },
	};
	u32 at = index;

	if (at < NR_syscalls) {
		*number = call_number(at);
		return true;
	}
	at -= NR_syscalls;
	if (at < ARRAY_SIZE(softirqs)) {
		*number = (struct ktop_number) {
			.event = KTOP_EVENT_softirq_enter, .number = at, .name = softirqs[at],
		};
		return true;
	}
	at -= ARRAY_SIZE(softirqs);
	if (at < ARRAY_SIZE(others)) {
		*number = (struct ktop_number) {
			.event = others[at].event, .number = others[at].number, .name = others[at].name,
		};
		return true;
	}
	at -= ARRAY_SIZE(others);
	find_irqs();
	if (!irqs.find || at >= irqs.count)
		return false;
	*number = (struct ktop_number) { .event = KTOP_EVENT_irq_enter, .number = at, .name = irq_name(at) };
	return true;
}

/* ---- what the kernel's BTF says of a tracepoint ---- */

struct kernel_btf {
	const struct btf_type *types, *end;
	const char *strings;
	u32 strings_size;
};

/* The words behind the head of a type. */
static u32 words_behind(const struct btf_type *type)
{
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 1;
	case BTF_KIND_ARRAY:
		return 3;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return 2 * BTF_INFO_VLEN(type->info);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return 3 * BTF_INFO_VLEN(type->info);
	default:
		return 0;
	}
}

static const struct btf_type *type_after(const struct btf_type *type)
{
	return (const struct btf_type *)((const u32 *)(type + 1) + words_behind(type));
}

/* False: this kernel has none. */
static bool btf_of_kernel(struct kernel_btf *btf)
{
	const struct btf_header *head = (const void *)private_address("__start_BTF");
	const char *end = (const void *)private_address("__stop_BTF"), *base = (const char *)head;

	if (!head || !end || end - base < (ptrdiff_t)sizeof(*head) || head->magic != BTF_MAGIC)
		return false;
	base += head->hdr_len;
	btf->types = (const void *)(base + head->type_off);
	btf->end = (const void *)(base + head->type_off + head->type_len);
	btf->strings = base + head->str_off;
	btf->strings_size = head->str_len;
	return (const char *)btf->end <= end && btf->strings + btf->strings_size <= end;
}

/* NULL: there is no such type. Ids count from 1 on; 0 is void. */
static const struct btf_type *type_of(const struct kernel_btf *btf, u32 id)
{
	const struct btf_type *type = btf->types;

	while (id > 1 && type < btf->end) {
		type = type_after(type);
		id--;
	}
	return id && type < btf->end ? type : NULL;
}

static bool is_alias(const struct btf_type *type)
{
	u32 kind = BTF_INFO_KIND(type->info);

	return kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_CONST || kind == BTF_KIND_VOLATILE;
}

/* The letter of an argument, as in `points`; '?': anything else. */
static char letter_of(const struct kernel_btf *btf, u32 id)
{
	const struct btf_type *type = type_of(btf, id);

	while (type && is_alias(type))
		type = type_of(btf, type->type);
	switch (type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN) {
	case BTF_KIND_PTR:
		return 'p';
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
		return (char)('0' + type->size);
	default:
		return '?';
	}
}

/* `btf_trace_NAME` is a pointer to the probe's function. NULL: the kernel does not describe it. */
static const struct btf_type *probe_of(const struct kernel_btf *btf, const char *name)
{
	static const char prefix[] = "btf_trace_";
	const struct btf_type *type;

	for (type = btf->types; type < btf->end; type = type_after(type)) {
		const char *own = btf->strings + type->name_off;

		if (BTF_INFO_KIND(type->info) != BTF_KIND_TYPEDEF || type->name_off >= btf->strings_size ||
				strncmp(own, prefix, sizeof(prefix) - 1) != 0 ||
				strcmp(own + sizeof(prefix) - 1, name) != 0)
			continue;
		type = type_of(btf, type->type);
		type = type ? type_of(btf, type->type) : NULL;
		return type && BTF_INFO_KIND(type->info) == BTF_KIND_FUNC_PROTO ? type : NULL;
	}
	return NULL;
}

static bool has_arguments(const struct kernel_btf *btf, const struct point *point)
{
	const struct btf_type *probe = probe_of(btf, point->name);
	const struct btf_param *parameters = (const void *)(probe + 1);
	u32 count = strlen(point->arguments), i;

	if (!probe || BTF_INFO_VLEN(probe->info) != count + 1)
		return false;
	for (i = 0; i < count; i++)
		if (letter_of(btf, parameters[1 + i].type) != point->arguments[i])
			return false;
	return true;
}

/* ---- finding, attaching ---- */

static void find(struct tracepoint *tracepoint, void *unused)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (strcmp(tracepoint->name, points[i].name) == 0)
			points[i].found = tracepoint;
}

/* A vector's beginning without its end, or the other way round. */
static void drop_halves(void)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		for (k = 0; k < ARRAY_SIZE(points); k++)
			if (points[i].vector && points[k].vector == points[i].vector && !points[k].found)
				points[i].found = NULL;
}

/* Has the tracepoint another row, which fits? */
static bool fits_otherwise(const struct kernel_btf *btf, const struct point *point)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (&points[i] != point && strcmp(points[i].name, point->name) == 0 && has_arguments(btf, &points[i]))
			return true;
	return false;
}

u32 tracepoints_start(void)
{
	struct kernel_btf btf;
	bool described = btf_of_kernel(&btf);
	u32 traced = KTOP_UNTRACED(mark), missing = 0, i;	/* a mark needs no tracepoint */

	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		struct point *point = &points[i];
		const char *why = !point->found ? "this kernel has no such tracepoint" :
			!described ? "this kernel has no BTF, which tells its arguments" :
			!has_arguments(&btf, point) ? "in this kernel it has other arguments" : NULL;

		traced |= 1u << (point->event - KTOP_TRACE_FIRST);
		if (!why)
			continue;
		if (point->found && described && fits_otherwise(&btf, point)) {
			point->found = NULL;
			continue;
		}
		pr_warn("ktop: %s is not traced: %s\n", point->name, why);
		point->found = NULL;
		missing |= point->vector ? 0 : 1u << (point->event - KTOP_TRACE_FIRST);
	}
	drop_halves();
	return ~traced | missing;
}

static void set(struct point *point, struct ktop *ktop, bool on)
{
	int error = on ? tracepoint_probe_register(point->found, point->probe, ktop) :
		tracepoint_probe_unregister(point->found, point->probe, ktop);

	if (error) {
		pr_warn("ktop: %s is not traced: it cannot be attached: %d\n", point->name, error);
		point->found = NULL;
	}
	point->on = on && !error;
}

static bool is_wanted(const struct point *point, const struct ktop *ktop)
{
	return point->found && ktop_tracing(ktop, point->event);
}

void tracepoints_follow(struct ktop *ktop)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		if (points[i].on == is_wanted(&points[i], ktop))
			continue;
		WRITE_ONCE(all_attached, false);
		set(&points[i], ktop, !points[i].on);
	}
	if (!all_attached)
		ktop_trace_gap(ktop);
	WRITE_ONCE(all_attached, true);
}

void tracepoints_stop(struct ktop *ktop)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (points[i].on)
			set(&points[i], ktop, false);
	tracepoint_synchronize_unregister();
}
