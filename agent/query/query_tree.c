/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/query/tree/places.h"
#include "agent/query/tree/tree.h"
#include "agent/query/tree/tree_rows.h"
#include "agent/store/stacks.h"
#include "query.h"
#include "query_state.h"
#include "scan.h"
#include "stop.h"

_Static_assert((int)TREE_SECONDS == (int)TABLE_TREND, "scan.h serves both");
_Static_assert((int)TREE_TRENDS == (int)TRENDS_MOST, "as many are kept");

enum { PLACES_KEPT = 1 << 15 };		/* with more, and twice as many as at the beginning, all begins anew */

/* A list of the tree while it is made. */
struct making {
	struct window *window;
	struct scan *scan;
	const struct tree_question *wanted;
	struct places *places;
	struct kept_trends *kept;
	struct place_weight *own, *inner;	/* by place: what ends there; what goes on below while it is closed */
	uint32_t room;			/* of both */
	uint32_t *trends;		/* by place: the trend of the nearest place from there up that has one, */
	uint32_t told;			/* of so many places */
	uint64_t asked[TREE_TRENDS];	/* paths whose trends are wanted, sorted */
	uint32_t asked_count;
};

/* ---- weights ---- */

/* For all places, emptied. False: there is no memory. */
static bool have_room(struct making *making)
{
	struct budget *budget = making->places->budget;
	size_t size = sizeof(*making->own), before = making->room * size, room = making->places->room * size;
	struct place_weight *own = budget_resize(budget, making->own, before, room), *inner;

	if (!own)
		return false;
	making->own = own;
	inner = budget_resize(budget, making->inner, before, room);
	if (!inner) {
		making->own = budget_trim(budget, own, room, before);
		return false;
	}
	making->inner = inner;
	making->room = making->places->room;
	memset(own, 0, room);
	memset(inner, 0, room);
	return true;
}

/* The key of a place of the scan. */
static uint32_t key_at(struct making *making, uint32_t at)
{
	if (at >= SCAN_NODES)
		return places_key(making->places, at - SCAN_NODES);
	return places_key_alone(making->places, at == SCAN_IDLE ? making->window->idle : making->window->unknown);
}

/* Places are made as keys are asked for. False: there is no memory. */
static bool weigh(struct making *making)
{
	const struct scan *scan = making->scan;

	for (uint32_t i = 0; i < scan->ran_count && !making->places->scarce; i++)
		key_at(making, scan->ran[i]);
	if (making->places->scarce || !have_room(making))
		return false;
	for (uint32_t i = 0; i < scan->ran_count; i++) {
		const struct scan_sum *sum = &scan->own[scan->ran[i]];
		uint32_t key = key_at(making, scan->ran[i]);
		struct place_weight *to = key & PLACE_INNER ? &making->inner[PLACE_OF(key)] : &making->own[key];

		if (key == PLACE_NONE)
			continue;
		to->weight += sum->weight;
		to->samples += sum->samples;
	}
	return true;
}

/* Levels that depend on weights are opened one after another, until none is missing. */
static bool make_rows(struct making *making, struct tree *tree)
{
	struct tree_weights weights = { .whole = making->scan->whole.weight };
	bool more = places_meet(making->places);

	if (!more)
		return false;
	while (more && !stop_now(making->window->stop)) {
		if (!weigh(making))
			return false;
		weights.own = making->own;
		weights.inner = making->inner;
		more = tree_rows_make(tree, making->places, making->wanted, &weights);
		if (tree->scarce)
			return false;
	}
	return true;
}

/* ---- trends ---- */

static uint32_t trend_of(void *state, struct match_reader *reader, const struct run_count *count,
	const struct who *who)
{
	struct making *making = state;
	struct places *places = making->places;
	uint32_t key;

	if (who->mode == MODE_IDLE)
		key = places_key_alone(places, reader->match->idle);
	else if (count->stack == STACKS_NONE)
		key = places_key_alone(places, reader->match->unknown);
	else
		key = places_key(places, count->stack);
	if (key == PLACE_NONE)
		return TRENDS_NONE;
	key = PLACE_OF(key);
	while (key != TREE_TOP && key >= making->told)	/* made just now, for samples before the range */
		key = places->list[key].parent;
	return key == TREE_TOP ? TRENDS_NONE : making->trends[key];
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

/* NULL: it is not kept. */
static const struct named *find_named(const struct named *names, uint32_t count, uint64_t path)
{
	return bsearch(&(struct named) { .path = path }, names, count, sizeof(*names), by_path);
}

/* Keeps those that are wanted, where there is such a place. */
static void keep_wanted(struct making *making)
{
	const struct tree_question *wanted = making->wanted;
	uint64_t found[TREE_TRENDS];
	uint32_t count = 0;

	making->asked_count = wanted->trend_count < TREE_TRENDS ? wanted->trend_count : TREE_TRENDS;
	memcpy(making->asked, wanted->trends, making->asked_count * sizeof(*making->asked));
	tree_sort_paths(making->asked, making->asked_count);
	for (uint32_t i = 0; i < making->places->count && count < TREE_TRENDS; i++)
		if (tree_has_path(making->asked, making->asked_count, making->places->list[i].path))
			found[count++] = making->places->list[i].path;
	trends_keep(making->kept, found, count);
}

/* Sets making->trends. `list`: the places that have a trend, in growing order. */
static uint32_t find_places(struct making *making, const struct named *names, uint32_t list[TREE_TRENDS])
{
	uint32_t count = 0;

	making->told = making->places->count;
	for (uint32_t i = 0; i < making->told; i++) {
		const struct tree_place *place = &making->places->list[i];
		const struct named *named = find_named(names, making->kept->count, place->path);

		making->trends[i] = named ? named->trend :
			place->parent == TREE_TOP ? TRENDS_NONE : making->trends[place->parent];
		if (named && count < TREE_TRENDS)	/* a guest may have chosen names so that two paths are equal */
			list[count++] = i;
	}
	return count;
}

/* Each total is the sum of what is kept: its own, and those of the nearest below it, which come after it. */
static void tell_trends(struct making *making, const struct named *names, const uint32_t *list, uint32_t count,
	uint64_t (*totals)[TABLE_TREND], struct tree *tree)
{
	struct tree_list *rows = &tree->lists[making->places->order];

	memcpy(totals, making->kept->trends, making->kept->count * sizeof(*totals));
	for (uint32_t i = count; i-- > 0;) {
		uint32_t parent = making->places->list[list[i]].parent;
		uint32_t above = parent == TREE_TOP ? TRENDS_NONE : making->trends[parent];

		for (int k = 0; above != TRENDS_NONE && k < TREE_SECONDS; k++)
			totals[above][k] += totals[making->trends[list[i]]][k];
	}
	for (size_t i = 0; i < rows->count && !tree->scarce; i++) {
		bool asked = tree_has_path(making->asked, making->asked_count, rows->rows[i].path);
		const struct named *named = asked ? find_named(names, making->kept->count, rows->rows[i].path) : NULL;
		uint64_t *trend = named ? tree_add_trend(tree, &rows->rows[i], TREE_ORDERS * TREE_TRENDS) : NULL;

		if (trend)
			memcpy(trend, totals[named->trend], sizeof(*totals));
	}
}

static void make_trends(struct making *making, struct tree *tree)
{
	struct budget *budget = making->places->budget;
	size_t size = making->room * sizeof(*making->trends), most = TREE_TRENDS * sizeof(uint64_t[TABLE_TREND]);
	struct named names[TREE_TRENDS];
	uint32_t list[TREE_TRENDS], count;
	uint64_t(*totals)[TABLE_TREND];

	keep_wanted(making);
	for (uint32_t i = 0; i < making->kept->count; i++)
		names[i] = (struct named) { making->kept->ids[i], i };
	if (!making->kept->count)
		return;
	qsort(names, making->kept->count, sizeof(*names), by_path);
	totals = budget_resize(budget, NULL, 0, most);
	making->trends = budget_resize(budget, NULL, 0, size);
	if (totals && making->trends) {
		count = find_places(making, names, list);
		trends_make(making->kept, making->window, trend_of, making);
		tell_trends(making, names, list, count, totals, tree);
	}
	tree->scarce = tree->scarce || !totals || !making->trends;
	budget_free(budget, making->trends, making->trends ? size : 0);
	budget_free(budget, totals, totals ? most : 0);
}

/* ---- the tree ---- */

void kept_tree_clear(struct kept_tree *kept)
{
	places_clear(&kept->places);
	kept->places.symbols = NULL;
	trends_clear(&kept->trends);
}

/* Goes on with the places of the last question, as far as these hold for this one. */
static void begin(struct kept_tree *kept, const struct window *window, const struct tree_question *wanted,
	enum tree_order order, const char *kernel)
{
	struct places *places = &kept->places;
	bool holds = places->symbols && kept->renewed == window->renewed && places_are_of(places, wanted, kernel);

	if (!holds || (kept->first && places->count > PLACES_KEPT && places->count / 2 > kept->first)) {
		kept_tree_clear(kept);
		*places = (struct places) {
			.budget = window->inputs.budget, .stacks = window->inputs.stacks,
			.symbols = window->inputs.symbols, .functions = window->nodes->functions,
		};
		places_init(places, wanted, order, kernel);
		kept->renewed = window->renewed;
		kept->first = 0;
	}
	places_unfold(places, wanted);
}

static void add_list(struct query *query, struct window *window, struct kept_tree *kept,
	const struct tree_question *wanted, struct tree *tree)
{
	struct making making = {
		.window = window, .scan = &query->scan, .wanted = wanted, .places = &kept->places,
		.kept = &kept->trends,
	};

	if (make_rows(&making, tree)) {
		kept->first = kept->first ? kept->first : kept->places.count;
		if (wanted->trend_count)
			make_trends(&making, tree);
	} else {
		tree->scarce = true;
		tree->lists[kept->places.order].count = 0;
	}
	budget_free(query->inputs.budget, making.own, making.room * sizeof(*making.own));
	budget_free(query->inputs.budget, making.inner, making.room * sizeof(*making.inner));
	if (kept->places.scarce)
		kept_tree_clear(kept);
}

struct tree *query_tree(struct query *query, const struct question *question, const struct tree_question *wanted,
	const char *kernel)
{
	struct query_reader *reader = query_reader(query, question);
	struct window *window = &reader->window;
	struct tree *tree = tree_new(query->inputs.budget);
	const struct scan_whole *whole = &query->scan.whole;
	struct range range;

	window_look(window, question);
	scan_begin(&query->scan, window);
	scan_own(&query->scan, window, false);
	range = window_range(window);
	tree->from = range.from;
	tree->to = range.to;
	tree->weight = whole->weight;
	tree->samples = whole->samples;
	tree->time = whole->time;
	memcpy(tree->mode, whole->mode, sizeof(tree->mode));
	for (int order = 0; order < TREE_ORDERS && !stop_now(query->stop); order++) {
		struct kept_tree *kept = &reader->trees[order];

		if (!(wanted->orders >> order & 1)) {
			kept_tree_clear(kept);
			continue;
		}
		begin(kept, window, wanted, (enum tree_order)order, kernel);
		add_list(query, window, kept, wanted, tree);
	}
	return tree;
}
