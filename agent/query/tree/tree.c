/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/change.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tree.h"

/* No seed: a path outlives the process. A guest that makes two names collide gets one row for both, and no more. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash_mix(hash ^ (unsigned char)*text, UINT64_C(0x9e3779b97f4a7c15));
	return hash_mix(hash + 1, UINT64_C(0xd6e8feb86659fd93));
}

const char *tree_kernel_object(const char *kernel, char name[TREE_KERNEL])
{
	util_print(name, TREE_KERNEL, "%s", *kernel ? kernel : "kernel");
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '-' : *c;
	return name;
}

uint64_t tree_name(const struct function *function, const char *kernel)
{
	uint64_t hash = add_text(UINT64_C(0x51ed270b35a1c0e7), function->name);
	char object[TREE_KERNEL];

	if (function->kernel && strcmp(function->object, "kernel") == 0)
		hash = add_text(hash, tree_kernel_object(kernel, object));
	else
		hash = add_text(hash, function->object);
	return hash ? hash : 1;
}

static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

void tree_sort_paths(uint64_t *paths, uint32_t count)
{
	if (count)
		qsort(paths, count, sizeof(*paths), by_number);
}

bool tree_has_path(const uint64_t *paths, uint32_t count, uint64_t path)
{
	return count && bsearch(&path, paths, count, sizeof(*paths), by_number);
}

/* Never 0, which stands for no path in a question. */
uint64_t tree_path(enum tree_order order, bool around, uint64_t parent, uint64_t name)
{
	uint64_t top = 1 + (uint64_t)order + (around ? TREE_ORDERS : 0);
	uint64_t path = hash_mix(name, parent ? parent : top);

	return path ? path : 1;
}

struct tree *tree_new(struct budget *budget)
{
	struct tree *tree = util_alloc(sizeof(*tree));

	tree->budget = budget;
	return tree;
}

static void tree_free_list(struct tree *tree, struct tree_list *list)
{
	budget_free(tree->budget, list->rows, list->room * sizeof(*list->rows));
	*list = (struct tree_list) { .rows = NULL };
}

/* Empties a list and gives it new room. Its former rows are the caller's, who has a copy of the list to be freed. */
static void tree_renew_list(struct tree *tree, enum tree_order order, size_t room)
{
	struct tree_list *list = &tree->lists[order];

	budget_charge(tree->budget, room * sizeof(*list->rows));
	list->rows = util_alloc(room * sizeof(*list->rows));
	list->room = room;
	list->count = 0;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	for (int order = 0; order < TREE_ORDERS; order++)
		tree_free_list(tree, &tree->lists[order]);
	budget_free(tree->budget, tree->trends, tree->trend_room * TREE_SECONDS * sizeof(*tree->trends));
	free(tree);
}

/* Charges without asking: the number of rows is bounded. */
struct tree_row *tree_add(struct tree *tree, enum tree_order order)
{
	struct tree_list *list = &tree->lists[order];

	if (list->count == list->room) {
		size_t room = 2 * list->room + 64;

		budget_charge(tree->budget, (room - list->room) * sizeof(*list->rows));
		list->rows = util_grow(list->rows, room, sizeof(*list->rows));
		list->room = room;
	}
	list->rows[list->count] = (struct tree_row) { .parent = TREE_TOP };
	return &list->rows[list->count++];
}

uint64_t *tree_add_trend(struct tree *tree, struct tree_row *row, size_t most)
{
	uint64_t *trend;

	if (!tree->trends) {
		tree->trends = budget_resize(tree->budget, NULL, 0, most * TREE_SECONDS * sizeof(*tree->trends));
		tree->trend_room = tree->trends ? most : 0;
	}
	if (!tree->trends || tree->trend_count == most) {
		tree->scarce = true;
		return NULL;
	}
	trend = tree->trends + tree->trend_count++ * TREE_SECONDS;
	memset(trend, 0, TREE_SECONDS * sizeof(*trend));
	row->trend = trend;
	return trend;
}

/* ---- a tree and its baseline ---- */

#define NO_ROW 0xffffffffu

void tree_compare_question(const struct tree *tree, const struct tree_question *wanted, struct tree_question *question)
{
	memset(question, 0, sizeof(*question));
	question->orders = wanted->orders;
	question->recursion = wanted->recursion;
	question->of = wanted->of;
	question->deepest = wanted->deepest;
	for (uint32_t i = 0; i < wanted->unfolded_count && i < TREE_UNFOLDED; i++)
		question->unfolded[question->unfolded_count++] = wanted->unfolded[i];
	for (int order = 0; order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count && question->unfolded_count < TREE_UNFOLDED; i++)
			if (tree->lists[order].rows[i].unfolded)
				question->unfolded[question->unfolded_count++] = tree->lists[order].rows[i].path;
}

/* ---- one list ---- */

struct merge {
	struct tree_list *list;		/* gets the rows of both */
	const struct tree_list *own, *base;
	bool all;			/* `base` has all rows of what it unfolds */
	struct hash by_path;		/* rows of `own` */
	uint32_t *in_own;		/* by row of `base`: the same in `own`; NO_ROW: it is gone */
	uint32_t *in_base;		/* by row of `own`: the same in `base`; NO_ROW: it has appeared */
	uint32_t *child, *next;		/* of gone rows, by row of `base`: the first child, the next sibling */
	uint32_t top;			/* the first gone row at the top */
	uint32_t *gone;			/* by row of `own`: its first gone child */
};

static uint32_t find(const struct merge *merge, uint64_t path)
{
	uint64_t hash = hash_pair(&merge->by_path, path, 0);
	uint32_t at = 0, row;

	while ((row = hash_next(&merge->by_path, hash, &at)) != HASH_NONE)
		if (merge->own->rows[row].path == path)
			return row;
	return NO_ROW;
}

static uint32_t *list_of(struct merge *merge, uint32_t parent)
{
	if (parent == TREE_TOP)
		return &merge->top;
	return merge->in_own[parent] == NO_ROW ? &merge->child[parent] : &merge->gone[merge->in_own[parent]];
}

/* Finds the rows that both have, and lists those that are gone, heaviest first, below their parents. */
static void match(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->own->count; i++) {
		hash_add(&merge->by_path, hash_pair(&merge->by_path, merge->own->rows[i].path, 0), i);
		merge->in_base[i] = merge->gone[i] = NO_ROW;
	}
	for (uint32_t i = 0; i < merge->base->count; i++) {
		merge->in_own[i] = find(merge, merge->base->rows[i].path);
		merge->child[i] = NO_ROW;
		if (merge->in_own[i] != NO_ROW)
			merge->in_base[merge->in_own[i]] = i;
	}
	merge->top = NO_ROW;
	for (uint32_t i = (uint32_t)merge->base->count; i-- > 0;) {
		uint32_t *first = list_of(merge, merge->base->rows[i].parent);

		if (merge->in_own[i] != NO_ROW)
			continue;
		merge->next[i] = *first;
		*first = i;
	}
}

static struct tree_row *put(struct tree_list *list, const struct tree_row *row, uint32_t parent)
{
	list->rows[list->count] = *row;
	list->rows[list->count].parent = parent;
	return &list->rows[list->count++];
}

/* Adds the gone rows from this one on, and all below them. */
static void put_gone(struct merge *merge, uint32_t first, uint32_t parent)
{
	for (uint32_t i = first; i != NO_ROW; i = merge->next[i]) {
		const struct tree_row *base = &merge->base->rows[i];
		uint32_t at = (uint32_t)merge->list->count;
		struct tree_row *row = put(merge->list, base, parent);

		row->based = true;
		row->base_total = base->total;
		row->base_self = base->self;
		row->base_samples = base->samples;
		row->total = row->self = row->samples = 0;
		row->trend = NULL;
		put_gone(merge, merge->child[i], at);		/* no deeper than the stacks */
	}
}

/* True: a row that the baseline lacks had nothing in it. `parent`: of the row. */
static bool is_new(const struct merge *merge, uint32_t parent)
{
	uint32_t base = NO_ROW;

	while (parent != TREE_TOP && (base = merge->in_base[parent]) == NO_ROW)
		parent = merge->own->rows[parent].parent;
	return merge->all && (base == NO_ROW || merge->base->rows[base].unfolded || !merge->base->rows[base].has_more);
}

static void compare_row(const struct merge *merge, struct tree_row *row, uint32_t own)
{
	uint32_t base = merge->in_base[own];

	row->based = base != NO_ROW || is_new(merge, merge->own->rows[own].parent);
	if (base == NO_ROW)
		return;
	row->base_total = merge->base->rows[base].total;
	row->base_self = merge->base->rows[base].self;
	row->base_samples = merge->base->rows[base].samples;
}

/* Adds one row with all that is below it: own children, in their order, and then the gone. Returns the row behind. */
static uint32_t put_rows(struct merge *merge, uint32_t own, uint32_t parent)
{
	uint32_t at = (uint32_t)merge->list->count, next = own + 1;

	compare_row(merge, put(merge->list, &merge->own->rows[own], parent), own);
	while (next < merge->own->count && merge->own->rows[next].parent == own)
		next = put_rows(merge, next, at);
	if (merge->gone[own] != NO_ROW)
		merge->list->rows[at].unfolded = merge->list->rows[at].has_more = true;
	put_gone(merge, merge->gone[own], at);
	return next;
}

static uint32_t *numbers(size_t count)
{
	return util_alloc((count + 1) * sizeof(uint32_t));
}

static void compare_list(struct tree *tree, enum tree_order order, const struct tree *with)
{
	struct tree_list own = tree->lists[order];
	struct merge merge = {
		.list = &tree->lists[order], .own = &own, .base = &with->lists[order],
		.all = !with->lists[order].left_out && !with->scarce,
	};

	hash_init(&merge.by_path, NULL);
	merge.in_own = numbers(merge.base->count);
	merge.child = numbers(merge.base->count);
	merge.next = numbers(merge.base->count);
	merge.in_base = numbers(own.count);
	merge.gone = numbers(own.count);
	match(&merge);
	tree_renew_list(tree, order, own.count + merge.base->count);
	for (uint32_t at = 0; at < own.count;)
		at = put_rows(&merge, at, TREE_TOP);
	put_gone(&merge, merge.top, TREE_TOP);
	tree_free_list(tree, &own);
	hash_clear(&merge.by_path);
	free(merge.in_own);
	free(merge.child);
	free(merge.next);
	free(merge.in_base);
	free(merge.gone);
}

void tree_compare(struct tree *tree, const struct tree *with)
{
	for (int order = 0; order < TREE_ORDERS; order++)
		if (tree->lists[order].count || with->lists[order].count)
			compare_list(tree, (enum tree_order)order, with);
	tree->base = (struct tree_base) { true, with->weight, with->samples, with->time };
}

struct change tree_total_change(const struct tree *tree, const struct tree_row *row)
{
	return change_of((struct portion) { row->total, tree->weight, row->samples, tree->samples },
		(struct portion) { row->base_total, tree->base.weight, row->base_samples, tree->base.samples });
}

/* ---- a row after recursion was folded ---- */

/* The names on the way from the row to the top. Returns how many they are; 0: more than a stack can have. */
static uint32_t names_of(const struct tree_list *list, const struct tree_row *row, const struct symbols *symbols,
	const char *kernel, uint64_t names[TREE_FOLD])
{
	uint32_t count = 0;

	for (; row; row = row->parent < list->count ? &list->rows[row->parent] : NULL) {
		if (count == TREE_FOLD - 1)
			return 0;
		names[count++] = tree_name(symbols_get(symbols, row->function), kernel);
	}
	return count;
}

void tree_fold_of(struct tree_fold *fold, const struct tree_list *list, const struct tree_row *row,
	enum tree_order order, bool around, const struct symbols *symbols, const char *kernel)
{
	uint64_t names[TREE_FOLD], path = 0;
	uint32_t at = names_of(list, row, symbols, kernel, names), left = 0;

	for (uint32_t i = 0; i < at; i++)		/* the names with recursion folded */
		if (i + 1 == at || names[i] != names[i + 1])
			names[left++] = names[i];
	fold->count = left + 1;
	fold->paths[0] = row->path;
	while (left-- > 0)
		fold->paths[left + 1] = path = tree_path(order, around, path, names[left]);
}

uint64_t tree_fold_find(struct tree_fold *fold, const struct tree_list *list)
{
	for (uint32_t i = 0; i < fold->count; i++)
		for (size_t row = 0; row < list->count; row++)
			if (list->rows[row].path == fold->paths[i]) {
				fold->count = i < TREE_FOLD_WAY ? 0 : fold->count;
				return list->rows[row].path;
			}
	return 0;
}

/* ---- the way to where a function is heaviest ---- */

static enum tree_order order_of(const struct tree_question *wanted)
{
	return wanted->orders & 1 << TREE_DOWN ? TREE_DOWN : TREE_UP;
}

static enum tree_order other_than(enum tree_order order)
{
	return order == TREE_DOWN ? TREE_UP : TREE_DOWN;
}

bool tree_way_question(const struct tree_question *wanted, struct tree_question *around)
{
	enum tree_order other = other_than(order_of(wanted));

	if (!wanted->find || wanted->of)
		return false;
	*around = (struct tree_question) {
		.orders = 1u << other, .recursion = wanted->recursion, .of = wanted->find,
		.hot = tree_path(other, true, 0, wanted->find),
	};
	return true;
}

/* The heaviest child; TREE_TOP: the row has none, or most of its stacks end there. */
static uint32_t heaviest_below(const struct tree_list *list, uint32_t row)
{
	uint32_t heaviest = TREE_TOP;
	uint64_t most = list->rows[row].self;

	for (uint32_t i = row + 1; i < list->count; i++)
		if (list->rows[i].parent == row && list->rows[i].total > most) {
			heaviest = i;
			most = list->rows[i].total;
		}
	return heaviest;
}

/* The end of the hot path; TREE_TOP: there is no row. */
static uint32_t end_of(const struct tree_list *list)
{
	uint32_t end = TREE_TOP;

	for (uint32_t next = list->count ? 0 : TREE_TOP; next != TREE_TOP; next = heaviest_below(list, end))
		end = next;
	return end;
}

/* The row at the top is the function's own: its row has not to be unfolded. */
void tree_way_unfold(const struct tree *around, const struct symbols *symbols, const char *kernel,
	struct tree_question *wanted)
{
	enum tree_order order = order_of(wanted);
	const struct tree_list *list = &around->lists[other_than(order)];
	uint32_t row = end_of(list);
	uint64_t path = 0;

	for (; row != TREE_TOP && list->rows[row].parent != TREE_TOP; row = list->rows[row].parent) {
		path = tree_path(order, false, path,
			tree_name(symbols_get(symbols, list->rows[row].function), kernel));
		if (wanted->unfolded_count < TREE_UNFOLDED)
			wanted->unfolded[wanted->unfolded_count++] = path;
	}
}
