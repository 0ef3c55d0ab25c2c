/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "haste.h"
#include "passing.h"
#include "tree_sums.h"

enum {
	BATCH = 64,			/* counts that are read ahead */
	ANEW_MOST = 1 << 17,		/* counts that one call walks for parts that are old; at least one slice */
};

/* The sums of one part while it is made. All zero between two parts. */
struct scratch {
	struct tree_sums *sums;
	struct passing passing;
	struct place_weight *keys;	/* by place: two entries, of the place itself and below it */
	uint32_t room;			/* places */
	uint32_t *touched, count, touched_room;	/* the keys that have a sum */
	uint64_t anew;			/* counts that were walked for parts that were old */
	struct haste haste;		/* for parts that are lacking */
};

/* ---- parts ---- */

/* Takes the part into the sum over the range, or out of it. */
static void count_part(struct tree_sums *sums, struct tree_part *part, bool counted)
{
	uint64_t sign = counted ? 1 : UINT64_MAX;

	for (uint32_t i = 0; part->counted != counted && sums->own && i < part->count; i++) {
		uint32_t key = part->sums[i].key;
		struct place_weight *to = key & PLACE_INNER ? &sums->inner[PLACE_OF(key)] : &sums->own[key];

		to->weight += sign * part->sums[i].sum.weight;
		to->samples += sign * part->sums[i].sum.samples;
	}
	part->counted = counted;
}

static void free_part(struct tree_sums *sums, struct tree_part *part)
{
	count_part(sums, part, false);
	budget_free(sums->places.budget, part->sums, part->room * sizeof(*part->sums));
	*part = (struct tree_part) { .sums = NULL };
}

static void drop_parts(struct tree_sums *sums)
{
	free_part(sums, &sums->past);
	free_part(sums, &sums->coming);
	for (size_t i = 0; i < sums->recent_count; i++)
		free_part(sums, &sums->recent[i]);
	free(sums->recent);
	sums->recent = NULL;
	sums->recent_count = 0;
}

static void free_totals(struct tree_sums *sums)
{
	budget_free(sums->places.budget, sums->own, sums->room * sizeof(*sums->own));
	budget_free(sums->places.budget, sums->inner, sums->room * sizeof(*sums->inner));
	sums->own = sums->inner = NULL;
	sums->room = 0;
}

void tree_sums_clear(struct tree_sums *sums)
{
	free_totals(sums);
	drop_parts(sums);
	places_clear(&sums->places);
	budget_free(sums->places.budget, sums->trends.seconds,
		sums->trends.seconds ? TREE_TRENDS * sizeof(*sums->trends.seconds) : 0);
	sums->trends = (struct tree_trends) { 0 };
}

/* ---- making a part ---- */

static struct place_weight *sum_of(const struct scratch *scratch, uint32_t key)
{
	return &scratch->keys[2 * (size_t)PLACE_OF(key) + (key & PLACE_INNER ? 1 : 0)];
}

/* A place may have been made just now. False: there is no memory. */
static bool have_room(struct scratch *scratch, uint32_t key)
{
	struct places *places = &scratch->sums->places;
	size_t each = 2 * sizeof(*scratch->keys), room = places->room;
	struct place_weight *keys;

	if (PLACE_OF(key) < scratch->room)
		return true;
	keys = budget_resize(places->budget, scratch->keys, scratch->room * each, room * each);
	if (!keys) {
		places->scarce = true;
		return false;
	}
	memset(keys + 2 * (size_t)scratch->room, 0, (room - scratch->room) * each);
	scratch->keys = keys;
	scratch->room = (uint32_t)room;
	return true;
}

static void add(struct scratch *scratch, uint32_t key, uint64_t weight, uint64_t samples)
{
	struct places *places = &scratch->sums->places;
	struct place_weight *sum;
	uint32_t *touched;

	if (key == PLACE_NONE || !have_room(scratch, key))
		return;
	sum = sum_of(scratch, key);
	if (!sum->samples) {
		touched = budget_array(places->budget, scratch->touched, scratch->count, &scratch->touched_room,
			sizeof(*touched));
		if (!touched) {
			places->scarce = true;
			return;
		}
		scratch->touched = touched;
		scratch->touched[scratch->count++] = key;
	}
	sum->weight += weight;
	sum->samples += samples;
}

static uint32_t key_of(struct scratch *scratch, const struct run_count *count, const struct who *who)
{
	struct places *places = &scratch->sums->places;

	if (who->mode == MODE_IDLE)
		return places_key_alone(places, scratch->passing.idle);
	if (count->stack == STACKS_NONE)
		return places_key_alone(places, scratch->passing.unknown);
	return places_key(places, count->stack);
}

struct batch {
	uint32_t count;
	struct run_count counts[BATCH];
	const struct who *whos[BATCH];
};

/* Reads counts ahead, so that the keys of their stacks are fetched from memory at the same time. */
static void read_batch(struct batch *batch, struct passing_reader *reader, const struct places *places)
{
	for (batch->count = 0; batch->count < BATCH; batch->count++) {
		if (!passing_next(reader, &batch->counts[batch->count], &batch->whos[batch->count]))
			break;
		if (batch->counts[batch->count].stack != STACKS_NONE)
			__builtin_prefetch(&places->keys[batch->counts[batch->count].stack]);
	}
}

static void add_run(struct scratch *scratch, struct tree_part *part, const struct run *run)
{
	struct passing_reader reader;
	struct batch batch;

	passing_begin(&reader, &scratch->passing, run);
	do {
		read_batch(&batch, &reader, &scratch->sums->places);
		for (uint32_t i = 0; i < batch.count; i++) {
			const struct run_count *count = &batch.counts[i];

			add(scratch, key_of(scratch, count, batch.whos[i]), count->weight, count->samples);
			part->weight += count->weight;
			part->samples += count->samples;
			part->mode[batch.whos[i]->mode] += count->weight;
		}
	} while (batch.count == BATCH);
	passing_end(&reader);
	scratch->sums->walked += run->counts;
}

static void add_slice(struct scratch *scratch, struct tree_part *part, const struct slice *slice)
{
	uint64_t before = part->weight;

	for (size_t i = 0; i < slice->run_count; i++)
		add_run(scratch, part, slice->runs[i]);
	part->time += (part->weight - before) * slice->period;
	if (part->stretch.end == 0)
		part->stretch.begin = slice->begin;
	part->stretch.end = slice->end;
	if (slice->version > part->stretch.version)
		part->stretch.version = slice->version;
	part->serial = ++scratch->sums->serial;
}

/* Puts the sums into the part, in place of those that it has, and empties the scratch. */
static void keep(struct scratch *scratch, struct tree_part *part)
{
	struct places *places = &scratch->sums->places;
	struct tree_sum *sums = budget_resize(places->budget, part->sums, part->room * sizeof(*sums),
		scratch->count * sizeof(*sums));

	places->scarce = places->scarce || !sums;
	if (sums) {
		part->sums = sums;
		part->count = part->room = scratch->count;
	}
	for (uint32_t i = 0; i < scratch->count; i++) {
		struct place_weight *sum = sum_of(scratch, scratch->touched[i]);

		if (sums)
			sums[i] = (struct tree_sum) { scratch->touched[i], *sum };
		*sum = (struct place_weight) { 0 };
	}
	scratch->count = 0;
}

/* Was a place opened since, below which the part has stacks? If not, the part is as good as a new one. */
static bool is_old(const struct tree_sums *sums, struct tree_part *part)
{
	const struct places *places = &sums->places;

	for (uint32_t i = 0; part->version != places->version && i < part->count; i++) {
		uint32_t key = part->sums[i].key;

		if (key & PLACE_INNER && places->list[PLACE_OF(key)].open)
			return true;
	}
	part->version = places->version;
	return false;
}

static bool may_walk(const struct scratch *scratch)
{
	return scratch->anew < ANEW_MOST;
}

/* ---- the newest slices ---- */

static struct tree_part make_part(struct scratch *scratch, const struct slice *slice)
{
	struct tree_part part = { .version = scratch->sums->places.version };

	add_slice(scratch, &part, slice);
	keep(scratch, &part);
	return part;
}

static void make_anew(struct scratch *scratch, const struct slice *slice, struct tree_part *part)
{
	uint64_t before = scratch->sums->walked;

	free_part(scratch->sums, part);
	*part = make_part(scratch, slice);
	scratch->anew += scratch->sums->walked - before;
}

static bool is_of(const struct tree_part *part, const struct slice *slice)
{
	return part->stretch.begin == slice->begin && part->stretch.end == slice->end &&
		part->stretch.version == slice->version;
}

/*
 * The slices from `first` on. Goes from the newest back, so that the newest are kept if there is not room for all, or
 * no time. False: there was no time for all.
 */
static bool renew_recent(struct scratch *scratch, const struct window *window, size_t first)
{
	struct tree_sums *sums = scratch->sums;
	struct budget *budget = sums->places.budget;
	size_t room = window->span.end > first ? window->span.end - first : 0;
	size_t old = sums->recent_count, at = room, used = 0;
	size_t most = budget_share(budget, 8 * sizeof(struct tree_sum));
	struct tree_part *recent = util_alloc(room * sizeof(*recent));
	bool whole = true;

	while (at > 0 && used < most && !sums->places.scarce && !stop_now(window->stop)) {
		struct slice slice = store_slice(window->inputs.store, first + at - 1);

		while (old && sums->recent[old - 1].stretch.begin > slice.begin)
			free_part(sums, &sums->recent[--old]);
		whole = (old && is_of(&sums->recent[old - 1], &slice)) || haste_allows(&scratch->haste, &slice);
		if (!whole)
			break;
		recent[--at] = old && is_of(&sums->recent[old - 1], &slice) ? sums->recent[--old] :
			make_part(scratch, &slice);
		if (is_old(sums, &recent[at]) && may_walk(scratch))
			make_anew(scratch, &slice, &recent[at]);
		sums->behind |= is_old(sums, &recent[at]);
		used += recent[at].count;
	}
	while (old)
		free_part(sums, &sums->recent[--old]);
	free(sums->recent);
	sums->recent = recent;
	sums->recent_count = room - at;
	memmove(recent, recent + at, sums->recent_count * sizeof(*recent));
	return whole;
}

/* ---- all slices before them ---- */

static void drop_if_changed(struct tree_sums *sums, const struct window *window, size_t end, struct tree_part *part)
{
	if (part->stretch.end && (end <= window->span.first || !window_holds(window, &part->stretch, end)))
		free_part(sums, part);
}

/* Adds the slices before `end` that the part lacks, as far as there is time. */
static void extend(struct scratch *scratch, const struct window *window, size_t end, struct tree_part *part,
	struct haste *haste)
{
	const struct store *store = window->inputs.store;

	if (!part->stretch.end)
		part->version = scratch->sums->places.version;
	if (store_slice(store, end - 1).begin < part->stretch.end)
		return;
	count_part(scratch->sums, part, false);
	for (uint32_t i = 0; i < part->count; i++)
		add(scratch, part->sums[i].key, part->sums[i].sum.weight, part->sums[i].sum.samples);
	part->stretch.given_up = store_given_up(store);
	for (size_t i = window->span.first; i < end && !stop_now(window->stop); i++) {
		struct slice slice = store_slice(store, i);

		if (slice.begin < part->stretch.end)
			continue;
		if (!haste_allows(haste, &slice))
			break;
		add_slice(scratch, part, &slice);
	}
	keep(scratch, part);
}

/* What is old is kept until there is as much anew. `goes_on`: no recent part is missing. */
static void renew_past(struct scratch *scratch, const struct window *window, bool goes_on)
{
	struct tree_sums *sums = scratch->sums;
	struct tree_part *past = &sums->past, *coming = &sums->coming;
	size_t end = window->span.end - sums->recent_count;

	drop_if_changed(sums, window, end, past);
	drop_if_changed(sums, window, end, coming);
	if (end <= window->span.first || !goes_on)
		return;
	extend(scratch, window, end, past, &scratch->haste);
	if (!is_old(sums, past) || (coming->stretch.end && is_old(sums, coming)))
		free_part(sums, coming);
	sums->lacks = store_slice(window->inputs.store, end - 1).begin >= past->stretch.end;
	if (!is_old(sums, past) || sums->lacks)
		return;
	if (may_walk(scratch))
		extend(scratch, window, end, coming, &(struct haste) {
			.counts = ANEW_MOST - scratch->anew, .new = UINT64_MAX });
	if (coming->stretch.end == past->stretch.end && !stop_now(window->stop)) {
		free_part(sums, past);
		*past = *coming;
		*coming = (struct tree_part) { .sums = NULL };
	}
	sums->behind |= is_old(sums, past);
}

/* ---- the sum of the range ---- */

/* So many of the newest slices' parts come before the range. */
static size_t skipped(const struct tree_sums *sums, const struct window *window)
{
	size_t before = window->span.end - sums->recent_count;

	return window->span.first > before ? window->span.first - before : 0;
}

/* The parts of the range. NULL: there is no more. */
static const struct tree_part *part_at(const struct tree_sums *sums, const struct window *window, size_t index)
{
	size_t skip = skipped(sums, window);

	if (sums->past.stretch.end && index-- == 0)
		return &sums->past;
	return skip + index < sums->recent_count ? &sums->recent[skip + index] : NULL;
}

/* Room for a sum of each place. False: there is no memory, and no sums. */
static bool have_totals(struct tree_sums *sums)
{
	struct budget *budget = sums->places.budget;
	size_t room = sums->places.room, size = sizeof(*sums->own);
	struct place_weight *own, *inner;

	if (room <= sums->room)
		return true;
	own = budget_resize(budget, sums->own, sums->room * size, room * size);
	inner = own ? budget_resize(budget, sums->inner, sums->room * size, room * size) : NULL;
	if (!inner) {
		budget_free(budget, own ? own : sums->own, (own ? room : sums->room) * size);
		budget_free(budget, sums->inner, sums->room * size);
		sums->own = sums->inner = NULL;
		sums->room = 0;
		return false;
	}
	memset(own + sums->room, 0, (room - sums->room) * size);
	memset(inner + sums->room, 0, (room - sums->room) * size);
	sums->own = own;
	sums->inner = inner;
	sums->room = (uint32_t)room;
	return true;
}

/* What was summed before stays; only parts that have come or gone since are taken in or out. */
static void count_parts(struct tree_sums *sums, const struct window *window)
{
	size_t skip = skipped(sums, window);

	for (size_t i = 0; i < sums->recent_count; i++)
		count_part(sums, &sums->recent[i], i >= skip);
	count_part(sums, &sums->past, sums->past.stretch.end != 0);
}

bool tree_sums_update(struct tree_sums *sums, struct window *window, bool trends, bool hasty)
{
	uint64_t newest = sums->recent_count ? sums->recent[sums->recent_count - 1].stretch.end : 0;
	struct scratch scratch = { .sums = sums, .passing = window_passing(window),
		.haste = haste_of(hasty ? window->haste : HASTE_NONE, window->to, newest) };
	uint64_t ago = WINDOW_SECONDS * NS_PER_SECOND;
	size_t first = span_after(window->inputs.store, window->to > ago ? window->to - ago : 0);
	struct budget *budget = sums->places.budget;
	bool whole;

	if (!places_meet(&sums->places))
		return false;
	sums->behind = sums->lacks = false;
	whole = renew_recent(&scratch, window, trends || first > window->span.first ? first : window->span.first);
	if (!sums->places.scarce)
		renew_past(&scratch, window, whole);
	sums->lacks |= !whole;
	budget_free(budget, scratch.keys, scratch.room * 2 * sizeof(*scratch.keys));
	budget_free(budget, scratch.touched, scratch.touched_room * sizeof(*scratch.touched));
	if (sums->places.scarce || stop_now(window->stop) || !have_totals(sums))
		return false;
	count_parts(sums, window);
	return true;
}

uint64_t tree_sums_weight(const struct tree_sums *sums, const struct window *window)
{
	const struct tree_part *part;
	uint64_t weight = 0;

	for (size_t i = 0; (part = part_at(sums, window, i)); i++)
		weight += part->weight;
	return weight;
}

void tree_sums_tell(const struct tree_sums *sums, const struct window *window, struct tree *tree)
{
	const struct tree_part *part;
	struct range range = window_range(window);

	tree->from = range.from;
	tree->to = range.to;
	for (size_t i = 0; (part = part_at(sums, window, i)); i++) {
		tree->weight += part->weight;
		tree->samples += part->samples;
		tree->time += part->time;
		for (int mode = 0; mode < MODES; mode++)
			tree->mode[mode] += part->mode[mode];
	}
}
