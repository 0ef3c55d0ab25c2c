/* SPDX-License-Identifier: MIT */
/* The rows of a call tree in the order in which they are drawn, with what is needed to draw the lines between them. */
#ifndef TREE_LINES_H
#define TREE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/tree/tree.h"

struct symbols;

struct tree_line {
	const struct tree_row *row, *parent;	/* of the answer's; parent NULL: the row is at the top */
	enum tree_order order;		/* of its list */
	bool up;			/* it is a caller, and is drawn above what it calls */
	bool last;			/* no sibling is drawn beyond it */
	uint64_t more;			/* bit d: its ancestor of depth d has siblings beyond it (d < 64) */
};

struct tree_lines {			/* starts as { 0 } */
	struct tree_line *lines;
	size_t count;
};

/*
 * Takes the rows of one order; or, with `around`, the callers, then the function itself, then what it calls.
 * `no_idle`: not NULL: the row of idle time, which these symbols name, is left out. The lines borrow the tree.
 */
void tree_lines_fill(struct tree_lines *lines, const struct tree *tree, enum tree_order order, bool around,
	const struct symbols *no_idle);
void tree_lines_clear(struct tree_lines *lines);

/* ---- folds ---- */

/*
 * Which rows of a call tree the user has unfolded. Rows are named by paths (tree.h), so this holds for all later
 * answers. When many rows are to be unfolded at once, the hot path, all below a row, or the way to a function, the
 * agent is asked for them. Once the answer to that has come, each of these rows is unfolded for itself, so that none
 * folds when numbers move.
 */

struct call_tree;

struct folds {				/* starts as { 0 } */
	uint64_t unfolded[TREE_UNFOLDED];
	uint32_t count;
	uint64_t hot, below;		/* the path from which many rows are asked for; 0: none */
	uint64_t find;			/* the tree_name of the function to which the rows are asked for; 0: none */
};

bool folds_has(const struct folds *folds, uint64_t path);
bool folds_add(struct folds *folds, uint64_t path);	/* false: there is no room for more */
void folds_remove(struct folds *folds, const struct tree *tree, uint64_t path);
/* All below the row is wanted; or the hot path from it on. Of a wish that has no answer yet, the row alone stays. */
void folds_wish(struct folds *folds, bool all, uint64_t path);
void folds_find(struct folds *folds, uint64_t name);	/* the way to where this function is heaviest */

/* Another tree is shown from now on: a wish for this one is over. What its answer has unfolded stays so. */
void folds_leave(struct folds *folds, const struct tree *tree);

void folds_ask(const struct folds *folds, struct tree_question *question);	/* fills in its part */
void folds_answered(struct folds *folds, const struct call_tree *answer);	/* it may be to an earlier question */

/* ---- tree row ---- */

/* One row of the view of trees: its columns, and the lines that lead from its parent to its name. */

struct canvas;
struct place;
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
