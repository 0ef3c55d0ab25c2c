/* SPDX-License-Identifier: MIT */
/* What has been counted, added up from what the product offers. */
#ifndef SUMS_H
#define SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/guest_events.h"
#include "agent/store/run.h"
#include "agent/store/store.h"

/* The counts in all slices. Settle the store first. */
static inline uint64_t store_sum(const struct store *store)
{
	struct slices slices = slices_in(store, 0, UINT64_MAX, false);
	struct slice slice;
	uint64_t counts = 0;

	while (slices_next(&slices, &slice))
		for (size_t k = 0; k < slice.run_count; k++)
			counts += slice.runs[k]->counts;
	return counts;
}

/* All slices, the finest of each second: for (struct each_slice at = each_slice(store); each_next(&at);). */
struct each_slice {
	struct slices slices;
	struct slice slice;
};

static inline struct each_slice each_slice(const struct store *store)
{
	return (struct each_slice) { .slices = slices_in(store, 0, UINT64_MAX, true) };
}

static inline bool each_next(struct each_slice *at)
{
	return slices_next(&at->slices, &at->slice);
}

static inline size_t slices_count(const struct store *store)
{
	size_t count = 0;

	for (struct each_slice at = each_slice(store); each_next(&at);)
		count++;
	return count;
}

/* One of them, in order of time. */
static inline struct slice slice_number(const struct store *store, size_t number)
{
	struct each_slice at = each_slice(store);

	while (each_next(&at) && number-- > 0)
		;
	return at.slice;
}

/* How many events of this kind came from a CPU. */
static inline uint64_t events_sum(const struct guest_events *events, uint16_t id, uint32_t cpu)
{
	const struct guest_event *kind = guest_events_from(events, id);

	return kind && kind->id == id && cpu < kind->room ? kind->counts[cpu] : 0;
}

#endif
