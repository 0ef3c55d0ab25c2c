/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same in every run (xorshift64*), for tests against oracles. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;			/* the seed; not 0 */
};

static inline uint64_t random_next(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * 0x2545f4914f6cdd1du;
}

/* 0 to limit - 1 */
static inline uint64_t random_below(struct random *random, uint64_t limit)
{
	return (random_next(random) >> 11) % limit;
}

#endif
