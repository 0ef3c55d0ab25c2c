/* SPDX-License-Identifier: MIT */
/*
 * A memory as weak as C11 allows, for files compiled with -fsanitize=thread: it is what they call
 * in place of the sanitizer's library. Threads are coroutines, switched at random between any two
 * accesses; a load may see any old value that the orders do not forbid; plain data must be ordered
 * by them. A run is fixed by its seed.
 *
 * A store is never seen before the loads in front of it were done. Of one place, the last 8 values
 * are kept.
 */
#ifndef WEAK_MEMORY_H
#define WEAK_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { WEAK_THREADS = 3 };

struct weak_thread {
	void (*run)(void);
	/*
	 * May be NULL. Comes between any two accesses of the thread, as often as said. The thread's
	 * atomic stores may still be on their way then, as far as a compiler may delay them.
	 */
	void (*interrupt)(void);
	uint32_t interrupts;
};

/*
 * Runs threads (the last may have run NULL) on this memory; elsewhere all is as ever. What they all
 * do there before they start is known to all. NULL, or what ended the run: a race.
 */
const char *weak_run(uint32_t seed, void *memory, size_t size, const struct weak_thread *threads);

#endif
