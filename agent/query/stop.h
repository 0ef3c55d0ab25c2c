/* SPDX-License-Identifier: MIT */
/*
 * Somebody ends the program while a question is being answered: a long loop looks now and then whether it is to be
 * given up. Set by any thread; read by the one that answers.
 */
#ifndef STOP_H
#define STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STOP_EVERY = 4096 };		/* turns of a loop between two looks */

static inline bool stop_now(const atomic_bool *stop)
{
	return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

/* In turn number `turn` of a loop. */
static inline bool stop_at(const atomic_bool *stop, uint64_t turn)
{
	return turn % STOP_EVERY == 0 && stop_now(stop);
}

#endif
