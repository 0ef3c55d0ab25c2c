/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "flame_cells.h"

struct span {				/* of a row, in columns; width below 0: it is not shown */
	double from, width;
};

struct sibling {
	uint32_t row, parent;
	const char *name;
	uint64_t path;
};

/* By parent, those at the top first; then by name. */
static int by_name(const void *left, const void *right)
{
	const struct sibling *a = left, *b = right;
	uint32_t one = a->parent + 1, other = b->parent + 1;	/* TREE_TOP becomes 0 */
	int order = strcmp(a->name, b->name);

	if (one != other)
		return one < other ? -1 : 1;
	return order ? order : (a->path > b->path) - (a->path < b->path);
}

static struct sibling *sort_rows(const struct tree_list *list, const struct symbols *symbols)
{
	struct sibling *rows = util_alloc((list->count + 1) * sizeof(*rows));

	for (uint32_t i = 0; i < list->count; i++) {
		const struct tree_row *row = &list->rows[i];

		rows[i] = (struct sibling) { i, row->parent < i ? row->parent : TREE_TOP,
			symbols_get(symbols, row->function)->name, row->path };
	}
	qsort(rows, list->count, sizeof(*rows), by_name);
	return rows;
}

/* The row with this path; list->count: there is none. */
static uint32_t row_of(const struct tree_list *list, uint64_t path)
{
	uint32_t row = 0;

	while (row < list->count && list->rows[row].path != path)
		row++;
	return row;
}

/* Marks the zoomed row and those above it: they are as wide as the flame, and their siblings are not shown. */
static void mark_zoomed(const struct tree_list *list, uint64_t path, bool *wide)
{
	uint32_t row = path ? row_of(list, path) : (uint32_t)list->count;

	while (row < list->count) {
		wide[row] = true;
		row = list->rows[row].parent < row ? list->rows[row].parent : TREE_TOP;
	}
}

/* Lays out the children of one parent, from rows[at] on. Returns the index behind them. */
static size_t lay_out(const struct tree_list *list, const struct sibling *rows, size_t at, const bool *wide,
	struct span *spans, struct span parent, uint64_t whole, uint64_t left_out)
{
	uint32_t of = rows[at].parent;
	bool zoomed = false;
	size_t end = at;

	for (; end < list->count && rows[end].parent == of; end++)
		zoomed = zoomed || wide[rows[end].row];
	for (; at < end; at++) {
		const struct tree_row *row = &list->rows[rows[at].row];
		struct span *span = &spans[rows[at].row];

		span->width = -1;
		if (parent.width < 0 || (zoomed && !wide[rows[at].row]) || (of == TREE_TOP && row->path == left_out))
			continue;
		*span = parent;
		if (!zoomed)
			span->width = whole ? parent.width * (double)row->total / (double)whole : 0;
		parent.from += zoomed ? 0 : span->width;
	}
	return end;
}

static void add_cell(struct flame_cells *cells, const struct tree_list *list, const struct sibling *at,
	struct span span)
{
	const struct tree_row *row = &list->rows[at->row];
	int from = (int)(span.from + 0.5), to = (int)(span.from + span.width + 0.5);

	if (span.width < 0 || !row->total)	/* a row that is gone since the baseline has no width */
		return;
	if (span.width < 1) {
		cells->merged++;
		return;
	}
	cells->cells[cells->count++] = (struct flame_cell) {
		.row = row, .parent = at->parent == TREE_TOP ? NULL : &list->rows[at->parent],
		.column = from, .width = to > from ? to - from : 1, .level = (int)row->depth,
	};
}

void flame_cells_fill(struct flame_cells *cells, const struct tree *tree, const struct tree_list *list,
	const struct symbols *symbols, struct flame_shape shape)
{
	struct sibling *rows = sort_rows(list, symbols);
	struct span *spans = util_alloc((list->count + 1) * sizeof(*spans)), all = { 0, shape.columns };
	bool *wide = util_alloc(list->count + 1);
	uint32_t left_out = shape.left_out ? row_of(list, shape.left_out) : (uint32_t)list->count;
	uint64_t whole = tree->weight - (left_out < list->count ? list->rows[left_out].total : 0);

	mark_zoomed(list, shape.zoom, wide);
	cells->cells = util_grow(cells->cells, list->count + 1, sizeof(*cells->cells));
	cells->count = cells->merged = 0;
	for (size_t at = 0; at < list->count;) {	/* rows are sorted by their parents, which come before them */
		uint32_t of = rows[at].parent;

		at = lay_out(list, rows, at, wide, spans, of == TREE_TOP ? all : spans[of],
			of == TREE_TOP ? whole : list->rows[of].total, shape.left_out);
	}
	for (size_t at = 0; at < list->count; at++)
		add_cell(cells, list, &rows[at], spans[rows[at].row]);
	free(rows);
	free(spans);
	free(wide);
}

void flame_cells_clear(struct flame_cells *cells)
{
	free(cells->cells);
	*cells = (struct flame_cells) { .count = 0 };
}
