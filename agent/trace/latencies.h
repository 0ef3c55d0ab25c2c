/* SPDX-License-Identifier: MIT */
/* Durations in buckets that are 1/32 of their power of two wide. Up to 63 ns each has its own. */
#ifndef LATENCIES_H
#define LATENCIES_H

#include <stdint.h>

enum { LATENCY_FINE_BITS = 5, LATENCY_FINE = 1 << LATENCY_FINE_BITS,
	LATENCY_BUCKETS = (64 - LATENCY_FINE_BITS + 1) * LATENCY_FINE };

struct latencies {			/* starts as { 0 } */
	uint32_t counts[LATENCY_BUCKETS];
};

static inline unsigned latencies_log(uint64_t ns)	/* the power of two, rounded down; of 0: 0 */
{
	return ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
}

static inline uint32_t latencies_bucket(uint64_t ns)	/* below LATENCY_BUCKETS */
{
	unsigned log = latencies_log(ns), shift = log > LATENCY_FINE_BITS ? log - LATENCY_FINE_BITS : 0;

	return shift * LATENCY_FINE + (uint32_t)(ns >> shift);
}

uint64_t latencies_middle(uint32_t bucket);	/* ns */

void latencies_add(struct latencies *latencies, uint64_t ns);

/* The duration that `part` of 100 do not exceed, of `count`; `max`: the longest. */
uint64_t latencies_percentile(const struct latencies *latencies, uint64_t count, uint64_t max, unsigned part);

#endif
