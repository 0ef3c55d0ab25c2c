/* SPDX-License-Identifier: MIT */
/*
 * Locks that are waited for by turning round. The holder is not preempted. A lock that interrupts
 * take as well is always taken with interrupts off.
 *
 * Who comes is not served in order: the CPUs of a virtual machine are threads of a host, and the
 * next in line may be one that does not run just now, for whom all the others would wait.
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

/* thread or interrupts off; masks interrupts, and puts them back as they were */
unsigned long spin_lock_irq(struct spin *spin);
void spin_unlock_irq(struct spin *spin, unsigned long flags);

#endif
