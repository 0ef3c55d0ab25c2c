/* SPDX-License-Identifier: MIT */
/*
 * A memory as weak as C11 allows, for files compiled with -fsanitize=thread: they call it in place of the
 * sanitizer's library. Threads are coroutines, switched at random between any two accesses. A load may see any old
 * value that the memory orders do not forbid. Accesses to plain data must be ordered by atomic ones: else it is a race.
 * The seed determines the whole run.
 *
 * A store is never seen before the loads in front of it were done. Of each place, the last 8 values
 * are kept.
 *
 * The environment's WEAK_WITHOUT removes a barrier from the runs: an atomic access gets no order, a fence does nothing.
 * It has the return addresses of the barrier's calls in the program's file, in hex (tests/check-barriers).
 */
#ifndef WEAK_MEMORY_H
#define WEAK_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum { WEAK_THREADS = 3 };

struct weak_thread {
	void (*run)(void);
	/*
	 * May be NULL. Interrupts the thread `interrupts` times, between any two of its accesses. The thread's atomic
	 * stores may then still be on their way, as far as a compiler may delay them.
	 */
	void (*interrupt)(void);
	uint32_t interrupts;
};

/*
 * Runs threads on this memory (the last thread may have NULL for `run`). Memory elsewhere behaves as usual. All threads
 * know what was written there before they start. Returns NULL, or what ended the run, such as a race.
 */
const char *weak_run(uint32_t seed, void *memory, size_t size, const struct weak_thread *threads);

#endif
