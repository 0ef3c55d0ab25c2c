/* SPDX-License-Identifier: MIT */
/* Marks by which one CPU tells another something. Nothing here needs x86: it is tested as host code. */
#ifndef SYNC_H
#define SYNC_H

#include <stdbool.h>

/* A lock. Take: true: the caller holds it now, and sees all that the last holder wrote. Give: the caller lets go. */
static inline bool sync_take(bool *held)
{
	return !__atomic_exchange_n(held, true, __ATOMIC_ACQUIRE);	/* pair 13 */
}

static inline void sync_give(bool *held)
{
	__atomic_store_n(held, false, __ATOMIC_RELEASE);	/* pair 13 */
}

/* A mark on memory that one CPU uses. When another CPU sees that it is clear, it may use the memory at once. */
static inline void sync_leave(bool *used)
{
	__atomic_store_n(used, false, __ATOMIC_RELEASE);	/* pair 14 */
}

static inline bool sync_is_used(const bool *used)
{
	return __atomic_load_n(used, __ATOMIC_ACQUIRE);	/* pair 14 */
}

#endif
