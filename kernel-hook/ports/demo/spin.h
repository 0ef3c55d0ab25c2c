/*
 * Locks that are waited for by turning round: first come, first served. The holder is not
 * preempted. A lock that interrupts take as well is always taken with interrupts off.
 */
#ifndef SPIN_H
#define SPIN_H

#include <stdint.h>

struct spin {
	uint32_t next;			/* the ticket that the next comer draws */
	uint32_t serving;		/* written by the holder alone */
};

/* thread */
void spin_lock(struct spin *spin);
void spin_unlock(struct spin *spin);

/* thread or interrupts off; masks interrupts, and puts them back as they were */
unsigned long spin_lock_irq(struct spin *spin);
void spin_unlock_irq(struct spin *spin, unsigned long flags);

#endif
