/* SPDX-License-Identifier: MIT */
/*
 * What came to the store and is in no slice yet, in order of arrival: some ten thousand samples, in
 * memory of a fixed size. Sorting them all at once is cheaper than finding a place for each, in
 * whatever order a guest sends.
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

enum { ARRIVALS_MAX = 1 << 15, ARRIVALS_SLICES = 1 << 12 };

struct arrivals *arrivals_new(void);
void arrivals_free(struct arrivals *arrivals);

bool arrivals_full(const struct arrivals *arrivals);

/* One more, for slice number `slice` below ARRIVALS_SLICES. Not when full. */
void arrivals_add(struct arrivals *arrivals, uint32_t slice, uint32_t stack, const struct who *who,
	uint32_t weight);

/*
 * Sorts all, gives each slice's as one run to `take`, by growing slice, and is empty again. The run
 * is NULL when there is no room for it; who takes it owns it.
 */
void arrivals_drain(struct arrivals *arrivals, struct budget *budget,
	void (*take)(void *context, uint32_t slice, struct run *run, uint64_t weight),
	void *context);

#endif
