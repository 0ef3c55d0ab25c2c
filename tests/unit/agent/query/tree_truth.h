/* SPDX-License-Identifier: MIT */
/* Call trees, compared with what the stacks of the same question give. */
#ifndef TREE_TRUTH_H
#define TREE_TRUTH_H

#include <stdint.h>

#include "agent/query/query.h"
#include "agent/query/tree/tree.h"

struct world;

#define TREE_ALL UINT32_MAX		/* a depth that no row has */

/* Asks until the tree has all that is wanted. */
struct tree *tree_truth_ask(struct world *world, const struct question *question, const struct tree_question *wanted);

/* The rows of the tree, in all of its orders, agree with the stacks; so do the tree's sums with the table's. */
struct tree *tree_truth_check(struct world *world, const struct question *question,
	const struct tree_question *wanted);

/* Three samples: of weight 5 in main > read > copy, 3 in main > read, 2 in main > write > copy. */
void tree_truth_take_three(struct world *world, uint64_t time);

#endif
