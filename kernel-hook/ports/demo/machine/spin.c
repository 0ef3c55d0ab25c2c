/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "ports/demo/kernel/cpu.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/kernel/thread.h"
#include "spin.h"
#include "sync.h"
#include "x86.h"

/* Reads while it waits, writes when the lock seems free: waiters leave the cache line in peace. */
static void take(struct spin *spin)
{
	while (!sync_take(&spin->held)) {
		while (__atomic_load_n(&spin->held, __ATOMIC_RELAXED))
			cpu_pause();
	}
}

void spin_lock(struct spin *spin)
{
	thread_current()->unpreemptible++;
	take(spin);
}

/* An interrupt that wanted another thread to run, and came while the lock was held, gets it now. */
void spin_unlock(struct spin *spin)
{
	struct thread *thread = thread_current();

	sync_give(&spin->held);
	if (--thread->unpreemptible == 0 && cpu_this()->resched && irq_is_on())
		sched_yield();
}

unsigned long spin_lock_irq(struct spin *spin)
{
	unsigned long flags = irq_save();

	take(spin);
	return flags;
}

void spin_unlock_irq(struct spin *spin, unsigned long flags)
{
	sync_give(&spin->held);
	irq_restore(flags);
}
