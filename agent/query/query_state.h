/* SPDX-License-Identifier: MIT */
/* What the files of the query share. Used by the ingest thread only; `*stop` is set by others. */
#ifndef QUERY_STATE_H
#define QUERY_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/store/fine_ranges.h"
#include "query.h"
#include "tree_sums.h"
#include "window.h"

_Static_assert((int)NODE_READERS == (int)QUERY_READERS, "each reader is told of names");

/* What a room above keeps for a reader, for one kind of question at a time; freed with it. */
struct query_beside {
	void *state;
	void (*free)(void *state);	/* NULL: there is none */
	uint64_t walked;		/* slices that were summed for it so far */
};

struct trend {				/* of one function */
	uint32_t function;
	bool asked;			/* about it, since the seconds have changed */
	uint64_t seconds[TABLE_TREND];
};

struct trends {				/* of functions that were asked about lately */
	uint64_t updated;		/* window.updated when these were last compared with the digests */
	uint64_t end;			/* the second after their last one */
	uint64_t marks[TABLE_TREND];	/* by second: tells whether its digests have changed since */
	struct trend *list;
	uint32_t count, room;
};

struct kept_table {			/* of the sums of a range that seldom change */
	struct table *table;		/* owned; NULL: none */
	uint64_t changes;		/* that of the sums when it was made */
	struct filter filter;
};

struct query_reader {
	struct window window;
	struct kept_table kept;
	struct trends trends;
	struct tree_sums trees[TREE_ORDERS];	/* of its last question about a tree; { 0 }: none */
	struct query_beside beside;
};

struct query {
	struct query_inputs inputs;
	struct node_functions nodes;		/* shared by all readers, as are these: */
	struct fine_ranges fine;
	struct query_reader *readers[QUERY_READERS];	/* NULL: free; QUERY_ANYBODY is always there */
	const atomic_bool *stop;	/* see query_heed */
	uint32_t *places;		/* by function: its position in the answer that is being made */
	size_t place_count;
	bool placed;			/* some are set, and must be cleared for the next answer */
};

/* What is kept for the reader under this `free`. NULL: nothing yet, or its last question was of another kind. */
void *query_beside(const struct query_reader *reader, void (*free)(void *state));
void query_keep_beside(struct query_reader *reader, void *state, void (*free)(void *state));	/* owns `state` */

static inline struct query_reader *query_reader(const struct query *query, const struct question *question)
{
	return query->readers[question->reader];
}

#endif
