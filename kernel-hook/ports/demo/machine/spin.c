/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "preempt.h"
#include "spin.h"
#include "sync.h"
#include "x86.h"

/* A waiter only reads until the lock seems free: the cache line stays with the holder. */
static void take(struct spin *spin)
{
	while (!sync_take(&spin->held)) {
		while (__atomic_load_n(&spin->held, __ATOMIC_RELAXED))
			cpu_pause();
	}
}

void spin_lock(struct spin *spin)
{
	preempt_off();
	take(spin);
}

void spin_unlock(struct spin *spin)
{
	sync_give(&spin->held);
	preempt_on();
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
