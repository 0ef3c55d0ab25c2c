/* SPDX-License-Identifier: MIT */
/* Where the rows of a call tree are in a flame. */
#ifndef FLAME_CELLS_H
#define FLAME_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/tree/tree.h"
#include "tui/terminal/canvas.h"

struct symbols;

struct flame_cell {
	const struct tree_row *row;	/* of the list */
	const struct tree_row *parent;	/* NULL: at the top */
	int column, width;		/* in columns; `level` rows from the top */
	int level;
};

struct flame_cells {			/* starts as { 0 } */
	struct flame_cell *cells;	/* level by level of a parent, and from left to right in it */
	size_t count;
	size_t merged;			/* rows narrower than a column, which have no cell */
};

struct flame_shape {
	int columns;
	uint64_t zoom;			/* the path of the row that is as wide as the flame; 0, or gone: all is shown */
	uint64_t left_out;		/* the path of a row at the top that is left out; 0: none */
};

void flame_cells_fill(struct flame_cells *cells, const struct tree *tree, const struct tree_list *list,
	const struct symbols *symbols, struct flame_shape shape);
void flame_cells_clear(struct flame_cells *cells);

/* ---- how they are painted ---- */

/*
 * Draws the cells of a flame. Where the canvas has halves, a cell begins and ends in the middle of a column, too: then
 * the cells are laid out in half columns.
 */

struct flame_cell;

struct flame_paint {
	struct area area;
	bool upward;			/* the roots are at the bottom */
	bool halves;			/* columns of cells are half columns of the canvas */
};

bool flame_paint_hits(const struct flame_paint *paint, const struct flame_cell *cell, int row, int column);

/* `change`: a text at the right end, if it and enough of the name have room; "": none. */
void flame_paint_cell(const struct flame_paint *paint, struct canvas *canvas, const struct flame_cell *cell,
	uint8_t style, const char *name, const char *change);

/* Marks the columns below a cell that no cell covers, though it calls something: merged rows. To be drawn first. */
void flame_paint_merged(const struct flame_paint *paint, struct canvas *canvas, const struct flame_cell *cell);

/* ---- flame detail ---- */

/* The line below a flame: the name of the cell under the cursor, and as much about it as there is room for. */

struct canvas;
struct place;

struct flame_detail {
	const struct tree *tree;
	enum tree_order order;		/* of the list that is drawn */
	const struct symbols *symbols;
	const struct flame_cell *cell;
	size_t merged;			/* cells that were too narrow */
	const char *match;		/* the share of names with this is told; "": none */
};

void flame_detail_draw(struct canvas *canvas, struct place place, const struct flame_detail *detail);

#endif
