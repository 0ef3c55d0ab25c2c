/* SPDX-License-Identifier: MIT */
#ifndef WALKED_H
#define WALKED_H

#include <stdint.h>

#include "agent/query/query_state.h"

/* How many slices were summed for a reader's time line so far. */
static inline uint64_t walked_for_series(const struct query *query, uint32_t reader)
{
	return query->readers[reader]->slots.walked;
}

#endif
