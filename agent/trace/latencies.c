/* SPDX-License-Identifier: MIT */
#include "latencies.h"

void latencies_add(struct latencies *latencies, uint64_t ns)
{
	latencies->counts[latencies_bucket(ns)]++;
}

uint64_t latencies_middle(uint32_t bucket)
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
	return at < LATENCY_BUCKETS && latencies_middle(at) < max ? latencies_middle(at) : max;
}
