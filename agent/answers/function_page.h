/* SPDX-License-Identifier: MIT */
/*
 * All about one function in an excerpt: its callers and callees, who runs it, on which CPUs, in which modes, and its
 * lines. The view of a function asks for it. It is made of answers of other kinds, each to the same excerpt.
 */
#ifndef FUNCTION_PAGE_H
#define FUNCTION_PAGE_H

#include "answer.h"
#include "call_tree.h"
#include "function_table.h"

/*
 * PAGE_THREADS, PAGE_CPUS, PAGE_MODES: the time in which the function is in the stack, by thread, CPU and mode.
 * PAGE_LINES: the time in which it runs itself, by source line. The weight of each table is that time.
 */
enum page_table { PAGE_THREADS, PAGE_CPUS, PAGE_MODES, PAGE_LINES, PAGE_TABLES };

struct function_page_request {
	struct request request;		/* its excerpt's `by` is ignored */
	struct tree_question tree;	/* its `of` is the function */
};

struct function_page {
	struct answer answer;
	struct call_tree *tree;		/* around the function */
	struct function_table *tables[PAGE_TABLES];	/* whose own table is NULL while `tree` has none */
};

extern const struct answer_kind function_page_kind;

/* The requests that make up the page's. */
struct call_tree_request function_page_tree(const struct function_page_request *request);
struct function_request function_page_table(const struct function_page_request *request, enum page_table table);

#endif
