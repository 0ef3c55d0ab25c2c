/* SPDX-License-Identifier: MIT */
/* How much of its range one answer to a hasty question (question.h) looks through: some 20 ms worth of it. */
#ifndef HASTE_H
#define HASTE_H

#include <stdbool.h>
#include <stdint.h>

struct slice;

enum { HASTE_COUNTS = 1 << 17 };	/* counts of runs, where nothing is known to make them slow */
#define HASTE_NONE UINT64_MAX		/* there is no haste: all is looked through */

struct haste {
	uint64_t counts;		/* so many are looked through still, and the rest of the last slice */
	uint64_t new;			/* slices that begin here or later are looked through in any case */
};

/*
 * `to`: the end of the range. `end`: up to where the sums of the reader's last answer go; 0: there are none. What came
 * since, and just before, is new, unless that was long ago. All in guest ns.
 */
struct haste haste_of(uint64_t counts, uint64_t to, uint64_t end);

/* May this slice be looked through? Then its counts are charged. */
bool haste_allows(struct haste *haste, const struct slice *slice);

#endif
