/* SPDX-License-Identifier: MIT */
#include "mutex.h"
#include "ports/demo/machine/spin.h"
#include "sched.h"

void mutex_lock(struct mutex *mutex)
{
	unsigned long flags = spin_lock_irq(&mutex->lock);

	if (mutex->held)
		sched_wait(&mutex->waiting, &mutex->lock);	/* then the mutex is held by us */
	else
		mutex->held = true;
	spin_unlock_irq(&mutex->lock, flags);
}

void mutex_unlock(struct mutex *mutex)
{
	unsigned long flags = spin_lock_irq(&mutex->lock);

	mutex->held = sched_wake_one(&mutex->waiting);
	spin_unlock_irq(&mutex->lock, flags);
}
