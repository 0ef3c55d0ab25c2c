/* SPDX-License-Identifier: MIT */
/* Pseudo-random numbers, the same in each run: xorshift64* (Vigna, 2014, after Marsaglia). */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;			/* not 0 */
};

static inline struct random random_seed(uint64_t seed)
{
	return (struct random) { (seed + 1) * 0x9e3779b97f4a7c15 | 1 };
}

static inline uint64_t random_next(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * 0x2545f4914f6cdd1d >> 16;
}

static inline uint32_t random_below(struct random *random, uint32_t limit)
{
	return (uint32_t)(random_next(random) % limit);
}

#endif
