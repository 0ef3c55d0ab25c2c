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

#endif
