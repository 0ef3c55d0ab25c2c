/* SPDX-License-Identifier: MIT */
/*
 * Short ranges of time as stores of their own. They are made of the recent samples (recent_samples.h), so a range
 * begins and ends with one of their slots, not with a slice. What was made stays exact when its samples are no longer
 * recent. Used by one thread.
 */
#ifndef FINE_RANGES_H
#define FINE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#define FINE_MOST NS_PER_SECOND		/* the longest range */

enum { FINE_RANGES = 4 };		/* the newest ones are kept */

struct budget;
struct store;

struct fine_range {
	unsigned holders;
	uint64_t from, to;		/* ns of guest time */
	struct store *store;		/* its samples, all of them in slices of the range; its "now" is `to` */
};

struct fine_ranges {			/* starts zeroed */
	struct fine_range *kept[FINE_RANGES];
	uint64_t versions[FINE_RANGES];	/* of the slots, when these were made */
	unsigned next;			/* the oldest one, which is replaced next */
};

void fine_ranges_clear(struct fine_ranges *ranges);

/*
 * Makes the range, if it is not there, or if samples have come to it since. Its ends are moved to those of the slots.
 * False: it is too long, its samples are not recent, or there is no memory; then it is as it was.
 */
bool fine_ranges_make(struct fine_ranges *ranges, struct store *store, struct budget *budget, uint64_t *from,
	uint64_t *to);

/* The one with exactly these ends; NULL: it is not there. The caller holds it if it keeps it. */
struct fine_range *fine_ranges_find(const struct fine_ranges *ranges, uint64_t from, uint64_t to);
struct fine_range *fine_range_hold(struct fine_range *range);	/* NULL is allowed in both */
void fine_range_release(struct fine_range *range);

#endif
