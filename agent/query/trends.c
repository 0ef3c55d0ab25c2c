/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/store/store.h"
#include "match.h"
#include "scan.h"
#include "stop.h"
#include "trends.h"

struct seconds seconds_before(uint64_t to)
{
	struct seconds seconds = { .end = to / NS_PER_SECOND };

	seconds.first = seconds.end > TABLE_TREND ? seconds.end - TABLE_TREND : 0;
	return seconds;
}

struct seconds seconds_touched(struct seconds seconds, uint64_t begin, uint64_t end)
{
	struct seconds slice = { begin / NS_PER_SECOND, (end + NS_PER_SECOND - 1) / NS_PER_SECOND };

	if (slice.first < seconds.first)
		slice.first = seconds.first;
	if (slice.end > seconds.end)
		slice.end = seconds.end;
	return slice;
}

uint64_t seconds_part(uint64_t weight, uint64_t begin, uint64_t end, uint64_t second)
{
	uint64_t first = begin / NS_PER_SECOND, i = second - first;
	uint64_t count = (end + NS_PER_SECOND - 1) / NS_PER_SECOND - first;
	unsigned __int128 wide = weight;

	if (count == 1)
		return weight;
	return (uint64_t)(wide * (i + 1) / count) - (uint64_t)(wide * i / count);
}

void trends_clear(struct kept_trends *kept)
{
	free(kept->trends);
	*kept = (struct kept_trends) { .count = 0 };
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
		kept->added = true;
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

/* The sums of one slice go to its seconds, of those that are stale. */
static void add_slice(struct kept_trends *kept, const struct match *match, const struct slice *slice,
	struct seconds touched, const bool stale[TABLE_TREND], uint32_t (*trend_of)(void *state,
		struct match_reader *reader, const struct run_count *count, const struct who *who), void *state)
{
	uint64_t weights[TRENDS_MOST] = { 0 };

	for (size_t i = 0; i < slice->run_count; i++) {
		struct match_reader reader = match_begin(match, slice->runs[i]);
		struct run_count count;
		const struct who *who;

		while (match_next(&reader, &count, &who)) {
			uint32_t trend = trend_of(state, &reader, &count, who);

			if (trend < TRENDS_MOST)
				weights[trend] += count.weight;
		}
	}
	for (uint32_t i = 0; i < kept->count; i++)
		for (uint64_t second = touched.first; weights[i] && second < touched.end; second++) {
			uint64_t at = second + TABLE_TREND - kept->end;

			kept->trends[i][at] += stale[at] ?
				seconds_part(weights[i], slice->begin, slice->end, second) : 0;
		}
}

/* By second, of the slices in it. */
static void mark_seconds(const struct window *window, struct seconds seconds, uint64_t marks[TABLE_TREND])
{
	const struct store *store = window->inputs.store;

	memset(marks, 0, TABLE_TREND * sizeof(*marks));
	for (size_t i = span_after(store, seconds.first * NS_PER_SECOND); i < window->span.end; i++) {
		struct slice slice = store_slice(store, i);
		struct seconds touched = seconds_touched(seconds, slice.begin, slice.end);

		for (uint64_t second = touched.first; second < touched.end; second++) {
			uint64_t *mark = &marks[second + TABLE_TREND - seconds.end];

			*mark = hash_mix(*mark ^ slice.version, slice.end ^ UINT64_C(0x9e3779b97f4a7c15));
		}
	}
}

/* The trends become those that end at another second. `stale` tells which seconds are to be made anew: they are 0. */
static void move(struct kept_trends *kept, struct seconds seconds, const uint64_t marks[TABLE_TREND], bool whole,
	bool stale[TABLE_TREND])
{
	uint64_t moved = seconds.end - kept->end;	/* modulo 2^64 */

	for (size_t i = 0; i < TABLE_TREND; i++)
		stale[i] = whole || moved >= TABLE_TREND || i + moved >= TABLE_TREND ||
			kept->marks[i + moved] != marks[i];
	for (uint32_t k = 0; k < kept->count; k++)
		for (size_t i = 0; i < TABLE_TREND; i++)
			kept->trends[k][i] = stale[i] ? 0 : kept->trends[k][i + moved];
	memcpy(kept->marks, marks, sizeof(kept->marks));
	kept->end = seconds.end;
}

void trends_make(struct kept_trends *kept, struct window *window, uint32_t (*trend_of)(void *state,
	struct match_reader *reader, const struct run_count *count, const struct who *who), void *state)
{
	const struct match match = window_match(window);
	const struct store *store = window->inputs.store;
	struct seconds seconds = seconds_before(window->to);
	bool whole = kept->added || kept->renewed != window->renewed, stale[TABLE_TREND];
	uint64_t marks[TABLE_TREND];

	if (!kept->trends)
		kept->trends = util_alloc(TRENDS_MOST * sizeof(*kept->trends));
	kept->renewed = window->renewed;
	mark_seconds(window, seconds, marks);
	move(kept, seconds, marks, whole, stale);
	for (size_t i = span_after(store, seconds.first * NS_PER_SECOND); i < window->span.end; i++) {
		struct slice slice = store_slice(store, i);
		struct seconds touched = seconds_touched(seconds, slice.begin, slice.end);
		bool any = false;

		for (uint64_t second = touched.first; second < touched.end; second++)
			any |= stale[second + TABLE_TREND - seconds.end];
		if (any)
			add_slice(kept, &match, &slice, touched, stale, trend_of, state);
	}
	kept->added = stop_now(window->stop);	/* then they are not whole: the next time anew */
}
