/* SPDX-License-Identifier: MIT */
/* The rows of a tree: made of the weights of places, and found in another tree. */
#ifndef TREE_ROWS_H
#define TREE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "tree.h"

struct places;
struct symbols;

struct place_weight {			/* of one key: a place itself, or what is below it while it is closed */
	uint64_t weight, samples;
};

struct tree_weights {			/* of all places, by number; borrowed */
	const struct place_weight *own, *inner;
	uint64_t whole;			/* the weight of all samples that passed the filter, in this tree or not */
};

/*
 * Fills the list of the places' order with the heaviest rows. Opens each place whose row is to be unfolded, and has not
 * been opened yet. True: there was such a one, so that keys and weights are to be found anew before rows are made
 * again. Sets tree->scarce if there is no memory.
 */
bool tree_rows_make(struct tree *tree, struct places *places, const struct tree_question *question,
	const struct tree_weights *weights);

/* ---- a row after recursion was folded, or unfolded ---- */

/*
 * Where a row is found again after recursion was folded, or unfolded: at its own path, at that of the row into which it
 * is folded, or at the nearest row on the way there.
 */

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

/* ---- the way to where a function is heaviest ---- */

/*
 * The way through a call tree to the place where a function is heaviest, by the heaviest caller of each step. The tree
 * around the function has the same stacks in the other order: what is above the function in the tree that is wanted is
 * below it there. So the hot path of that one, read from its end, is the way.
 */

/* False: no function is to be found. Else `around` is the question whose answer goes to tree_way_unfold. */
bool tree_way_question(const struct tree_question *wanted, struct tree_question *around);

/* Adds the rows on the way to those that are unfolded, as far as there is room. `kernel`: as in tree_name. */
void tree_way_unfold(const struct tree *around, const struct symbols *symbols, const char *kernel,
	struct tree_question *wanted);

#endif
