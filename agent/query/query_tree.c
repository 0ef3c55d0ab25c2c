/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/query/tree/tree_rows.h"
#include "query_state.h"
#include "query_tree.h"
#include "seconds.h"
#include "stop.h"
#include "tree_sums.h"

_Static_assert((int)TREE_SECONDS == (int)TABLE_TREND, "seconds.h serves both");

enum {
	WORK_MOST = 1 << 18,		/* counts that one answer walks, before it unfolds further levels */
	PLACES_KEPT = 1 << 15,		/* with more, and twice as many as at the beginning, all begins anew */
};

#define NOWHERE 0xffffffffu		/* no trend */

/* ---- trends ---- */

/* Paths, sorted. Most paths are not among them: a few bits tell that at once. */
struct path_set {
	uint32_t count;
	uint64_t paths[TREE_TRENDS], bits[64];
};

static void set_paths(struct path_set *set, const struct tree_question *wanted)
{
	*set = (struct path_set) { .count = wanted->trend_count < TREE_TRENDS ? wanted->trend_count : TREE_TRENDS };
	memcpy(set->paths, wanted->trends, set->count * sizeof(*set->paths));
	places_sort_paths(set->paths, set->count);
	for (uint32_t i = 0; i < set->count; i++)
		set->bits[set->paths[i] >> 6 & 63] |= UINT64_C(1) << (set->paths[i] & 63);
}

static bool has_path(const struct path_set *set, uint64_t path)
{
	return set->bits[path >> 6 & 63] >> (path & 63) & 1 && places_has_path(set->paths, set->count, path);
}

/*
 * Finds the places whose trends are wanted. `nearest`: by place, the trend of the nearest of them from there up. True:
 * they are other places than before.
 */
static bool find_trends(struct tree_sums *sums, const struct tree_question *wanted, uint32_t *nearest)
{
	const struct places *places = &sums->places;
	struct tree_trends *trends = &sums->trends;
	uint32_t before = trends->count;
	bool other = false;
	struct path_set set;

	set_paths(&set, wanted);
	trends->count = 0;
	for (uint32_t i = 0; i < places->count; i++) {
		const struct tree_place *place = &places->list[i];

		nearest[i] = place->parent == TREE_TOP ? NOWHERE : nearest[place->parent];
		if (trends->count == TREE_TRENDS || !has_path(&set, place->path))
			continue;
		other |= trends->count >= before || trends->places[trends->count] != i;
		nearest[i] = trends->count;
		trends->places[trends->count++] = i;
	}
	return other || trends->count != before;
}

static void add_part(struct tree_trends *trends, const struct tree_part *part, const uint32_t *nearest,
	struct seconds all, const bool stale[TREE_SECONDS])
{
	struct seconds touched = seconds_touched(all, part->stretch.begin, part->stretch.end);
	uint64_t weights[TREE_TRENDS] = { 0 };
	bool any = false;

	for (uint64_t second = touched.first; second < touched.end; second++)
		any |= stale[second + TREE_SECONDS - all.end];
	for (uint32_t i = 0; any && i < part->count; i++) {
		uint32_t trend = nearest[PLACE_OF(part->sums[i].key)];

		if (trend != NOWHERE)
			weights[trend] += part->sums[i].sum.weight;
	}
	for (uint32_t i = 0; any && i < trends->count; i++)
		for (uint64_t second = touched.first; weights[i] && second < touched.end; second++)
			if (stale[second + TREE_SECONDS - all.end])
				trends->seconds[i][second + TREE_SECONDS - all.end] +=
					seconds_part(weights[i], part->stretch.begin, part->stretch.end, second);
}

/* Adds each trend to that of the nearest place above it. Those below are behind it. */
static void roll_up(struct tree_sums *sums, const uint32_t *nearest, const bool stale[TREE_SECONDS])
{
	for (uint32_t i = sums->trends.count; i-- > 0;) {
		uint32_t parent = sums->places.list[sums->trends.places[i]].parent;
		uint32_t above = parent == TREE_TOP ? NOWHERE : nearest[parent];

		for (int k = 0; above != NOWHERE && k < TREE_SECONDS; k++)
			if (stale[k])
				sums->trends.seconds[above][k] += sums->trends.seconds[i][k];
	}
}

/* A hash of what decides which places the trends are of. Never 0. */
static uint64_t hash_wanted(const struct tree_sums *sums, const struct tree_question *wanted)
{
	uint64_t hash = hash_mix(sums->places.count + 1, wanted->trend_count + 1);

	for (uint32_t i = 0; i < wanted->trend_count && i < TREE_TRENDS; i++)
		hash = hash_mix(hash + 1, wanted->trends[i]);
	return hash | 1;
}

/* By second, of the slices that touch it: another mark where they have changed. The order of slices does not count. */
static void mark_seconds(const struct tree_sums *sums, struct seconds all, uint64_t marks[TREE_SECONDS])
{
	memset(marks, 0, TREE_SECONDS * sizeof(*marks));
	for (size_t i = 0; i < sums->recent_count; i++) {
		const struct tree_part *part = &sums->recent[i];
		struct seconds touched = seconds_touched(all, part->stretch.begin, part->stretch.end);

		for (uint64_t second = touched.first; second < touched.end; second++)
			marks[second + TREE_SECONDS - all.end] += hash_mix(part->serial, UINT64_C(0xd6e8feb86659fd93));
	}
}

static void forget_seconds(struct tree_trends *trends)
{
	memset(trends->seconds, 0, TREE_TRENDS * sizeof(*trends->seconds));
	memset(trends->marks, 0, sizeof(trends->marks));
}

/* Time has passed: the oldest seconds go. */
static void shift(struct tree_trends *trends, uint64_t end)
{
	size_t by = end < trends->end || end - trends->end > TREE_SECONDS ? TREE_SECONDS : (size_t)(end - trends->end);
	size_t left = TREE_SECONDS - by;

	trends->end = end;
	if (by == TREE_SECONDS)
		forget_seconds(trends);
	if (by == 0 || by == TREE_SECONDS)
		return;
	for (uint32_t i = 0; i < trends->count; i++) {
		memmove(trends->seconds[i], trends->seconds[i] + by, left * sizeof(**trends->seconds));
		memset(trends->seconds[i] + left, 0, by * sizeof(**trends->seconds));
	}
	memmove(trends->marks, trends->marks + by, left * sizeof(*trends->marks));
	memset(trends->marks + left, 0, by * sizeof(*trends->marks));
}

/* Makes the seconds anew whose slices are others than before. */
static void renew_seconds(struct tree_sums *sums, const uint32_t *nearest, struct seconds all,
	const uint64_t marks[TREE_SECONDS])
{
	struct tree_trends *trends = &sums->trends;
	bool stale[TREE_SECONDS];

	for (int k = 0; k < TREE_SECONDS; k++) {
		stale[k] = marks[k] != trends->marks[k];
		for (uint32_t i = 0; stale[k] && i < trends->count; i++)
			trends->seconds[i][k] = 0;
	}
	for (size_t i = 0; i < sums->recent_count; i++)
		add_part(trends, &sums->recent[i], nearest, all, stale);
	roll_up(sums, nearest, stale);
	memcpy(trends->marks, marks, sizeof(trends->marks));
}

/* False: there is no memory. */
static bool renew_trends(struct tree_sums *sums, const struct window *window, const struct tree_question *wanted)
{
	struct budget *budget = sums->places.budget;
	struct tree_trends *trends = &sums->trends;
	struct seconds all = seconds_before(window->to);
	size_t size = sums->places.count * sizeof(uint32_t);
	uint64_t marks[TREE_SECONDS], hash = hash_wanted(sums, wanted);
	uint32_t *nearest;

	if (!trends->seconds) {
		trends->seconds = budget_resize(budget, NULL, 0, TREE_TRENDS * sizeof(*trends->seconds));
		trends->count = 0;
		trends->wanted = 0;
		if (!trends->seconds)
			return false;
		forget_seconds(trends);
	}
	shift(trends, all.end);
	mark_seconds(sums, all, marks);
	if (hash == trends->wanted && memcmp(marks, trends->marks, sizeof(marks)) == 0)
		return true;
	nearest = budget_resize(budget, NULL, 0, size);
	if (!nearest)
		return false;
	if (find_trends(sums, wanted, nearest))
		forget_seconds(trends);
	renew_seconds(sums, nearest, all, marks);
	trends->wanted = hash;
	budget_free(budget, nearest, size);
	return true;
}

struct named {				/* a trend, found by its path */
	uint64_t path;
	uint32_t trend;
};

static int by_path(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	return (a->path > b->path) - (a->path < b->path);
}

static void tell_trends(struct tree_sums *sums, const struct window *window, const struct tree_question *wanted,
	struct tree *tree)
{
	struct tree_list *list = &tree->lists[sums->places.order];
	struct named names[TREE_TRENDS], *found;
	struct path_set set;
	uint64_t *trend;

	if (!wanted->trend_count)
		return;
	if (!renew_trends(sums, window, wanted)) {
		tree->scarce = true;
		return;
	}
	for (uint32_t i = 0; i < sums->trends.count; i++)
		names[i] = (struct named) { sums->places.list[sums->trends.places[i]].path, i };
	if (!sums->trends.count)
		return;
	qsort(names, sums->trends.count, sizeof(*names), by_path);
	set_paths(&set, wanted);
	for (size_t i = 0; i < list->count && !tree->scarce; i++) {
		if (!has_path(&set, list->rows[i].path) || !(found = bsearch(&(struct named) {
				.path = list->rows[i].path }, names, sums->trends.count, sizeof(*names), by_path)))
			continue;
		trend = tree_add_trend(tree, &list->rows[i], TREE_ORDERS * TREE_TRENDS);
		if (trend)
			memcpy(trend, sums->trends.seconds[found->trend], sizeof(*sums->trends.seconds));
	}
}

/* ---- the tree ---- */

/* Goes on with what was made for the last question, as far as that holds for this one. */
static void begin(struct tree_sums *sums, const struct window *window, const struct tree_question *wanted,
	enum tree_order order, const char *kernel)
{
	struct places *places = &sums->places;
	bool holds = places->symbols && sums->renewed == window->renewed && places_are_of(places, wanted, kernel);

	if (!holds || (sums->kept && places->count > PLACES_KEPT && places->count > 2 * sums->kept)) {
		tree_sums_clear(sums);
		places->budget = window->inputs.budget;
		places->stacks = window->inputs.stacks;
		places->symbols = window->inputs.symbols;
		places->functions = window->nodes->functions;
		places_init(places, wanted, order, kernel);
		sums->renewed = window->renewed;
		sums->kept = 0;
	}
	places_unfold(places, wanted);
}

/* Levels that depend on weights are opened one after another, until none is missing or this has cost enough. */
static bool make_rows(struct tree_sums *sums, struct window *window, const struct tree_question *wanted, bool hasty,
	struct tree *tree)
{
	uint64_t whole, before = sums->walked;
	bool more = true;

	while (more) {
		if (!tree_sums_update(sums, window, wanted->trend_count, hasty))
			return false;
		whole = tree_sums_weight(sums, window);
		more = tree_rows_make(tree, &sums->places, wanted, &(struct tree_weights) {
			.own = sums->own, .inner = sums->inner, .whole = whole, .behind = sums->behind });
		if (tree->scarce)
			return false;
		if (sums->lacks || (more && sums->walked - before > WORK_MOST)) {
			tree->growing = true;
			break;
		}
	}
	tree->growing = tree->growing || sums->behind;
	tree->lacks = tree->lacks || sums->lacks;
	if (!sums->kept && !sums->lacks)
		sums->kept = sums->places.count;
	return true;
}

static void add_list(struct query *query, struct window *window, struct tree_sums *sums,
	const struct tree_question *wanted, bool hasty, struct tree *tree)
{
	if (!make_rows(sums, window, wanted, hasty, tree)) {
		tree->scarce = tree->scarce || !stop_now(query->stop);
		tree->lists[sums->places.order].count = 0;
		tree_sums_clear(sums);
		sums->places.symbols = NULL;
		return;
	}
	if (tree->to == 0)
		tree_sums_tell(sums, window, tree);
	tell_trends(sums, window, wanted, tree);
}

struct tree *query_tree(struct query *query, const struct question *question, const struct tree_question *wanted,
	const char *kernel)
{
	struct query_reader *reader = query_reader(query, question);
	struct tree *tree = tree_new(query->inputs.budget);

	window_look(&reader->window, question);
	for (int order = 0; order < TREE_ORDERS; order++) {
		struct tree_sums *sums = &reader->trees[order];

		if (!(wanted->orders >> order & 1)) {
			tree_sums_clear(sums);
			sums->places.symbols = NULL;
			continue;
		}
		begin(sums, &reader->window, wanted, (enum tree_order)order, kernel);
		add_list(query, &reader->window, sums, wanted, question->hasty, tree);
	}
	return tree;
}
