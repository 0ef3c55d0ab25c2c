/* SPDX-License-Identifier: MIT */
/* A lock that is waited for asleep. It is handed to the first in the queue. */
#ifndef MUTEX_H
#define MUTEX_H

#include <stdbool.h>

#include "ports/demo/machine/spin.h"
#include "sched.h"

struct mutex {
	struct spin lock;		/* of what follows */
	bool held;
	struct wait waiting;
};

/* thread */
void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

#endif
