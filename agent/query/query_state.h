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

struct kept_tree;

/* What a room above keeps for a reader, for one kind of question at a time; freed with it. */
struct query_beside {
	void *state;
	void (*free)(void *state);	/* NULL: there is none */
	uint64_t walked;		/* slices that were summed for it so far */
};

struct kept_table {			/* of a range that seldom changes */
	struct table *table;		/* owned; NULL: none */
	uint64_t looked;		/* the window's when it was made */
	struct filter filter;
};

struct query_reader {
	struct window window;
	struct kept_table kept;
	struct kept_trends trends;
	struct kept_tree *trees[TREE_ORDERS];	/* of its last question about a tree; NULL: none */
	struct query_beside beside;
};

struct query {
	struct query_inputs inputs;
	struct node_functions nodes;		/* shared by all readers */
	struct query_reader *readers[QUERY_READERS];	/* NULL: free; QUERY_ANYBODY is always there */
	struct scan scan;			/* of the last question */
	const atomic_bool *stop;	/* see query_heed */
	uint32_t *places;		/* by function: its position in the answer that is being made, or NOWHERE */
	size_t place_count;
};

void query_tree_forget(struct query_reader *reader);	/* all that is kept of its trees */

/* What is kept for the reader under this `free`. NULL: nothing yet, or its last question was of another kind. */
void *query_beside(const struct query_reader *reader, void (*free)(void *state));
void query_keep_beside(struct query_reader *reader, void *state, void (*free)(void *state));	/* owns `state` */

/* A question may outlive its reader, as that of an answer which is exported later: then it is anybody's. */
static inline struct query_reader *query_reader(const struct query *query, const struct question *question)
{
	struct query_reader *reader = query->readers[question->reader];

	return reader ? reader : query->readers[QUERY_ANYBODY];
}

#endif
