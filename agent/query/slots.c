/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/store/store.h"
#include "match.h"
#include "scan.h"
#include "slots.h"
#include "stop.h"

/* ---- slots ---- */

void slots_clear(struct time_slots *slots)
{
	free(slots->marks);
	free(slots->sums);
	*slots = (struct time_slots) { .walked = slots->walked };
}

struct span slots_touched(const struct time_slots *slots, const struct slice *slice, struct span before)
{
	struct span span = { .first = before.first };

	while (span.first < slots->count && (slots->first + span.first + 1) * slots->width <= slice->begin)
		span.first++;
	span.end = span.first;
	while (span.end < slots->count && (slots->first + span.end) * slots->width < slice->end)
		span.end++;
	return span;
}

uint64_t slots_part(const struct time_slots *slots, size_t index, const struct slice *slice, uint64_t weight)
{
	uint64_t begin = (slots->first + index) * slots->width, end = begin + slots->width;
	uint64_t from = begin > slice->begin ? begin - slice->begin : 0, length = slice->end - slice->begin;
	uint64_t to = end < slice->end ? end - slice->begin : length;
	unsigned __int128 wide = weight;

	if (to - from == length)
		return weight;
	return (uint64_t)(wide * to / length) - (uint64_t)(wide * from / length);
}

/* Gives the slots their place. Those that were there before, too, keep what they have. */
static void slots_move(struct time_slots *slots, uint64_t width, uint64_t first, uint32_t count, uint32_t numbers)
{
	const struct time_slots old = *slots;
	bool same = width == old.width && numbers == old.numbers;

	*slots = (struct time_slots) {
		.width = width, .first = first, .count = count, .numbers = numbers, .walked = old.walked,
		.marks = util_alloc((count + 1) * sizeof(*slots->marks)),
		.sums = util_alloc(((size_t)count * numbers + 1) * sizeof(*slots->sums)),
	};
	for (uint32_t i = 0; same && i < count; i++) {
		uint64_t from = first + i - old.first;		/* modulo 2^64 */

		if (from >= old.count)
			continue;
		slots->marks[i] = old.marks[from];
		memcpy(slots->sums + (size_t)i * numbers, old.sums + from * numbers, numbers * sizeof(*slots->sums));
	}
	free(old.marks);
	free(old.sums);
}

static bool is_left_out(const struct time_slots *slots, const struct summing *summing, const struct slice *slice)
{
	return summing->exact && slice->end - slice->begin > slots->width;
}

/* By slot, of the slices in it. Where these are left out, it stays. */
static uint64_t *slots_mark(const struct time_slots *slots, const struct summing *summing, struct slices slices)
{
	uint64_t *marks = util_alloc((slots->count + 1) * sizeof(*marks));
	struct span touched = { 0 };
	struct slice slice;

	while (slices_next(&slices, &slice)) {
		bool left_out = is_left_out(slots, summing, &slice);

		touched = slots_touched(slots, &slice, touched);
		for (size_t k = touched.first; k < touched.end; k++)
			marks[k] = left_out ? slots->marks[k] :
				hash_mix(marks[k] ^ slice.version, slice.end ^ UINT64_C(0x9e3779b97f4a7c15));
	}
	return marks;
}

/* Adds what a slice has to those slots that it touches, and that are stale. `sums`: room for those of a slice. */
static void slots_add(struct time_slots *slots, const struct summing *summing, const struct slice *slice,
	struct span touched, const uint64_t *marks, uint64_t *sums)
{
	bool stale = false;

	for (size_t k = touched.first; k < touched.end; k++)
		stale = stale || marks[k] != slots->marks[k];
	if (!stale || is_left_out(slots, summing, slice))
		return;
	memset(sums, 0, slots->numbers * sizeof(*sums));
	summing->add(summing->state, slice, sums);
	slots->walked++;
	for (size_t k = touched.first; k < touched.end; k++) {
		uint64_t *to = slots->sums + k * slots->numbers;

		if (marks[k] == slots->marks[k])
			continue;
		for (uint32_t i = 0; i < slots->numbers; i++)
			if (sums[i])
				to[i] += slots_part(slots, k, slice, sums[i]);
	}
}

void slots_make(struct time_slots *slots, uint64_t width, uint64_t first, uint32_t count, uint32_t numbers,
	const struct summing *summing)
{
	struct slices slices = slices_in(summing->store, slice_begin(summing->store, first * width), summing->to,
		width % NS_PER_SECOND != 0);
	uint64_t *marks, *sums = util_alloc((numbers + 1) * sizeof(*sums));
	struct span touched = { 0 };
	struct slice slice;

	slots_move(slots, width, first, count, numbers);
	marks = slots_mark(slots, summing, slices);
	for (uint32_t i = 0; i < count; i++)
		if (marks[i] != slots->marks[i])
			memset(slots->sums + (size_t)i * numbers, 0, numbers * sizeof(*sums));
	while (!stop_now(summing->stop) && slices_next(&slices, &slice)) {
		touched = slots_touched(slots, &slice, touched);
		slots_add(slots, summing, &slice, touched, marks, sums);
	}
	free(sums);
	free(slots->marks);
	slots->marks = marks;
	if (stop_now(summing->stop))
		slots_clear(slots);
}

/* ---- trends ---- */

struct time_slots trend_slots(uint64_t to)
{
	uint64_t end = to / NS_PER_SECOND, first = end > TABLE_TREND ? end - TABLE_TREND : 0;

	return (struct time_slots) { .width = NS_PER_SECOND, .first = first, .count = (uint32_t)(end - first) };
}

void trends_clear(struct kept_trends *kept)
{
	slots_clear(&kept->slots);
	kept->count = 0;
}

static bool has_id(const struct kept_trends *kept, uint64_t id)
{
	for (uint32_t i = 0; i < kept->count; i++)
		if (kept->ids[i] == id)
			return true;
	return false;
}

static bool add_ids(struct kept_trends *kept, const uint64_t *ids, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (has_id(kept, ids[i]))
			continue;
		if (kept->count == TRENDS_MOST)
			return false;
		kept->ids[kept->count++] = ids[i];
		slots_clear(&kept->slots);
	}
	return true;
}

void trends_keep(struct kept_trends *kept, const uint64_t *ids, uint32_t count)
{
	if (add_ids(kept, ids, count))
		return;
	kept->count = 0;
	add_ids(kept, ids, count);
}

struct trending {
	const struct match *match;
	trends_index *trend_of;
	void *state;
};

static void add_trends(void *context, const struct slice *slice, uint64_t *sums)
{
	const struct trending *trending = context;

	for (size_t i = 0; i < slice->run_count; i++) {
		struct match_reader reader = match_begin(trending->match, slice->runs[i]);
		struct run_count count;
		const struct who *who;

		while (match_next(&reader, &count, &who)) {
			uint32_t trend = trending->trend_of(trending->state, &reader, &count, who);

			if (trend != TRENDS_NONE)
				sums[trend] += count.weight;
		}
	}
}

void trends_make(struct kept_trends *kept, struct window *window, trends_index *trend_of, void *state)
{
	const struct match match = window_match(window);
	const struct time_slots seconds = trend_slots(window->to);
	struct trending trending = { &match, trend_of, state };

	if (kept->renewed != window->renewed)
		slots_clear(&kept->slots);
	kept->renewed = window->renewed;
	slots_make(&kept->slots, seconds.width, seconds.first, seconds.count, kept->count, &(struct summing) {
		.store = window->inputs.store, .to = window->question.to, .add = add_trends, .state = &trending,
		.stop = window->stop,
	});
}

void trends_get(const struct kept_trends *kept, uint32_t trend, uint64_t seconds[TABLE_TREND])
{
	const struct time_slots *slots = &kept->slots;

	memset(seconds, 0, TABLE_TREND * sizeof(*seconds));
	for (uint32_t i = 0; i < slots->count; i++)
		seconds[TABLE_TREND - slots->count + i] = slots->sums[i * slots->numbers + trend];
}
