/* SPDX-License-Identifier: MIT */
/* The seconds of a trend, and how the weight of a slice falls into them. */
#ifndef SECONDS_H
#define SECONDS_H

#include <stdint.h>

#include "agent/base/util.h"
#include "table.h"

struct seconds {			/* first <= second < end, of guest time */
	uint64_t first, end;
};

/* Those of a trend: the last whole ones before a time, in ns. */
static inline struct seconds seconds_before(uint64_t to)
{
	struct seconds seconds = { .end = to / NS_PER_SECOND };

	seconds.first = seconds.end > TABLE_TREND ? seconds.end - TABLE_TREND : 0;
	return seconds;
}

/* The part of a slice's weight that falls into one second; a long slice is taken as even. */
static inline uint64_t seconds_part(uint64_t weight, uint64_t begin, uint64_t end, uint64_t second)
{
	uint64_t first = begin / NS_PER_SECOND, i = second - first;
	uint64_t count = (end + NS_PER_SECOND - 1) / NS_PER_SECOND - first;
	unsigned __int128 wide = weight;

	if (count == 1)
		return weight;
	return (uint64_t)(wide * (i + 1) / count) - (uint64_t)(wide * i / count);
}

/* Those of these seconds that a slice touches. */
static inline struct seconds seconds_touched(struct seconds seconds, uint64_t begin, uint64_t end)
{
	struct seconds slice = { begin / NS_PER_SECOND, (end + NS_PER_SECOND - 1) / NS_PER_SECOND };

	if (slice.first < seconds.first)
		slice.first = seconds.first;
	if (slice.end > seconds.end)
		slice.end = seconds.end;
	return slice;
}

#endif
