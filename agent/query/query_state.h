/* SPDX-License-Identifier: MIT */
/* What the files of the query share. Used by the ingest thread only; `*stop` is set by others. */
#ifndef QUERY_STATE_H
#define QUERY_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/tree/tree.h"
#include "agent/store/store.h"
#include "query.h"
#include "scan.h"
#include "slots.h"

struct kept_tree;

struct kept_table {			/* of a baseline */
	struct table *table;		/* owned; NULL: none */
	uint64_t renewed, slices;	/* the window's when it was made */
	struct filter filter;
};

/* What a question about slots of time is about: the samples that pass a filter, and those of one function. */
struct subject {			/* starts as { 0 } */
	uint64_t renewed;		/* of the window: when it grows, names or filter have changed */
	uint64_t of;			/* the tree_name of a function; 0: none */
	bool plain;			/* everything passes, and no function is wanted */
	bool found;			/* `function` is the wanted one: a stack has it */
	uint32_t function;
	struct filter having;		/* lets the stacks pass that have the function */
	struct stack_filter holders;	/* of that filter */
};

struct query_reader {
	struct window window;
	struct kept_table kept;
	struct kept_trends trends;
	struct kept_tree *trees[TREE_ORDERS];	/* of its last question about a tree; NULL: none */
	struct subject subject;		/* of its last line or heat map */
	struct time_slots slots;		/* of that */
};

struct query {
	struct query_inputs inputs;
	struct node_functions nodes;		/* shared by all readers */
	struct query_reader *readers[QUERY_READERS];	/* NULL: free; QUERY_ANYBODY is always there */
	struct scan scans[RUN_MARKS];		/* of the last questions of as many readers */
	uint64_t scans_begun, scanned[RUN_MARKS];	/* how many so far; and when each was used last */
	struct scan *scan;			/* the one that was used last */
	const atomic_bool *stop;	/* see query_heed */
	uint32_t *places;		/* by function: its position in the answer that is being made, or NOWHERE */
	size_t place_count;
};

/* The sums for a question whose window has looked (scan_begin); they are query->scan then. */
struct scan *query_scan(struct query *query, const struct window *window, bool by_who);

void query_tree_forget(struct query_reader *reader);	/* all that is kept of its trees */

/* A question may outlive its reader, as that of an answer which is exported later: then it is anybody's. */
static inline struct query_reader *query_reader(const struct query *query, const struct question *question)
{
	struct query_reader *reader = query->readers[question->reader];

	return reader ? reader : query->readers[QUERY_ANYBODY];
}

#endif
