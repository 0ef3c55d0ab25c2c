/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "fine_ranges.h"
#include "store.h"

struct fine_range *fine_range_hold(struct fine_range *range)
{
	if (range)
		range->holders++;
	return range;
}

void fine_range_release(struct fine_range *range)
{
	if (!range || --range->holders)
		return;
	store_free(range->store);
	free(range);
}

void fine_ranges_clear(struct fine_ranges *ranges)
{
	for (unsigned i = 0; i < FINE_RANGES; i++)
		fine_range_release(ranges->kept[i]);
	*ranges = (struct fine_ranges) { .next = 0 };
}

struct fine_range *fine_ranges_find(const struct fine_ranges *ranges, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < FINE_RANGES; i++)
		if (ranges->kept[i] && ranges->kept[i]->from == from && ranges->kept[i]->to == to)
			return ranges->kept[i];
	return NULL;
}

/* The place of the one with these ends, or of the oldest. */
static unsigned place_of(struct fine_ranges *ranges, const struct fine_range *range)
{
	for (unsigned i = 0; range && i < FINE_RANGES; i++)
		if (ranges->kept[i] == range)
			return i;
	ranges->next = (ranges->next + 1) % FINE_RANGES;
	return ranges->next;
}

static struct fine_range *have(struct fine_ranges *ranges, const struct store *store, uint64_t from, uint64_t to)
{
	struct fine_range *range = fine_ranges_find(ranges, from, to);
	size_t first = span_after(store, from), end = first;
	uint64_t version = 0;
	struct store *part;
	unsigned at;

	if (from < store_fine_from(store))
		return range;			/* it does not change any more */
	for (; end < store_slices(store) && store_slice(store, end).begin < to; end++)
		if (store_slice(store, end).version > version)
			version = store_slice(store, end).version;
	at = place_of(ranges, range);
	if (range && ranges->versions[at] == version)
		return range;
	part = store_part(store, first, end, to);
	fine_range_release(ranges->kept[at]);
	ranges->kept[at] = range = part ? util_alloc(sizeof(*range)) : NULL;
	ranges->versions[at] = version;
	if (range)
		*range = (struct fine_range) { .holders = 1, .from = from, .to = to, .store = part };
	return range;
}

bool fine_ranges_make(struct fine_ranges *ranges, struct store *store, uint64_t *from, uint64_t *to)
{
	uint64_t first = (*from + STORE_SLICE_NS / 2) / STORE_SLICE_NS;
	uint64_t end = (*to + STORE_SLICE_NS / 2) / STORE_SLICE_NS;
	struct fine_range *range;

	if (*to > INT64_MAX || *to <= *from || *to - *from > FINE_MOST)
		return false;
	if (end == first) {			/* the one that has the middle */
		first = (*from + (*to - *from) / 2) / STORE_SLICE_NS;
		end = first + 1;
	}
	store_settle(store);
	range = have(ranges, store, first * STORE_SLICE_NS, end * STORE_SLICE_NS);
	if (!range)
		return false;
	*from = range->from;
	*to = range->to;
	return true;
}
