/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/call_tree.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "tree_lines.h"

enum { BITS = 64 };

struct links {				/* of a list's rows, by index; TREE_TOP: none */
	uint32_t *first, *next;		/* `first` has one more entry: the first row at the top */
	uint64_t *more;
};

/* A parent is always before its children; any other is taken for none. */
static uint32_t parent_of(const struct tree_list *list, uint32_t row)
{
	uint32_t parent = list->rows[row].parent;

	return parent < row ? parent : TREE_TOP;
}

static struct links link_rows(const struct tree_list *list)
{
	uint32_t count = (uint32_t)list->count;
	struct links links = {
		.first = util_alloc((list->count + 1) * sizeof(*links.first)),
		.next = util_alloc((list->count + 1) * sizeof(*links.next)),
		.more = util_alloc((list->count + 1) * sizeof(*links.more)),
	};

	memset(links.first, 0xff, (list->count + 1) * sizeof(*links.first));
	for (uint32_t i = count; i-- > 0;) {
		uint32_t parent = parent_of(list, i), at = parent == TREE_TOP ? count : parent;

		links.next[i] = links.first[at];
		links.first[at] = i;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = parent_of(list, i);
		bool beyond = parent != TREE_TOP && links.next[parent] != TREE_TOP;

		links.more[i] = parent == TREE_TOP ? 0 : links.more[parent];
		if (beyond && list->rows[parent].depth < BITS)
			links.more[i] |= UINT64_C(1) << list->rows[parent].depth;
	}
	return links;
}

static void unlink_rows(struct links *links)
{
	free(links->first);
	free(links->next);
	free(links->more);
}

/* The row that is drawn after this one; TREE_TOP: it is the last. */
static uint32_t after(const struct tree_list *list, const struct links *links, uint32_t row, bool skip)
{
	if (!skip && links->first[row] != TREE_TOP)
		return links->first[row];
	while (row != TREE_TOP && links->next[row] == TREE_TOP)
		row = parent_of(list, row);
	return row == TREE_TOP ? TREE_TOP : links->next[row];
}

static bool is_idle(const struct symbols *symbols, const struct tree_row *row)
{
	const struct function *function = row->depth == 0 ? symbols_get(symbols, row->function) : NULL;

	return function && !function->known && !function->address && strcmp(function->name, "[idle]") == 0;
}

static void turn_round(struct tree_line *lines, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct tree_line line = lines[i];

		lines[i] = lines[count - 1 - i];
		lines[count - 1 - i] = line;
	}
}

/* Adds the lines of an order. `up`: they are drawn upward, and the row at the top is left out. */
static void add(struct tree_lines *lines, const struct tree *tree, enum tree_order order, bool up,
	const struct symbols *no_idle)
{
	const struct tree_list *list = &tree->lists[order];
	struct links links = link_rows(list);
	size_t from = lines->count;

	lines->lines = util_grow(lines->lines, from + list->count + 1, sizeof(*lines->lines));
	for (uint32_t row = links.first[list->count], next; row != TREE_TOP; row = next) {
		const struct tree_row *at = &list->rows[row];
		uint32_t parent = parent_of(list, row);
		bool skip = no_idle && is_idle(no_idle, at);

		next = after(list, &links, row, skip);
		if (skip || (up && parent == TREE_TOP))
			continue;
		lines->lines[lines->count++] = (struct tree_line) {
			.row = at, .parent = parent == TREE_TOP ? NULL : &list->rows[parent],
			.order = order, .up = up, .last = links.next[row] == TREE_TOP, .more = links.more[row],
		};
	}
	if (up)
		turn_round(lines->lines + from, lines->count - from);
	unlink_rows(&links);
}

void tree_lines_fill(struct tree_lines *lines, const struct tree *tree, enum tree_order order, bool around,
	const struct symbols *no_idle)
{
	lines->count = 0;
	if (around)
		add(lines, tree, TREE_UP, true, NULL);
	add(lines, tree, around ? TREE_DOWN : order, false, around ? NULL : no_idle);
}

void tree_lines_clear(struct tree_lines *lines)
{
	free(lines->lines);
	*lines = (struct tree_lines) { .count = 0 };
}

/* ---- folds ---- */

static uint32_t place_of(const struct folds *folds, uint64_t path)
{
	uint32_t place = 0;

	while (place < folds->count && folds->unfolded[place] != path)
		place++;
	return place;
}

bool folds_has(const struct folds *folds, uint64_t path)
{
	return place_of(folds, path) < folds->count;
}

bool folds_add(struct folds *folds, uint64_t path)
{
	if (folds_has(folds, path))
		return true;
	if (folds->count == TREE_UNFOLDED)
		return false;
	folds->unfolded[folds->count++] = path;
	return true;
}

/* Each row that the answer has unfolded is unfolded for itself from now on, as far as there is room. */
static void keep(struct folds *folds, const struct tree *tree)
{
	for (int order = 0; tree && order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count; i++)
			if (tree->lists[order].rows[i].unfolded)
				folds_add(folds, tree->lists[order].rows[i].path);
	folds->hot = folds->below = folds->find = 0;
}

void folds_leave(struct folds *folds, const struct tree *tree)
{
	if (folds->hot || folds->below || folds->find)
		keep(folds, tree);
}

void folds_remove(struct folds *folds, const struct tree *tree, uint64_t path)
{
	uint32_t place;

	folds_leave(folds, tree);
	place = place_of(folds, path);
	if (place == folds->count)
		return;
	memmove(&folds->unfolded[place], &folds->unfolded[place + 1],
		(folds->count - place - 1) * sizeof(*folds->unfolded));
	folds->unfolded[--folds->count] = 0;
}

void folds_wish(struct folds *folds, bool all, uint64_t path)
{
	if (folds->hot || folds->below)
		folds_add(folds, folds->hot ? folds->hot : folds->below);
	folds->hot = all ? 0 : path;
	folds->below = all ? path : 0;
}

void folds_find(struct folds *folds, uint64_t name)
{
	folds->find = name;
}

void folds_ask(const struct folds *folds, struct tree_question *question)
{
	question->hot = folds->hot;
	question->below = folds->below;
	question->find = folds->find;
	question->unfolded_count = folds->count;
	memcpy(question->unfolded, folds->unfolded, folds->count * sizeof(*folds->unfolded));
}

void folds_answered(struct folds *folds, const struct call_tree *answer)
{
	if (answer->tree && answer->hot == folds->hot && answer->below == folds->below && answer->find == folds->find)
		folds_leave(folds, answer->tree);
}
