/* SPDX-License-Identifier: MIT */
/*
 * The call tree of an excerpt, by functions: whole, or around one function. The views of trees and flames ask for it.
 */
#ifndef CALL_TREE_H
#define CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/tree/tree.h"
#include "answer.h"

struct call_tree_request {
	struct request request;		/* its excerpt's `by` is ignored */
	struct tree_question tree;
	uint64_t line_count;
	uint64_t lines[TREE_TRENDS];	/* paths of the rows whose source line is wanted */
};

struct call_tree {
	struct answer answer;
	char kernel[64];		/* the guest's kernel; "": not known, or many machines */
	struct filter filter;		/* the request's */
	uint64_t of;			/* likewise */
	bool recursion;			/* likewise */
	uint64_t hot, below, find;	/* likewise */
	struct tree *tree;		/* NULL until the guest has told of itself */
	struct epoch **machines;	/* machine_count of them, held, for they own texts; NULL: one machine */
	size_t machine_count;
};

extern const struct answer_kind call_tree_kind;	/* until the guest tells of itself, it has no tree */

#endif
