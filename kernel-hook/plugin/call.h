/* SPDX-License-Identifier: MIT */
/*
 * One call at a time on a CPU's thread, and when the next one is wanted. Nothing here needs QEMU: it is tested as
 * host code.
 */
#ifndef PLUGIN_CALL_H
#define PLUGIN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#define CALL_NEVER UINT64_MAX

struct call {
	uint64_t due;			/* the clock's time; CALL_NEVER: none is wanted. Any thread writes it */
	bool under_way;			/* the timer's thread sets it, the CPU's clears it */
};

/* Any thread. */
static inline void call_want(struct call *call, uint64_t due)
{
	__atomic_store_n(&call->due, due, __ATOMIC_RELAXED);
}

/* The timer's thread: true: the last call is not over. False: what it wanted next is seen by call_due. */
static inline bool call_is_under_way(const struct call *call)
{
	return __atomic_load_n(&call->under_way, __ATOMIC_ACQUIRE);	/* pair 18 */
}

static inline uint64_t call_due(const struct call *call)
{
	return __atomic_load_n(&call->due, __ATOMIC_RELAXED);
}

/* The timer's thread: it begins, and nothing is wanted any more, unless that has changed since `due` was read. */
static inline void call_begin(struct call *call, uint64_t due)
{
	__atomic_compare_exchange_n(&call->due, &due, CALL_NEVER, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_store_n(&call->under_way, true, __ATOMIC_RELAXED);
}

/* The CPU's thread, after call_want for the next one. */
static inline void call_end(struct call *call)
{
	__atomic_store_n(&call->under_way, false, __ATOMIC_RELEASE);	/* pair 18 */
}

#endif
