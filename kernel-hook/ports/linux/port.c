/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions of port.h, for Linux; timer.c has ktop_port_timer() and ktop_port_kick(). */
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>

#include "ktop.h"
#include "port.h"
#include "tasks.h"
#include "text.h"
#include "wire.h"

/* What ktop_port_current() gives: filled anew at each call. */
static DEFINE_PER_CPU(struct ktop_current, sampled);

uint32_t ktop_port_cpu(void)
{
	return raw_smp_processor_id();
}

uint64_t ktop_port_clock(void)
{
	return ktime_get_mono_fast_ns();
}

unsigned long ktop_port_irq_save(void)
{
	unsigned long flags;

	local_irq_save(flags);
	return flags;
}

void ktop_port_irq_restore(unsigned long flags)
{
	local_irq_restore(flags);
}

/* The interrupt or NMI that takes the sample counts as one level of interrupts itself. */
static uint8_t interrupted_context(void)
{
	if (hardirq_count() > HARDIRQ_OFFSET)
		return KTOP_IRQ;
	return in_serving_softirq() ? KTOP_SOFTIRQ : KTOP_TASK;
}

/*
 * orig_ax has the number of a system call, and -1 after an interrupt or exception. The fields that are not set are for
 * the hook's own unwinder, which this port does not use.
 */
const struct ktop_current *ktop_port_current(uint64_t pc)
{
	struct ktop_current *now = this_cpu_ptr(&sampled);
	struct task_struct *task = current;
	const struct pt_regs *user = task_pt_regs(task);
	bool has_user = task->mm && !(task->flags & PF_KTHREAD);

	now->process = has_user ? (uint32_t)task->tgid : KTOP_KERNEL;
	now->thread = is_idle_task(task) ? KTOP_NO_THREAD : (uint32_t)task->pid;
	now->context = interrupted_context();
	now->idle = is_idle_task(task) && now->context == KTOP_TASK;
	now->user_valid = has_user && !text_is_entry(pc);
	now->user_exact = (long)user->orig_ax == -1;
	if (pc && !is_idle_task(task))
		tasks_seen(task);		/* the sampler's alone: not from a trace point */
	return now;
}

/* A fast read of a frame record. Linux switches address spaces with interrupts off, so this one is the task's. */
static bool read_pair(const u64 __user *from, u64 *to)
{
	bool done = false;

	pagefault_disable();
	if (user_access_begin(from, 2 * sizeof(*from))) {
		unsafe_get_user(to[0], from, end);
		unsafe_get_user(to[1], from + 1, end);
		done = true;
	end:
		user_access_end();
	}
	pagefault_enable();
	return done;
}

bool ktop_port_read_user(uint64_t address, void *to, uint32_t size)
{
	if (size == 2 * sizeof(u64) && !in_nmi())
		return read_pair((const u64 __user *)address, to);
	return copy_from_user_nofault(to, (const void __user *)address, size) == 0;
}

/* NMIs come from each CPU's own counter (counters.c). */
bool ktop_port_nmi(uint32_t cpu)
{
	return false;
}
