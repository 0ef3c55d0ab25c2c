/* SPDX-License-Identifier: MIT */
/* Random guests for what answers about slots of time: a series, a heat map. */
#ifndef TIME_GUEST_H
#define TIME_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct question;
struct random;
struct symbols;
struct world;

/* `of`: the tree_name of a function; 0: none. */
typedef void time_guest_check(struct random *random, struct world *world, const struct question *question, uint64_t of);

/*
 * Samples come in any order, `step` ns apart at most; names come late. Now and then filter and function are others, and
 * once in `pause` samples the answer is checked.
 */
void time_guest_run(uint64_t seed, uint64_t step, size_t samples, uint64_t pause, time_guest_check *check);

/* How much was walked for a guest of two minutes, with a sample each `step` ns, that is asked twice a second. */
uint64_t time_guest_walked(uint64_t seed, uint64_t step,
	void (*ask)(struct world *world, const struct question *question, uint64_t now));

bool time_guest_is(const struct symbols *symbols, uint32_t function, uint64_t of);

#endif
