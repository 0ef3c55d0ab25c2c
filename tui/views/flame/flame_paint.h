/* SPDX-License-Identifier: MIT */
/*
 * Draws the cells of a flame. Where the canvas has halves, a cell begins and ends in the middle of a column, too: then
 * the cells are laid out in half columns.
 */
#ifndef FLAME_PAINT_H
#define FLAME_PAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/terminal/canvas.h"

struct flame_cell;

struct flame_paint {
	struct area area;
	bool upward;			/* the roots are at the bottom */
	bool halves;			/* columns of cells are half columns of the canvas */
};

/* The row of the canvas on which the cell is; it may be outside the area. */
int flame_paint_row(const struct flame_paint *paint, const struct flame_cell *cell);

bool flame_paint_hits(const struct flame_paint *paint, const struct flame_cell *cell, int row, int column);

/* `change`: a text at the right end, if it and enough of the name have room; "": none. */
void flame_paint_cell(const struct flame_paint *paint, struct canvas *canvas, const struct flame_cell *cell,
	uint8_t style, const char *name, const char *change);

/* Marks the columns below a cell that no cell covers, though it calls something: merged rows. To be drawn first. */
void flame_paint_merged(const struct flame_paint *paint, struct canvas *canvas, const struct flame_cell *cell);

#endif
