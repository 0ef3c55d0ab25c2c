/* SPDX-License-Identifier: MIT */
/* What has been counted, added up from what the product offers. */
#ifndef SUMS_H
#define SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/guest/guest_events.h"
#include "agent/store/run.h"
#include "agent/store/store.h"

/* The counts in all slices. Settle the store first. */
static inline uint64_t store_sum(const struct store *store)
{
	uint64_t counts = 0;

	for (size_t i = 0; i < store_slices(store); i++) {
		struct slice slice = store_slice(store, i);

		for (size_t k = 0; k < slice.run_count; k++)
			counts += slice.runs[k]->counts;
	}
	return counts;
}

/* How many events of this kind came from a CPU. */
static inline uint64_t events_sum(const struct guest_events *events, uint16_t id, uint32_t cpu)
{
	const struct guest_event *kind = guest_events_from(events, id);

	return kind && kind->id == id && cpu < kind->room ? kind->counts[cpu] : 0;
}

#endif
