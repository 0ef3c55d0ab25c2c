/* SPDX-License-Identifier: MIT */
/*
 * Where a row is found again after recursion was folded, or unfolded: at its own path, at that of the row into which it
 * is folded, or at the nearest row on the way there.
 */
#ifndef TREE_FOLD_H
#define TREE_FOLD_H

#include <stdbool.h>

#include "tree.h"

struct symbols;

enum {
	TREE_FOLD = 130,		/* as many paths as a row has on its way, and its own */
	TREE_FOLD_WAY = 2,		/* the first one of the way; those before are the row's own */
};

struct tree_fold {			/* starts as { 0 } */
	uint32_t count;			/* 0: nothing is looked for */
	uint64_t paths[TREE_FOLD];	/* the best one first: the row's own */
};

/* Of a row of this list, in the tree around a function if `around`. `kernel`: as in tree_name. */
void tree_fold_of(struct tree_fold *fold, const struct tree_list *list, const struct tree_row *row,
	enum tree_order order, bool around, const struct symbols *symbols, const char *kernel);

/* The best path that has a row; 0: none has. Once it is the row itself, nothing is looked for any more. */
uint64_t tree_fold_find(struct tree_fold *fold, const struct tree_list *list);

#endif
