/* SPDX-License-Identifier: MIT */
/*
 * What a heat map shows: the last 160 s in slots of 20 ms, the finest slices of the store. For each reader of the query
 * the sums of each slot are kept, so that only slots that have changed are walked.
 */
#ifndef HEAT_H
#define HEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/util.h"

struct query;
struct question;

enum { HEAT_SLOTS = 8000, HEAT_SECOND = 50 };	/* the most slots; those of a second */
#define HEAT_NS (20 * NS_PER_MS)
_Static_assert(NS_PER_SECOND / HEAT_NS == HEAT_SECOND, "a second has so many slots");

struct heat_slot {			/* weights */
	uint64_t whole;			/* of all samples; 0: nothing is known */
	uint64_t part;			/* of those that pass: all that are busy, or those of the function */
};

struct heat {
	uint64_t first;			/* the number of the first slot, which begins at first * HEAT_NS */
	size_t count;
	bool found;			/* a stack has the wanted function, which is `function` (symbols_get) */
	uint32_t function;
	struct heat_slot slots[HEAT_SLOTS];
};

/*
 * Of the question only filter and reader count. `of`: the tree_name of a function (tree.h); 0: none. `until`: the last
 * slot holds this guest time.
 */
void heat_make(struct query *query, const struct question *question, uint64_t of, const char *kernel, uint64_t until,
	struct heat *heat);

#endif
