/* SPDX-License-Identifier: MIT */
/* Call trees: rows that fold and unfold, with the same weights as the stacks of query_stacks. */
#ifndef QUERY_TREE_H
#define QUERY_TREE_H

#include "agent/query/tree/tree.h"

struct query;
struct question;

/*
 * Makes a tree, owned by the caller; never NULL. The question is by function; words of its filter without a colon are
 * ignored. `kernel`: the name of the guest's kernel, which is in the paths. The reader of the question keeps what makes
 * the next answer cheap, for one question about a tree.
 */
struct tree *query_tree(struct query *query, const struct question *question, const struct tree_question *wanted,
	const char *kernel);

#endif
