/* SPDX-License-Identifier: MIT */
/* A lock whose waiters sleep. Unlock hands it to the first waiter. */
#ifndef MUTEX_H
#define MUTEX_H

#include <stdbool.h>

#include "ports/demo/machine/spin.h"
#include "sched.h"

struct mutex {
	struct spin lock;		/* guards the fields below */
	bool held;
	struct wait waiting;
};

/* thread */
void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

#endif
