/* SPDX-License-Identifier: MIT */
/* One row of the view of trees: its columns, and the lines that lead from its parent to its name. */
#ifndef TREE_ROW_H
#define TREE_ROW_H

#include <stdbool.h>

#include "agent/query/tree/tree.h"

struct canvas;
struct place;
struct symbols;
struct tree_line;
struct view_way;

struct tree_columns {			/* from column, width; width 0: it is left out */
	struct { int column, width; } total, change, parent, self, trend, name, source, object;
};

/* Those that fit; the least important are left out first. `change`: there is a baseline. */
struct tree_columns tree_columns(int columns, bool change);

void tree_row_heads(struct canvas *canvas, struct place place, const struct tree_columns *columns, const char *name);

struct tree_row_look {
	const struct tree *tree;
	const struct symbols *symbols;
	const char *match;		/* to be marked in the name; "": nothing */
};
void tree_row_draw(struct canvas *canvas, struct place place, const struct tree_columns *columns,
	const struct tree_line *line, const struct tree_row_look *look);

/* The way to a row of this order (tab_row.h): the names from the top to it. */
void tree_row_way(const struct tree *tree, enum tree_order order, const struct tree_row *row,
	const struct symbols *symbols, struct view_way *way);

/* A share in percent: "12.34"; "~" before it: it rests on fewer than about 30 samples. */
enum { TREE_SHARE = 16 };
const char *tree_row_share(uint64_t part, uint64_t whole, uint64_t samples, char text[TREE_SHARE]);

/*
 * The share of the time in which the row's function ran itself. "": it has none there, as a caller of the function that
 * ran, in TREE_UP.
 */
const char *tree_row_self(const struct tree_row *row, enum tree_order order, uint64_t weight, char text[TREE_SHARE]);

/* " (+1.20)": the change of the row's total since the baseline; "": none is known. */
const char *tree_row_change(const struct tree *tree, const struct tree_row *row, char text[TREE_SHARE]);

#endif
