/* SPDX-License-Identifier: MIT */
#include "agent/query/tree/tree.h"
#include "tui/terminal/theme.h"
#include "flame_cells.h"
#include "flame_paint.h"

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

int flame_paint_row(const struct flame_paint *paint, const struct flame_cell *cell)
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
