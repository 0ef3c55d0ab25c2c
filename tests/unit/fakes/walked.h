/* SPDX-License-Identifier: MIT */
#ifndef WALKED_H
#define WALKED_H

#include <stdint.h>

#include "agent/query/query_state.h"

/*
 * How much the query has walked for a reader so far: digests made, plus slices added to one. No answer shows whether
 * other readers have undone this one's work.
 */
static inline uint64_t walked_for(const struct query *query, uint32_t reader)
{
	return query->readers[reader]->window.serial;
}

/* How many counts of the store were walked for a reader's trees so far. */
static inline uint64_t walked_for_trees(const struct query *query, uint32_t reader)
{
	return query->readers[reader]->trees[TREE_DOWN].walked + query->readers[reader]->trees[TREE_UP].walked;
}

/* How many slices were summed for a reader's time line so far. */
static inline uint64_t walked_for_series(const struct query *query, uint32_t reader)
{
	return query->readers[reader]->beside.walked;
}

#endif
