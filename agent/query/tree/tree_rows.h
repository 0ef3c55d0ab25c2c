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

#endif
