/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "agent/store/stacks.h"
#include "query.h"
#include "query_state.h"
#include "scan.h"
#include "slots.h"
#include "stop.h"

_Static_assert((int)TREE_SECONDS == (int)TABLE_TREND, "slots.h serves both");
_Static_assert((int)TREE_TRENDS == (int)TRENDS_MOST, "as many are kept");

enum {
	PLACES_KEPT = 1 << 15,		/* with more, and twice as many as at the beginning, all begins anew */
	DEPTH_MAX = 128,		/* both walks of a sample */
};

/* ---- places ---- */

/*
 * The places of a call tree: a place is a function, with the functions on the way to it from the top. A place has
 * places below it only once it is opened. Each stack belongs to one place: the innermost on its way that there is. So a
 * tree costs what is unfolded of it, and nothing for the rest. Stacks find their places when they are asked for.
 */

/* A stack's key: its place. With PLACE_INNER the stack goes on below the place, which is closed. */
#define PLACE_NONE 0xfffffffeu		/* it is not in the tree: it lacks the function that the tree is around */
#define PLACE_UNKNOWN 0xffffffffu	/* it was not asked for yet */
#define PLACE_INNER 0x80000000u
#define PLACE_OF(key) ((key) & ~PLACE_INNER)

struct tree_place {
	uint64_t path, name;		/* as in tree.h */
	uint32_t parent;		/* lower than this one; TREE_TOP: it is at the top */
	uint32_t function, depth;
	bool open;
};

struct places {
	struct budget *budget;		/* borrowed, as all of these */
	const struct stacks *stacks;
	const struct symbols *symbols;
	const uint32_t *functions;	/* by node; see match.h */

	enum tree_order order;
	bool recursion;			/* these are as in struct tree_question */
	uint64_t of;
	char kernel[64];
	uint32_t unfolded_count;
	uint64_t unfolded[TREE_UNFOLDED];	/* sorted: places with these paths are opened as they are made */

	struct tree_place *list;
	uint32_t count, room;
	struct hash by_name;
	uint32_t *keys;			/* by stack */
	uint32_t key_count;
	uint64_t *names;		/* by function; 0: not known yet */
	uint32_t name_count;
	bool scarce;			/* there was no memory for a place or a key */
};

/* Opens those that it names. */
static void places_unfold(struct places *places, const struct tree_question *question)
{
	uint32_t count = question->unfolded_count < TREE_UNFOLDED ? question->unfolded_count : TREE_UNFOLDED;
	uint64_t sorted[TREE_UNFOLDED];

	memcpy(sorted, question->unfolded, count * sizeof(*sorted));
	tree_sort_paths(sorted, count);
	if (count == places->unfolded_count && memcmp(sorted, places->unfolded, count * sizeof(*sorted)) == 0)
		return;
	memcpy(places->unfolded, sorted, count * sizeof(*sorted));
	places->unfolded_count = count;
	for (uint32_t i = 0; i < places->count; i++)
		places->list[i].open |= tree_has_path(sorted, count, places->list[i].path);
}

/* Makes room for `count` elements of an array that has `*room`. New bytes are `fill`. NULL: none is left. */
static void *grow(struct budget *budget, void *array, uint32_t *room, size_t count, size_t size, int fill)
{
	size_t more = count + count / 8;
	char *grown;

	if (count <= *room)
		return array;
	grown = budget_resize(budget, array, *room * size, more * size);
	if (!grown)
		return NULL;
	memset(grown + *room * size, fill, (more - *room) * size);
	*room = (uint32_t)more;
	return grown;
}

/* To be called before keys are asked for, when the store may have new stacks. False: there is no memory. */
static bool places_meet(struct places *places)
{
	uint32_t *keys = grow(places->budget, places->keys, &places->key_count, stacks_nodes(places->stacks),
		sizeof(*keys), 0xff);
	uint64_t *names = grow(places->budget, places->names, &places->name_count,
		symbols_functions(places->symbols), sizeof(*names), 0);

	places->keys = keys ? keys : places->keys;
	places->names = names ? names : places->names;
	if (places->key_count < stacks_nodes(places->stacks) ||
			places->name_count < symbols_functions(places->symbols))
		places->scarce = true;
	return !places->scarce;
}

static uint64_t name_of(struct places *places, uint32_t function)
{
	if (!places->names[function])
		places->names[function] = tree_name(symbols_get(places->symbols, function), places->kernel);
	return places->names[function];
}

/* The place of a function below another; makes it if there is none. PLACE_NONE: there is no memory. */
static uint32_t have(struct places *places, uint32_t parent, uint32_t function)
{
	uint64_t name = name_of(places, function), hash = hash_pair(&places->by_name, parent, name);
	uint32_t at = 0, place;
	struct tree_place *list;

	while ((place = hash_next(&places->by_name, hash, &at)) != HASH_NONE)
		if (places->list[place].parent == parent && places->list[place].name == name)
			return place;
	list = budget_array(places->budget, places->list, places->count, &places->room, sizeof(*list));
	if (list)
		places->list = list;
	if (!list || !hash_add(&places->by_name, hash, places->count)) {
		places->scarce = true;
		return PLACE_NONE;
	}
	list[places->count] = (struct tree_place) {
		.name = name, .parent = parent, .function = function,
		.depth = parent == TREE_TOP ? 0 : list[parent].depth + 1,
		.path = tree_path(places->order, places->of, parent == TREE_TOP ? 0 : list[parent].path, name),
	};
	list[places->count].open = tree_has_path(places->unfolded, places->unfolded_count, list[places->count].path);
	return places->count++;
}

/* The key of samples that are no stack: of this function alone. */
static uint32_t places_key_alone(struct places *places, uint32_t function)
{
	if (places->of && name_of(places, function) != places->of)
		return PLACE_NONE;
	return have(places, TREE_TOP, function);
}

/* The key of the next function behind one with this key, if the tree has that function below it. */
static uint32_t step(struct places *places, uint32_t key, uint32_t function)
{
	uint32_t place;

	if (key & PLACE_INNER)
		return key;
	if (places->recursion && name_of(places, function) == places->list[key].name)
		return key;
	place = places->list[key].open ? have(places, key, function) : PLACE_NONE;
	return place == PLACE_NONE ? key | PLACE_INNER : place;
}

/* The key of a node whose caller has this one; PLACE_NONE: the caller is not in the tree, or there is none. */
static uint32_t key_below(struct places *places, uint32_t caller, uint32_t node)
{
	uint32_t function = places->functions[node];

	if (caller != PLACE_NONE)
		return step(places, caller, function);
	return places->scarce ? PLACE_NONE : places_key_alone(places, function);
}

/* True if the key was found, and its place was not opened since. */
static bool places_settled(const struct places *places, uint32_t key)
{
	return key >= PLACE_NONE ? key == PLACE_NONE : !(key & PLACE_INNER) || !places->list[PLACE_OF(key)].open;
}

/* Settles the keys of its callers first. */
static uint32_t find_down(struct places *places, uint32_t leaf)
{
	uint32_t path[DEPTH_MAX], depth = 0, id = leaf, key;

	while (id != STACKS_NONE && depth < DEPTH_MAX && !places_settled(places, places->keys[id])) {
		path[depth++] = id;
		id = stacks_node(places->stacks, id).parent;
	}
	key = id == STACKS_NONE ? PLACE_NONE : places->keys[id];
	while (depth-- > 0)
		key = places->keys[path[depth]] = key_below(places, key, path[depth]);
	return key;
}

/* The node at which the way up begins: the leaf, or the outermost node of the function that the tree is around. */
static uint32_t begin_up(struct places *places, uint32_t leaf)
{
	uint32_t begin = STACKS_NONE;

	if (!places->of)
		return leaf;
	for (; leaf != STACKS_NONE; leaf = stacks_node(places->stacks, leaf).parent)
		if (name_of(places, places->functions[leaf]) == places->of)
			begin = leaf;
	return begin;
}

static uint32_t find_up(struct places *places, uint32_t leaf)
{
	uint32_t id = begin_up(places, leaf), key = PLACE_NONE;

	if (id != STACKS_NONE)
		key = have(places, TREE_TOP, places->functions[id]);
	while (key < PLACE_NONE && !(key & PLACE_INNER)) {
		id = stacks_node(places->stacks, id).parent;
		if (id == STACKS_NONE)
			break;
		key = step(places, key, places->functions[id]);
	}
	return places->keys[leaf] = key;
}

/* The key of a stack, which is a node of stacks.h. */
static inline uint32_t places_key(struct places *places, uint32_t stack)
{
	uint32_t key = places->keys[stack];

	if (places_settled(places, key))
		return key;
	return places->order == TREE_UP ? find_up(places, stack) : find_down(places, stack);
}

/* ---- a list of rows, out of the weights of places ---- */

#define NOTHING 0xffffffffu		/* no place */

struct place_weight {			/* [0]: of what ends there; [1]: of what goes on below while it is closed */
	uint64_t weight[2], samples[2];
};

/* Places in lists: the first of a place's children, and the next of its siblings. */
struct place_total {
	uint64_t total, samples;
	uint32_t child, next;		/* of all that have a weight */
	uint32_t row_child, row_last, row_next;	/* of those that get a row: heaviest first */
	uint32_t row;
	bool hot, below, unfolded;
};

struct entry {				/* of the heap; equal weights are in the order of their paths, in each answer */
	uint64_t total, path;
	uint32_t place;
};

/* A list of the tree while it is made. */
struct making {
	struct tree *tree;
	struct window *window;
	struct scan *scan;
	const struct tree_question *wanted;
	struct places *places;
	struct kept_trends *kept;
	struct place_weight *weights;	/* by place */
	uint32_t room;			/* of these */
	struct place_total *totals;	/* by place */
	uint32_t top, row_top, row_last;	/* the first at the top, of both kinds; the last of these rows */
	struct entry *heap;		/* places with a weight that have no row yet, the heaviest first */
	uint32_t heap_size;
	bool opened;			/* a place whose row is to be unfolded: keys and weights are to be found anew */
	uint32_t *trends;		/* by place: the trend of the nearest place from there up that has one, */
	uint32_t told;			/* of so many places */
	uint64_t asked[TREE_TRENDS];	/* paths whose trends are wanted, sorted */
	uint32_t asked_count;
};

/* For all places. False: there is no memory. */
static bool have_room(struct making *making)
{
	size_t size = sizeof(*making->weights), before = making->room * size, room = making->places->room * size;
	struct place_weight *weights = budget_resize(making->places->budget, making->weights, before, room);

	if (!weights)
		return false;
	memset((char *)weights + before, 0, room - before);
	making->weights = weights;
	making->room = making->places->room;
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

	if (making->room)
		memset(making->weights, 0, making->room * sizeof(*making->weights));
	if (making->places->room > making->room && !have_room(making))
		return false;
	for (uint32_t i = 0; i < scan->ran_count; i++) {
		const struct scan_sum *sum = &scan->own[scan->ran[i]];
		uint32_t key = key_at(making, scan->ran[i]);
		struct place_weight *to;

		if (making->places->scarce || (making->places->room > making->room && !have_room(making)))
			return false;
		if (key == PLACE_NONE)
			continue;
		to = &making->weights[PLACE_OF(key)];
		to->weight[key != PLACE_OF(key)] += sum->weight;
		to->samples[key != PLACE_OF(key)] += sum->samples;
	}
	return true;
}

/* A parent is before its children. */
static void sum_totals(struct making *making)
{
	for (uint32_t i = 0; i < making->places->count; i++)
		making->totals[i] = (struct place_total) {
			.total = making->weights[i].weight[0] + making->weights[i].weight[1],
			.samples = making->weights[i].samples[0] + making->weights[i].samples[1],
			.child = NOTHING, .row_child = NOTHING, .row_last = NOTHING, .row_next = NOTHING,
		};
	for (uint32_t i = making->places->count; i-- > 0;) {
		uint32_t parent = making->places->list[i].parent;
		uint32_t *first = parent == TREE_TOP ? &making->top : &making->totals[parent].child;
		struct place_total *node = &making->totals[i];

		if (!node->total)
			continue;
		node->next = *first;
		*first = i;
		if (parent == TREE_TOP)
			continue;
		making->totals[parent].total += node->total;
		making->totals[parent].samples += node->samples;
	}
}

/* ---- the heap: a place is never heavier than its parent, so places come out in order of weight ---- */

static bool is_heavier(const struct entry *a, const struct entry *b)
{
	return a->total != b->total ? a->total > b->total : a->path < b->path;
}

static struct entry entry_of(const struct making *making, uint32_t place)
{
	return (struct entry) { making->totals[place].total, making->places->list[place].path, place };
}

static void push(struct making *making, struct entry entry)
{
	uint32_t at = making->heap_size++, above = (at - 1) / 2;

	for (; at > 0 && is_heavier(&entry, &making->heap[above]); above = (at - 1) / 2) {
		making->heap[at] = making->heap[above];
		at = above;
	}
	making->heap[at] = entry;
}

static struct entry pop(struct making *making)
{
	struct entry *heap = making->heap, first = heap[0], last = heap[--making->heap_size];
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < making->heap_size) {
		if (child + 1 < making->heap_size && is_heavier(&heap[child + 1], &heap[child]))
			child++;
		if (!is_heavier(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* ---- which rows there are ---- */

static bool is_wanted(const struct making *making, uint32_t at)
{
	const struct tree_question *question = making->wanted;
	const struct tree_place *place = &making->places->list[at];
	const struct place_total *node = &making->totals[at];

	return node->hot || node->below || place->depth < question->deepest ||
		(question->least && (unsigned __int128)node->total * question->least >= making->scan->whole.weight) ||
		tree_has_path(making->places->unfolded, making->places->unfolded_count, place->path);
}

/* Its children get rows, as far as there is room. */
static void unfold(struct making *making, uint32_t at)
{
	struct place_total *node = &making->totals[at];
	struct entry hottest = { .place = NOTHING };

	node->unfolded = true;
	for (uint32_t i = node->child; i != NOTHING; i = making->totals[i].next) {
		struct entry entry = entry_of(making, i);

		making->totals[i].below = node->below;
		if (hottest.place == NOTHING || is_heavier(&entry, &hottest))
			hottest = entry;
		push(making, entry);
	}
	if (node->hot && hottest.place != NOTHING)
		making->totals[hottest.place].hot = true;
}

static bool has_more(const struct making *making, uint32_t place)
{
	return making->totals[place].child != NOTHING || making->weights[place].weight[1];
}

/* Appends it to the rows of its parent. */
static void pick(struct making *making, uint32_t at)
{
	uint32_t parent = making->places->list[at].parent;
	uint32_t *first = parent == TREE_TOP ? &making->row_top : &making->totals[parent].row_child;
	uint32_t *last = parent == TREE_TOP ? &making->row_last : &making->totals[parent].row_last;

	if (*last == NOTHING)
		*first = at;
	else
		making->totals[*last].row_next = at;
	*last = at;
}

static void pick_all(struct making *making)
{
	const struct tree_question *question = making->wanted;
	uint32_t picked = 0;

	for (uint32_t i = making->top; i != NOTHING; i = making->totals[i].next)
		push(making, entry_of(making, i));
	for (; making->heap_size && picked < TREE_ROWS; picked++) {
		struct entry entry = pop(making);
		uint32_t at = entry.place;
		struct place_total *node = &making->totals[at];

		pick(making, at);
		node->hot = node->hot || (question->hot && entry.path == question->hot);
		node->below = node->below || (question->below && entry.path == question->below);
		if (!has_more(making, at) || !is_wanted(making, at))
			continue;
		if (making->places->list[at].open) {
			unfold(making, at);
			continue;
		}
		making->places->list[at].open = making->opened = true;
	}
}

/* ---- the rows ---- */

static void add_row(struct making *making, uint32_t at)
{
	struct tree_row *row = tree_add(making->tree, making->places->order);
	const struct tree_place *place = &making->places->list[at];
	struct place_total *node = &making->totals[at];

	node->row = (uint32_t)(making->tree->lists[making->places->order].count - 1);
	row->path = place->path;
	row->function = place->function;
	row->depth = place->depth;
	row->parent = place->parent == TREE_TOP ? TREE_TOP : making->totals[place->parent].row;
	row->has_more = has_more(making, at);
	row->unfolded = node->unfolded;
	row->total = node->total;
	row->self = making->weights[at].weight[0];
	row->samples = node->samples;
}

/* Each parent before its children. */
static void add_rows(struct making *making)
{
	uint32_t at = making->row_top, up;

	while (at != NOTHING) {
		add_row(making, at);
		if (making->totals[at].row_child != NOTHING) {
			at = making->totals[at].row_child;
			continue;
		}
		while (making->totals[at].row_next == NOTHING && (up = making->places->list[at].parent) != TREE_TOP)
			at = up;
		at = making->totals[at].row_next;
	}
}

/* Fills the list with the heaviest rows. False: there is no memory. */
static bool rows_make(struct making *making)
{
	struct places *places = making->places;
	size_t totals = places->count * sizeof(*making->totals), heap = places->count * sizeof(*making->heap);
	bool room;

	making->tree->lists[places->order].count = 0;
	making->top = making->row_top = making->row_last = NOTHING;
	making->heap_size = 0;
	making->opened = false;
	making->totals = budget_resize(places->budget, NULL, 0, totals);
	making->heap = budget_resize(places->budget, NULL, 0, heap);
	room = making->totals && making->heap;
	if (room) {
		sum_totals(making);
		pick_all(making);
		add_rows(making);
		making->tree->lists[places->order].left_out = making->heap_size;
	}
	budget_free(places->budget, making->totals, making->totals ? totals : 0);
	budget_free(places->budget, making->heap, making->heap ? heap : 0);
	return room;
}

/* Levels that depend on weights are opened one after another, until none is missing. False: there is no memory. */
static bool make_rows(struct making *making)
{
	if (!places_meet(making->places))
		return false;
	do {
		if (!weigh(making) || !rows_make(making))
			return false;
	} while (making->opened && !stop_now(making->window->stop));
	return true;
}

/* ---- trends ---- */

static uint32_t trend_of(void *state, const struct match_reader *reader, const struct run_count *count,
	const struct who *who)
{
	struct making *making = state;
	uint32_t key = key_at(making, who->mode == MODE_IDLE ? SCAN_IDLE : count->stack + SCAN_NODES);

	(void)reader;
	if (key == PLACE_NONE)
		return TRENDS_NONE;
	key = PLACE_OF(key);
	while (key != TREE_TOP && key >= making->told)	/* made just now, for samples before the range */
		key = making->places->list[key].parent;
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
	uint64_t (*totals)[TABLE_TREND])
{
	struct tree *tree = making->tree;
	struct tree_list *rows = &tree->lists[making->places->order];

	for (uint32_t i = 0; i < making->kept->count; i++)
		trends_get(making->kept, i, totals[i]);
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

static void make_trends(struct making *making)
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
		tell_trends(making, names, list, count, totals);
	}
	making->tree->scarce = making->tree->scarce || !totals || !making->trends;
	budget_free(budget, making->trends, making->trends ? size : 0);
	budget_free(budget, totals, totals ? most : 0);
}

/* ---- the tree ---- */

struct kept_tree {			/* what is unfolded in one order, and where stacks are in it */
	struct places places;
	uint64_t renewed;		/* the window's, when these were begun */
	uint32_t first;			/* how many there were in the first answer */
	struct kept_trends trends;
};

static void kept_tree_free(struct kept_tree *kept)
{
	struct places *places;

	if (!kept)
		return;
	places = &kept->places;
	hash_clear(&places->by_name);
	budget_free(places->budget, places->list, places->room * sizeof(*places->list));
	budget_free(places->budget, places->keys, places->key_count * sizeof(*places->keys));
	budget_free(places->budget, places->names, places->name_count * sizeof(*places->names));
	trends_clear(&kept->trends);
	free(kept);
}

void query_tree_forget(struct query_reader *reader)
{
	for (int order = 0; order < TREE_ORDERS; order++) {
		kept_tree_free(reader->trees[order]);
		reader->trees[order] = NULL;
	}
}

/* All places are closed. */
static struct kept_tree *kept_tree_new(const struct window *window, const struct tree_question *wanted,
	enum tree_order order, const char *kernel)
{
	struct kept_tree *kept = util_alloc(sizeof(*kept));

	kept->renewed = window->renewed;
	kept->places = (struct places) {
		.budget = window->inputs.budget, .stacks = window->inputs.stacks,
		.symbols = window->inputs.symbols, .functions = window->nodes->functions,
		.order = order, .recursion = wanted->recursion, .of = wanted->of,
	};
	util_print(kept->places.kernel, sizeof(kept->places.kernel), "%s", kernel);
	hash_init(&kept->places.by_name, kept->places.budget);
	return kept;
}

/* True: the places of the last question hold for this one, and are not too many. */
static bool kept_tree_serves(const struct kept_tree *kept, const struct window *window,
	const struct tree_question *wanted, const char *kernel)
{
	const struct places *places = &kept->places;

	return kept->renewed == window->renewed && places->recursion == wanted->recursion && places->of == wanted->of &&
		strncmp(places->kernel, kernel, sizeof(places->kernel) - 1) == 0 &&
		(!kept->first || places->count <= PLACES_KEPT || places->count / 2 <= kept->first);
}

/* False: no memory is left for places. */
static bool add_list(struct query *query, struct window *window, struct kept_tree *kept,
	const struct tree_question *wanted, struct tree *tree)
{
	struct making making = {
		.tree = tree, .window = window, .scan = query->scan, .wanted = wanted, .places = &kept->places,
		.kept = &kept->trends,
	};

	places_unfold(&kept->places, wanted);
	if (make_rows(&making)) {
		kept->first = kept->first ? kept->first : kept->places.count;
		if (wanted->trend_count)
			make_trends(&making);
	} else {
		tree->scarce = true;
		tree->lists[kept->places.order].count = 0;
	}
	budget_free(query->inputs.budget, making.weights, making.room * sizeof(*making.weights));
	return !kept->places.scarce;
}

struct tree *query_tree(struct query *query, const struct question *question, const struct tree_question *wanted,
	const char *kernel)
{
	struct query_reader *reader = query_reader(query, question);
	struct window *window = &reader->window;
	struct tree *tree = tree_new(query->inputs.budget);
	const struct scan_whole *whole;
	struct range range;

	window_look(window, question);
	whole = &query_scan(query, window, false)->whole;
	scan_own(query->scan, window, false);
	range = window_range(window);
	tree->from = range.from;
	tree->to = range.to;
	tree->weight = whole->weight;
	tree->samples = whole->samples;
	tree->time = whole->time;
	memcpy(tree->mode, whole->mode, sizeof(tree->mode));
	for (int order = 0; order < TREE_ORDERS && !stop_now(query->stop); order++) {
		struct kept_tree **kept = &reader->trees[order];
		bool asked = wanted->orders >> order & 1;

		if (*kept && (!asked || !kept_tree_serves(*kept, window, wanted, kernel))) {
			kept_tree_free(*kept);
			*kept = NULL;
		}
		if (asked && !*kept)
			*kept = kept_tree_new(window, wanted, (enum tree_order)order, kernel);
		if (asked && !add_list(query, window, *kept, wanted, tree)) {
			kept_tree_free(*kept);
			*kept = NULL;
		}
	}
	return tree;
}
