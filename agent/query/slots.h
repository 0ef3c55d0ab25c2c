/* SPDX-License-Identifier: MIT */
/*
 * Sums over time, in slots of equal width: the trends of rows, and what series.h has. For each reader of the query the
 * sums of its slots are kept, so that only those are made anew whose slices have changed.
 */
#ifndef SLOTS_H
#define SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/store/store.h"
#include "match.h"
#include "table.h"

struct window;

struct time_slots {				/* starts as { 0 } */
	uint64_t width;			/* ns */
	uint64_t first;			/* the number of the first one, which begins at first * width */
	uint32_t count, numbers;	/* slots; sums in each */
	uint64_t *marks;		/* by slot: a hash of its slices; 0: it has none */
	uint64_t *sums;			/* `numbers` for each slot */
	uint64_t walked;		/* slices that were summed up so far */
};

struct summing {			/* what is summed up */
	const struct store *store;
	uint64_t to;			/* ns: slices behind it do not count */
	bool exact;			/* those longer than a slot do not, either: what was known before stays */
	void (*add)(void *state, const struct slice *slice, uint64_t *sums);	/* adds what is in the slice */
	void *state;
	const atomic_bool *stop;	/* once set, the sums are of no use, and the next ones are made anew */
};

/* Makes the sums of these slots. Slices that are longer than a slot are taken as even. */
void slots_make(struct time_slots *slots, uint64_t width, uint64_t first, uint32_t count, uint32_t numbers,
	const struct summing *summing);
void slots_clear(struct time_slots *slots);	/* the next ones are made anew */

struct span {				/* first <= index < end */
	size_t first, end;
};

/*
 * The slots that a slice touches, by their indices; and the part of its weight in one of them. `before`: those of a
 * slice before it; { 0 } for the first.
 */
struct span slots_touched(const struct time_slots *slots, const struct slice *slice, struct span before);
uint64_t slots_part(const struct time_slots *slots, size_t index, const struct slice *slice, uint64_t weight);

/* ---- trends ---- */

/* Trends: weights in each of the last whole seconds before the end of a range, in the range or not. */

struct time_slots trend_slots(uint64_t to);	/* those of a trend that ends at `to`, in ns: without their sums */

enum { TRENDS_MOST = 256 };		/* made at once */
#define TRENDS_NONE 0xffffffffu

/* The trends that a reader's last answers had: a screen shows the same rows, in whatever order. Starts as { 0 }. */
struct kept_trends {
	uint64_t ids[TRENDS_MOST];	/* whose they are; each once */
	uint32_t count;
	uint64_t renewed;		/* the window's */
	struct time_slots slots;
};

void trends_clear(struct kept_trends *kept);

/* Adds those of `count` ids, TRENDS_MOST at most, that are not kept. If there is no room for all, only these are. */
void trends_keep(struct kept_trends *kept, const uint64_t *ids, uint32_t count);

/*
 * Makes all that are kept, of all samples that pass. The window has looked. `trend_of` tells the index of the one that
 * the reader's last sample belongs to, or TRENDS_NONE.
 */
typedef uint32_t trends_index(void *state, const struct match_reader *reader, const struct run_count *count,
	const struct who *who);
void trends_make(struct kept_trends *kept, struct window *window, trends_index *trend_of, void *state);
void trends_get(const struct kept_trends *kept, uint32_t trend, uint64_t seconds[TABLE_TREND]);	/* the newest last */

#endif
