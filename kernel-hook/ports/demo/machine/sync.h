/* SPDX-License-Identifier: MIT */
/* What one CPU tells another by a single mark. No instruction of a CPU's own: it is tested as host code. */
#ifndef SYNC_H
#define SYNC_H

#include <stdbool.h>

/* A lock: true, it is the caller's now, who sees all that the last holder wrote. */
static inline bool sync_take(bool *held)
{
	return !__atomic_exchange_n(held, true, __ATOMIC_ACQUIRE);	/* pair 13 */
}

static inline void sync_give(bool *held)
{
	__atomic_store_n(held, false, __ATOMIC_RELEASE);	/* pair 13 */
}

/* A mark on memory that one CPU uses: when another sees it clear, that one may use the memory at once. */
static inline void sync_leave(bool *used)
{
	__atomic_store_n(used, false, __ATOMIC_RELEASE);	/* pair 14 */
}

static inline bool sync_is_used(const bool *used)
{
	return __atomic_load_n(used, __ATOMIC_ACQUIRE);	/* pair 14 */
}

#endif
