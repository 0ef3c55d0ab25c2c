/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "tui/frame/list.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "tui/views/tree/tree_lines.h"
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

/* ---- how they are painted ---- */

enum { NAME_LEAST = 8, NAMED = 4 };	/* columns that a change leaves for the name; those of a cell with a name */

struct stretch {			/* of a cell, in columns of the canvas: from <= column < to are whole ones */
	int from, to;
	bool half_before, half_after;	/* half a column beside them is the cell's, too */
};

static struct stretch stretch_of(const struct flame_paint *paint, const struct flame_cell *cell)
{
	int from = cell->column, to = cell->column + cell->width, at = paint->area.column;

	if (!paint->halves)
		return (struct stretch) { at + from, at + to, false, false };
	return (struct stretch) { at + (from + 1) / 2, at + to / 2, from % 2, to % 2 };
}

/* The row of the canvas on which the cell is; it may be outside the area. */
static int flame_paint_row(const struct flame_paint *paint, const struct flame_cell *cell)
{
	return paint->area.row + (paint->upward ? paint->area.rows - 1 - cell->level : cell->level);
}

bool flame_paint_hits(const struct flame_paint *paint, const struct flame_cell *cell, int row, int column)
{
	struct stretch stretch = stretch_of(paint, cell);

	return cell->level < paint->area.rows && flame_paint_row(paint, cell) == row &&
		column >= stretch.from - stretch.half_before && column < stretch.to + stretch.half_after;
}

/* The change stands at the right end. Returns how many columns it takes. */
static int draw_change(struct canvas *canvas, struct place place, uint8_t style, const char *change)
{
	int width = canvas_width(canvas, change) + 1;

	if (!*change || place.width < NAME_LEAST + width)
		return 0;
	canvas_right(canvas, place, style, change);
	return width;
}

void flame_paint_cell(const struct flame_paint *paint, struct canvas *canvas, const struct flame_cell *cell,
	uint8_t style, const char *name, const char *change)
{
	struct stretch stretch = stretch_of(paint, cell);
	struct place place = { flame_paint_row(paint, cell), stretch.from, stretch.to - stretch.from };

	if (cell->level >= paint->area.rows)
		return;
	if (stretch.half_before)
		canvas_half(canvas, (struct place) { place.row, stretch.from - 1, 1 }, true, style);
	if (stretch.half_after)
		canvas_half(canvas, (struct place) { place.row, stretch.to, 1 }, false, style);
	for (int column = stretch.from; column < stretch.to; column++)
		canvas_put(canvas, (struct place) { place.row, column, 1 }, style, ' ');
	if (!stretch.half_before && place.width > 0)
		canvas_put(canvas, place, style, canvas->unicode ? 0x258f : '|');
	if (place.width < NAMED)
		return;
	if (!stretch.half_before) {
		place.column++;
		place.width--;
	}
	place.width -= draw_change(canvas, place, style, change);
	canvas_middle(canvas, place, style, name);
}

void flame_paint_merged(const struct flame_paint *paint, struct canvas *canvas, const struct flame_cell *cell)
{
	struct stretch stretch = stretch_of(paint, cell);
	struct place place = { flame_paint_row(paint, cell) + (paint->upward ? -1 : 1), stretch.from, 1 };
	int columns;

	if (cell->level + 1 >= paint->area.rows || !cell->row->has_more || cell->row->self >= cell->row->total)
		return;
	columns = (int)((double)(stretch.to - stretch.from) *
		(1 - (double)cell->row->self / (double)cell->row->total));
	for (; columns > 0; columns--, place.column++)
		canvas_put(canvas, place, STYLE_DIM, canvas->unicode ? 0x2026 : '.');
}

/* ---- flame detail ---- */

enum { TEXT = 512, MOST_KEPT = 9 };

static const char *name_of(const struct flame_detail *detail, const struct tree_row *row)
{
	return symbols_get(detail->symbols, row->function)->name;
}

/* The share of the topmost rows whose names have the pattern. */
static uint64_t matches_of(const struct flame_detail *detail)
{
	const struct tree_list *list = &detail->tree->lists[detail->order];
	uint64_t sum = 0;

	for (size_t i = 0; i < list->count; i++) {
		bool counts = list_match(name_of(detail, &list->rows[i]), detail->match);

		for (uint32_t at = list->rows[i].parent; counts && at < i; at = list->rows[at].parent)
			counts = !list_match(name_of(detail, &list->rows[at]), detail->match);
		sum += counts ? list->rows[i].total : 0;
	}
	return sum;
}

/* What is left of a place. */
static struct place past(struct place place, int used)
{
	return (struct place) { place.row, place.column + used, place.width - used };
}

/* A part of the line. Where there is no room for all of them, the least important ones are left out whole. */
struct part {
	int keep;			/* its importance; 0: it is left out */
	char text[TEXT];
};

enum { PART_SHARE, PART_PARENT, PART_SELF, PART_SAMPLES, PART_MATCHES, PART_LINE, PART_OBJECT, PART_MERGED, PARTS };

static __attribute__((format(printf, 3, 4))) void add_part(struct part *part, int keep, const char *format, ...)
{
	va_list arguments;

	part->keep = keep;
	va_start(arguments, format);
	vsnprintf(part->text, sizeof(part->text), format, arguments);
	va_end(arguments);
}

static void write_parts(const struct flame_detail *detail, struct part parts[PARTS])
{
	const struct tree *tree = detail->tree;
	const struct tree_row *row = detail->cell->row;
	char share[TREE_SHARE], change[TREE_SHARE];

	add_part(&parts[PART_SHARE], MOST_KEPT, "  %s%% of all%s",
		tree_row_share(row->total, tree->weight, row->samples, share), tree_row_change(tree, row, change));
	if (detail->cell->parent)
		add_part(&parts[PART_PARENT], 4, ", %s%% of %s",
			tree_row_share(row->total, detail->cell->parent->total, row->samples, share),
			name_of(detail, detail->cell->parent));
	if (*tree_row_self(row, detail->order, tree->weight, share))
		add_part(&parts[PART_SELF], 7, ", self %s%%", share);
	add_part(&parts[PART_SAMPLES], 5, ", %llu sample%s", (unsigned long long)row->samples,
		util_plural(row->samples));
	if (detail->match[0])
		add_part(&parts[PART_MATCHES], 8, "  matches %s%%",
			tree_row_share(matches_of(detail), tree->weight, UINT64_MAX, share));
	if (row->line && *row->line)
		add_part(&parts[PART_LINE], 3, "  %s", row->line);
	add_part(&parts[PART_OBJECT], 2, "  %s", symbols_get(detail->symbols, row->function)->object);
	add_part(&parts[PART_MERGED], 6, "  merged cells: %zu", detail->merged);
}

/* Leaves parts out until the others fit beside the name, or beside half of the room for it. Returns their columns. */
static int fit_parts(const struct canvas *canvas, struct part parts[PARTS], int name, int columns)
{
	int used = 0;

	for (int i = 0; i < PARTS; i++)
		used += parts[i].keep ? canvas_width(canvas, parts[i].text) : 0;
	for (int keep = 1; keep <= MOST_KEPT; keep++)
		for (int i = 0; i < PARTS && used + name > columns && used * 2 > columns; i++)
			if (parts[i].keep == keep) {
				used -= canvas_width(canvas, parts[i].text);
				parts[i].keep = 0;
			}
	return used;
}

void flame_detail_draw(struct canvas *canvas, struct place place, const struct flame_detail *detail)
{
	const char *name = name_of(detail, detail->cell->row);
	uint8_t style = detail->tree->scarce ? STYLE_WARN : STYLE_TITLE;
	struct part parts[PARTS] = { { .keep = 0 } };
	int room;

	if (detail->tree->scarce)
		place = past(place, canvas_text(canvas, place, style, "memory is short: cells are missing  "));
	write_parts(detail, parts);
	room = place.width - fit_parts(canvas, parts, canvas_width(canvas, name), place.width);
	place = past(place, canvas_middle(canvas, (struct place) { place.row, place.column, room }, style, name));
	for (int i = 0; i < PARTS; i++)
		if (parts[i].keep)
			place = past(place, canvas_text(canvas, place, style, parts[i].text));
}
