/* SPDX-License-Identifier: MIT */
/*
 * Samples that have come to the store and are in no slice yet: 32,768 at most, in order of arrival, in memory
 * of a fixed size. Sorting them all at once is cheaper than finding a place for each, whatever order a guest
 * sends them in.
 */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrivals;
struct budget;
struct run;
struct who;
struct who_table;

enum { ARRIVALS_MAX = 1 << 15, ARRIVALS_SLICES = 1 << 13 };	/* the most samples; the most slices */

struct arrivals *arrivals_new(void);
void arrivals_free(struct arrivals *arrivals);

bool arrivals_full(const struct arrivals *arrivals);	/* true: arrivals_drain must come before the next add */

/* Adds a sample to slice number `slice`, which is below ARRIVALS_SLICES. Must not be full. */
void arrivals_add(struct arrivals *arrivals, uint32_t slice, uint32_t stack, const struct who *who,
	uint32_t weight);

/*
 * Sorts all arrivals, gives them to `take`, and forgets them. `take` gets the arrivals of each slice as one run, lower
 * slices first, with the sum of their weights. It then holds the run. The run is NULL if the budget has no room for it;
 * then these samples are given up. Whoever ran samples gets a number in the table. Returns the weight of those for whom
 * it had none left, without those that were given up.
 */
uint64_t arrivals_drain(struct arrivals *arrivals, struct budget *budget, struct who_table *whos,
	void (*take)(void *context, uint32_t slice, struct run *run, uint64_t weight),
	void *context);

#endif
