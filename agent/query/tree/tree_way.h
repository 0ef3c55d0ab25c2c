/* SPDX-License-Identifier: MIT */
/*
 * The way through a call tree to the place where a function is heaviest, by the heaviest caller of each step. The tree
 * around the function has the same stacks in the other order: what is above the function in the tree that is wanted is
 * below it there. So the hot path of that one, read from its end, is the way.
 */
#ifndef TREE_WAY_H
#define TREE_WAY_H

#include "tree.h"

struct symbols;

/* False: no function is to be found. Else `around` is the question whose answer goes to tree_way_unfold. */
bool tree_way_question(const struct tree_question *wanted, struct tree_question *around);

/* Adds the rows on the way to those that are unfolded, as far as there is room. `kernel`: as in tree_name. */
void tree_way_unfold(const struct tree *around, const struct symbols *symbols, const char *kernel,
	struct tree_question *wanted);

#endif
