/* SPDX-License-Identifier: MIT */
/*
 * Short ranges of time as stores of their own, which hold the finest slices of another store. So what was made stays
 * exact when these slices have become coarser there. Used by one thread.
 */
#ifndef FINE_RANGES_H
#define FINE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#define FINE_MOST NS_PER_SECOND		/* the longest range */

enum { FINE_RANGES = 4 };		/* the newest ones are kept */

struct store;

struct fine_range {
	unsigned holders;
	uint64_t from, to;		/* ns of guest time */
	struct store *store;		/* its samples, all of them in slices of the range; its "now" is `to` */
};

struct fine_ranges {			/* starts zeroed */
	struct fine_range *kept[FINE_RANGES];
	uint64_t versions[FINE_RANGES];	/* of the slices, when these were made */
	unsigned next;			/* the oldest one, which is replaced next */
};

void fine_ranges_clear(struct fine_ranges *ranges);

/*
 * Makes the range, if it is not there, or if samples have come to it since. Its ends are moved to where the finest
 * slices may begin. False: it is too long, its slices are coarser, or there is no memory; then it is as it was.
 */
bool fine_ranges_make(struct fine_ranges *ranges, struct store *store, uint64_t *from, uint64_t *to);

/* The one with exactly these ends; NULL: it is not there. The caller holds it if it keeps it. */
struct fine_range *fine_ranges_find(const struct fine_ranges *ranges, uint64_t from, uint64_t to);
struct fine_range *fine_range_hold(struct fine_range *range);	/* NULL is allowed in both */
void fine_range_release(struct fine_range *range);

#endif
