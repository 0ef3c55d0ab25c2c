/* SPDX-License-Identifier: MIT */
#include "latencies.h"

void latencies_add(struct latencies *latencies, uint64_t ns)
{
	unsigned shift = latencies_log(ns) > LATENCY_FINE_BITS ? latencies_log(ns) - LATENCY_FINE_BITS : 0;

	latencies->counts[shift * LATENCY_FINE + (uint32_t)(ns >> shift)]++;
}

/* The middle of a bucket. */
static uint64_t ns_of(uint32_t bucket)
{
	unsigned shift = bucket < 2 * LATENCY_FINE ? 0 : bucket / LATENCY_FINE - 1;

	return ((uint64_t)(bucket - shift * LATENCY_FINE) << shift) + ((1ull << shift) >> 1);
}

uint64_t latencies_percentile(const struct latencies *latencies, uint64_t count, uint64_t max, unsigned part)
{
	uint64_t wanted = (count * part + 99) / 100, seen = 0;
	uint32_t at = 0;

	while (at < LATENCY_BUCKETS && (seen += latencies->counts[at]) < wanted)
		at++;
	return at < LATENCY_BUCKETS && ns_of(at) < max ? ns_of(at) : max;
}
