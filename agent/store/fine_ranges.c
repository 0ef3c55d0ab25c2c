/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "fine_ranges.h"
#include "recent_samples.h"
#include "span.h"
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

/* ---- making one ---- */

/* The samples of a count have its weight together; nobody knows any more how it was shared among them. */
static void add_count(struct store *store, uint64_t time, const struct run *run, const struct run_count *count)
{
	struct store_key key = { .stack = count->stack, .who = run->who[count->who] };
	uint64_t rest = count->weight % count->samples;

	for (uint64_t i = 0; i < count->samples; i++)
		store_add(store, time, &key, (uint32_t)(count->weight / count->samples + (i < rest)));
}

static void add_slot(struct store *store, uint64_t time, const struct recent_slot *slot)
{
	for (size_t i = 0; i < slot->run_count; i++) {
		struct run_reader reader = run_read(slot->runs[i]);
		struct run_count count;

		while (run_next(&reader, &count))
			add_count(store, time, slot->runs[i], &count);
	}
}

/* That of the slice in which the range begins. */
static uint64_t period_at(const struct store *store, uint64_t time)
{
	size_t at = span_after(store, time);

	return at < store_slices(store) ? store_slice(store, at).period : 0;
}

/* NULL: there was no memory for all samples. */
static struct fine_range *make(const struct store *store, struct budget *budget, uint64_t from, uint64_t to)
{
	struct fine_range *range = util_alloc(sizeof(*range));

	*range = (struct fine_range) { .holders = 1, .from = from, .to = to, .store = store_new_alone(budget) };
	store_period(range->store, period_at(store, from));
	for (uint64_t number = from / RECENT_NS; number < to / RECENT_NS; number++) {
		struct recent_slot slot = recent_samples_get(store_recent(store), number);

		add_slot(range->store, number * RECENT_NS, &slot);
	}
	store_advance(range->store, to);
	store_settle(range->store);
	if (!store_given_up(range->store) && !store_forgotten(range->store))
		return range;
	fine_range_release(range);
	return NULL;
}

/* ---- what is kept ---- */

static uint64_t version_of(const struct store *store, uint64_t from, uint64_t to)
{
	uint64_t version = 0, other;

	for (uint64_t number = from / RECENT_NS; number < to / RECENT_NS; number++) {
		other = recent_samples_get(store_recent(store), number).version;
		version = other > version ? other : version;
	}
	return version;
}

static void keep(struct fine_ranges *ranges, unsigned at, struct fine_range *range, uint64_t version)
{
	fine_range_release(ranges->kept[at]);
	ranges->kept[at] = range;
	ranges->versions[at] = version;
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

static struct fine_range *have(struct fine_ranges *ranges, const struct store *store, struct budget *budget,
	uint64_t from, uint64_t to)
{
	struct fine_range *range = fine_ranges_find(ranges, from, to);
	uint64_t version = version_of(store, from, to);
	unsigned at;

	if (!recent_samples_has(store_recent(store), from / RECENT_NS))
		return range;			/* it does not change any more */
	at = place_of(ranges, range);
	if (range && ranges->versions[at] == version)
		return range;
	range = make(store, budget, from, to);
	keep(ranges, at, range, version);
	return range;
}

bool fine_ranges_make(struct fine_ranges *ranges, struct store *store, struct budget *budget, uint64_t *from,
	uint64_t *to)
{
	uint64_t first = (*from + RECENT_NS / 2) / RECENT_NS, end = (*to + RECENT_NS / 2) / RECENT_NS;
	struct fine_range *range;

	if (*to > INT64_MAX || *to <= *from || *to - *from > FINE_MOST)
		return false;
	if (end == first) {			/* the one that has the middle */
		first = (*from + (*to - *from) / 2) / RECENT_NS;
		end = first + 1;
	}
	store_settle(store);
	recent_samples_settle(store_recent(store));
	range = have(ranges, store, budget, first * RECENT_NS, end * RECENT_NS);
	if (!range)
		return false;
	*from = range->from;
	*to = range->to;
	return true;
}
