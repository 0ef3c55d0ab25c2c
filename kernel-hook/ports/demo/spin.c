/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "cpu.h"
#include "sched.h"
#include "spin.h"
#include "thread.h"
#include "x86.h"

/* Reads while it waits, writes when the lock seems free: waiters leave the cache line in peace. */
static void take(struct spin *spin)
{
	/* Pairs with the release in give(): what the last holder wrote is seen. */
	while (__atomic_exchange_n(&spin->held, true, __ATOMIC_ACQUIRE)) {
		while (__atomic_load_n(&spin->held, __ATOMIC_RELAXED))
			cpu_pause();
	}
}

static void give(struct spin *spin)
{
	__atomic_store_n(&spin->held, false, __ATOMIC_RELEASE);
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

	give(spin);
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
	give(spin);
	irq_restore(flags);
}
