/* SPDX-License-Identifier: MIT */
/*
 * The calls on one CPU's thread: whether one is under way, and when the next one is due. One thread, the timer's,
 * begins them. Nothing here needs QEMU: it is tested as host code.
 */
#ifndef PLUGIN_CALL_H
#define PLUGIN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#define CALL_NEVER UINT64_MAX

struct call {
	uint64_t due;			/* clock_now() of the next call; CALL_NEVER: none. Any thread writes it */
	bool under_way;			/* the timer's thread sets it, the CPU's thread clears it */
};

/* Any thread. Sets the time of the next call. */
static inline void call_want(struct call *call, uint64_t due)
{
	__atomic_store_n(&call->due, due, __ATOMIC_RELAXED);
}

/* The timer's thread. False: the last call is over, and call_due() sees the time that it set for the next one. */
static inline bool call_is_under_way(const struct call *call)
{
	return __atomic_load_n(&call->under_way, __ATOMIC_ACQUIRE);	/* pair 18 */
}

static inline uint64_t call_due(const struct call *call)
{
	return __atomic_load_n(&call->due, __ATOMIC_RELAXED);
}

/* The timer's thread. A call begins. The time of the next one is CALL_NEVER, unless it was set since `due` was read. */
static inline void call_begin(struct call *call, uint64_t due)
{
	__atomic_compare_exchange_n(&call->due, &due, CALL_NEVER, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_store_n(&call->under_way, true, __ATOMIC_RELAXED);
}

/* The CPU's thread, at the end of a call, after call_want() for the next one. */
static inline void call_end(struct call *call)
{
	__atomic_store_n(&call->under_way, false, __ATOMIC_RELEASE);	/* pair 18 */
}

#endif
