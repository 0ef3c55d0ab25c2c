/* SPDX-License-Identifier: MIT */
/* Compares a call tree with another one: the baseline. Rows are told by their paths. */
#ifndef TREE_COMPARE_H
#define TREE_COMPARE_H

#include "tree.h"

struct change;

/*
 * The question to be asked about the baseline's range, whose answer goes to tree_compare: it unfolds what the tree has
 * unfolded, as far as there is room.
 */
void tree_compare_question(const struct tree *tree, const struct tree_question *wanted, struct tree_question *question);

/*
 * `with` becomes the baseline of the tree. Rows that only `with` has are added, with totals of 0, each behind its
 * siblings. A row without `based` is one that `with` did not unfold, or left out.
 */
void tree_compare(struct tree *tree, const struct tree *with);

/* How a row's total has changed. Only for rows with `based`. */
struct change tree_total_change(const struct tree *tree, const struct tree_row *row);

#endif
