/* SPDX-License-Identifier: MIT */
/* What the files of the query share. Used by the ingest thread only; `*stop` is set by others. */
#ifndef QUERY_STATE_H
#define QUERY_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"
#include "window.h"

_Static_assert((int)NAMING_READERS == (int)QUERY_READERS, "each reader is told of names");

struct query_reader {
	struct window window;
	struct table *steady;		/* the sum of all digests but the newest; NULL: none */
	uint64_t steady_mark;		/* changes whenever one of these digests does */
};

struct query {
	struct query_inputs inputs;
	struct naming naming;		/* shared by all readers */
	struct query_reader *readers[QUERY_READERS];	/* NULL: free; QUERY_ANYBODY is always there */
	const atomic_bool *stop;	/* see query_heed */
	uint32_t *places;		/* by function: its position in the answer that is being made */
	size_t place_count;
	bool placed;			/* some are set, and must be cleared for the next answer */
};

static inline struct query_reader *query_reader(const struct query *query, const struct question *question)
{
	return query->readers[question->reader];
}

#endif
