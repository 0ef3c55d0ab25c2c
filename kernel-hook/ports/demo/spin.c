#include <stdint.h>

#include "spin.h"
#include "thread.h"
#include "x86.h"

static void take(struct spin *spin)
{
	uint32_t ticket = __atomic_fetch_add(&spin->next, 1, __ATOMIC_RELAXED);

	/* Pairs with the release in give(): what the last holder wrote is seen. */
	while (__atomic_load_n(&spin->serving, __ATOMIC_ACQUIRE) != ticket)
		cpu_pause();
}

static void give(struct spin *spin)
{
	__atomic_store_n(&spin->serving, spin->serving + 1, __ATOMIC_RELEASE);
}

void spin_lock(struct spin *spin)
{
	thread_current()->unpreemptible++;
	take(spin);
}

void spin_unlock(struct spin *spin)
{
	give(spin);
	thread_current()->unpreemptible--;
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
