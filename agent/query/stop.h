/* SPDX-License-Identifier: MIT */
/*
 * The program may end while a question is being answered. So a long loop checks now and then whether to
 * give up. The flag is set by any thread, and read by the one that answers.
 */
#ifndef STOP_H
#define STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STOP_EVERY = 4096 };		/* turns of a loop between two checks */

/* NULL: there is no such flag, so never. */
static inline bool stop_now(const atomic_bool *stop)
{
	return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

/* The same, but checks only in each STOP_EVERY-th turn; `turn` is the number of this one. */
static inline bool stop_at(const atomic_bool *stop, uint64_t turn)
{
	return turn % STOP_EVERY == 0 && stop_now(stop);
}

#endif
