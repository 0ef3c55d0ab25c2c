/* SPDX-License-Identifier: MIT */
/*
 * One reader's share of the time that the ingest thread spends on answers. Pure: the caller gives the times, in ns of
 * util_now.
 */
#ifndef SHARE_H
#define SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct share {
	uint64_t answered;		/* when the last answer was made */
	uint64_t took;			/* ns that it took to make it */
	uint32_t passed;		/* how many turns ended while this reader was due */
};

/* When the next answer is due: after `pause`, or, if that is longer, after as much time as the last answer took. */
uint64_t share_due(const struct share *share, uint64_t pause);

/* Both are due: does this one come first? The one that was passed over more often does, else the cheaper one. */
bool share_is_before(const struct share *share, const struct share *other);

void share_answered(struct share *share, uint64_t begin, uint64_t end);	/* its answer was made in this time */
void share_passed(struct share *share);		/* it was due, and the turn ended before its answer */

#endif
