/* SPDX-License-Identifier: MIT */
/* Where the rows of a call tree are in a flame. */
#ifndef FLAME_CELLS_H
#define FLAME_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/query/tree/tree.h"

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

#endif
