/* SPDX-License-Identifier: MIT */
/*
 * One reader's share of the time that the ingest thread has for answers. Pure: the caller gives the times, ns of
 * util_now.
 */
#ifndef SHARE_H
#define SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct share {
	uint64_t answered;		/* when the last answer was made */
	uint64_t took;			/* to make it */
	uint32_t passed;		/* how often others were answered since it has been due */
};

/* When the next one is due, `pause` being asked for. A dear one leaves as much time to others as it took. */
uint64_t share_due(const struct share *share, uint64_t pause);

/* Of two that are due: is this one first? Who was passed over most; else the cheapest, by its last. */
bool share_is_before(const struct share *share, const struct share *other);

void share_answered(struct share *share, uint64_t begin, uint64_t end);
void share_passed(struct share *share);

#endif
