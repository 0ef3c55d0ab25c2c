/* SPDX-License-Identifier: MIT */
/*
 * Durations in buckets that are 1/32 of their power of two wide. Up to 63 ns each has its own. A histogram has counts
 * of those powers of two alone that occur.
 */
#ifndef LATENCIES_H
#define LATENCIES_H

#include <stdbool.h>
#include <stdint.h>

struct budget;

enum { LATENCY_FINE_BITS = 5, LATENCY_FINE = 1 << LATENCY_FINE_BITS, LATENCY_PAGES = 64 - LATENCY_FINE_BITS + 1 };

struct latency_page {			/* LATENCY_FINE buckets in a row; a count stays at the most that it can be */
	uint32_t counts[LATENCY_FINE];
};

struct latency_pages {			/* of many histograms; starts as { 0 } with its budget, NULL: no limit */
	struct budget *budget;
	struct latency_page *list;
	uint32_t count, room;
};

struct latencies {			/* starts as { 0 } */
	uint32_t pages[LATENCY_PAGES];	/* the place of each in the list, plus 1; 0: all its counts are 0 */
	bool refused;			/* there was no memory for one of them */
};

static inline unsigned latencies_log(uint64_t ns)	/* the power of two, rounded down; of 0: 0 */
{
	return ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
}

static inline uint32_t latencies_bucket(uint64_t ns)	/* below LATENCY_PAGES * LATENCY_FINE */
{
	unsigned log = latencies_log(ns), shift = log > LATENCY_FINE_BITS ? log - LATENCY_FINE_BITS : 0;

	return shift * LATENCY_FINE + (uint32_t)(ns >> shift);
}

/* So many that took so long. False: there is no memory. */
bool latencies_add(struct latencies *latencies, struct latency_pages *pages, uint64_t ns, uint64_t count);

/* Prefetches where the count of a duration will be: first the place of its page, later the count. */
static inline void latencies_fetch(const struct latencies *latencies, uint64_t ns)
{
	__builtin_prefetch(&latencies->pages[latencies_bucket(ns) / LATENCY_FINE]);
}

static inline void latencies_fetch_counts(const struct latencies *latencies, const struct latency_pages *pages,
	uint64_t ns)
{
	uint32_t bucket = latencies_bucket(ns), page = latencies->pages[bucket / LATENCY_FINE];

	if (page)
		__builtin_prefetch(&pages->list[page - 1].counts[bucket % LATENCY_FINE], 1);
}

/* Adds those of another histogram, of other pages. */
bool latencies_merge(struct latencies *latencies, struct latency_pages *pages, const struct latencies *from,
	const struct latency_pages *their_pages);

/* The duration that `part` of 100 do not exceed; `max`: the longest. 0: there are none, or it is not known. */
uint64_t latencies_percentile(const struct latencies *latencies, const struct latency_pages *pages, uint64_t max,
	unsigned part);

/* Adds each to bar i if it took 2^i ns or longer, and less than twice that; 0 ns to the first, longer to the last. */
void latencies_bars(const struct latencies *latencies, const struct latency_pages *pages, uint32_t *bars,
	unsigned count);

void latency_pages_clear(struct latency_pages *pages);

#endif
