/* SPDX-License-Identifier: MIT */
/* Trends: weights in each of the last whole seconds before the end of a range, in the range or not. */
#ifndef TRENDS_H
#define TRENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

struct match_reader;
struct run_count;
struct who;
struct window;

struct seconds {			/* first <= second < end, of guest time */
	uint64_t first, end;
};

struct seconds seconds_before(uint64_t to);	/* those of a trend that ends at `to`, in ns */

/* Those of these seconds that a slice touches, and the part of its weight in one; a long slice is taken as even. */
struct seconds seconds_touched(struct seconds seconds, uint64_t begin, uint64_t end);
uint64_t seconds_part(uint64_t weight, uint64_t begin, uint64_t end, uint64_t second);

enum { TRENDS_MOST = 256 };		/* made at once */
#define TRENDS_NONE 0xffffffffu

/*
 * The trends that a reader's last answers had. Whole seconds seldom change, so a screen that shows the same rows, in
 * whatever order, needs only those anew that have come since. Starts as { 0 }.
 */
struct kept_trends {
	uint64_t ids[TRENDS_MOST];	/* whose they are; each once */
	uint32_t count;
	bool added;			/* some ids are new */
	uint64_t renewed;		/* the window's */
	uint64_t end;			/* the second after the last one */
	uint64_t marks[TABLE_TREND];	/* a hash of the slices in each second */
	uint64_t (*trends)[TABLE_TREND];	/* TRENDS_MOST; NULL: none yet */
};

void trends_clear(struct kept_trends *kept);

/* Adds those of `count` ids, TRENDS_MOST at most, that are not kept. If there is no room for all, only these are. */
void trends_keep(struct kept_trends *kept, const uint64_t *ids, uint32_t count);

/*
 * Makes all that are kept, the newest second last, of all samples that pass. The window has looked. `trend_of` tells
 * the index of the one that the reader's last sample belongs to, or TRENDS_NONE.
 */
void trends_make(struct kept_trends *kept, struct window *window, uint32_t (*trend_of)(void *state,
	struct match_reader *reader, const struct run_count *count, const struct who *who), void *state);

#endif
