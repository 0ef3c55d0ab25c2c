/* SPDX-License-Identifier: MIT */
/*
 * Spin locks. The holder is not preempted. A lock that interrupts take as well is always taken with interrupts off.
 *
 * Waiters are not served in order. The CPUs of a virtual machine are threads of a host, and the next one in a queue may
 * not be running just now: all others would wait for it.
 */
#ifndef SPIN_H
#define SPIN_H

#include <stdbool.h>

struct spin {
	bool held;
};

/* thread */
void spin_lock(struct spin *spin);
void spin_unlock(struct spin *spin);

/* thread or interrupts off. Lock masks interrupts and returns the state before; unlock sets that state again. */
unsigned long spin_lock_irq(struct spin *spin);
void spin_unlock_irq(struct spin *spin, unsigned long flags);

#endif
