/* SPDX-License-Identifier: MIT */
/* What is drawn over time: a line over all that is kept, and a heat map. Both are sums in slots (slots.h). */
#ifndef SERIES_H
#define SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/util.h"
#include "agent/wire/event.h"

struct query;
struct question;

/* ---- a line over time ---- */

enum { SERIES_SLOTS = 256 };		/* the most slots */
#define SERIES_NS (200 * NS_PER_MS)		/* the least width of a slot */
#define SERIES_REACH (3600 * NS_PER_SECOND)	/* from now into the past */

struct series_slot {			/* weights */
	uint64_t whole;			/* of all samples */
	uint64_t mode[MODES];		/* of those that pass the filter */
	uint64_t part;			/* of these, with the function anywhere in the stack */
};

/*
 * All that is kept, or its last hour. Slot i begins at begin + i * width. The width is SERIES_NS, twice that, or a
 * whole second doubled as often as it takes. So slots keep their places while time moves.
 */
struct series {
	uint64_t begin, width;		/* ns of guest time */
	size_t count;			/* the last slot holds now */
	struct series_slot slots[SERIES_SLOTS];
};

/*
 * Of the question only filter and reader count. `of`: the tree_name of a function (tree.h); 0: none. `most`: slots, 1
 * to SERIES_SLOTS.
 */
void series_make(struct query *query, const struct question *question, uint64_t of, size_t most,
	struct series *series);

/* ---- heat ---- */

/* What a heat map shows: the last 160 s in slots of 20 ms, the finest slices of the store. */

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
void heat_make(struct query *query, const struct question *question, uint64_t of, uint64_t until,
	struct heat *heat);

#endif
