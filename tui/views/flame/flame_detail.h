/* SPDX-License-Identifier: MIT */
/* The line below a flame: the name of the cell under the cursor, and as much about it as there is room for. */
#ifndef FLAME_DETAIL_H
#define FLAME_DETAIL_H

#include <stddef.h>

#include "agent/query/tree/tree.h"

struct canvas;
struct flame_cell;
struct place;
struct symbols;

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
