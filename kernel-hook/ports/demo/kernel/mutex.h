/* SPDX-License-Identifier: MIT */
/* A lock whose waiters sleep. Unlock hands it to the first waiter. ktop is told of all that waits and holds. */
#ifndef MUTEX_H
#define MUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "ports/demo/machine/spin.h"
#include "sched.h"

enum { MUTEX_NAME = 16 };

struct mutex {				/* without mutex_init() it has no name, and works all the same */
	struct spin lock;		/* guards the fields below */
	bool held;
	uint32_t holder;		/* while it is held: the number of the thread */
	struct wait waiting;
	char name[MUTEX_NAME];
	const struct mutex *next;	/* of those that have names */
};

/* thread, at start-up, one at a time. The name of a mutex that lives for ever; `number` 0 or more follows the name. */
void mutex_init(struct mutex *mutex, const char *name, int number);

/* Any thread, after start-up. The mutex that got its name as number `index`, the last one first. NULL: none did. */
const struct mutex *mutex_named(uint32_t index);

/* thread */
void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);
bool mutex_lock_for(struct mutex *mutex, uint64_t ns);	/* false: it was not free for so long */

#endif
