/* SPDX-License-Identifier: MIT */
/* What the files of the query share. */
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
	struct table *steady;		/* of all digests but the newest; or NULL */
	uint64_t steady_mark;		/* of these */
};

struct query {
	struct query_inputs inputs;
	struct naming naming;		/* of all readers */
	struct query_reader *readers[QUERY_READERS];	/* NULL: nobody; QUERY_ANYBODY is always there */
	const atomic_bool *stop;	/* as query_heed has it */
	uint32_t *places;		/* by function: where it stands in the answer being made */
	size_t place_count;
	bool placed;			/* some stand somewhere: they are to be cleared for the next answer */
};

static inline struct query_reader *query_reader(const struct query *query, const struct question *question)
{
	return query->readers[question->reader];
}

#endif
