/* SPDX-License-Identifier: MIT */
/*
 * The sums over the range of a window. A digest is counted in when it enters the range, and counted out before it
 * leaves or changes. So an answer costs what has changed since the last one, and not what the whole range holds.
 */
#ifndef RANGE_SUMS_H
#define RANGE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/hash.h"

struct budget;
struct digest;
struct table;

enum { RANGE_DIGESTS_MOST = UINT8_MAX };	/* counted at the same time */

struct range_edge {			/* as struct digest_edge, where rows are who ran the samples */
	uint32_t row;			/* its index */
	uint32_t function;
	uint64_t weight;		/* 0: it is in no digest that is counted */
};

struct range_sums {			/* starts as { 0 } */
	struct table *table;		/* a row for each function that was in a digest; NULL: no sums */
	uint32_t *places;		/* by function: 1 + its row; 0: it has none */
	size_t place_count;
	uint32_t *digests;		/* by row: how many of those that are counted have it */
	uint64_t *ran;			/* by row: in how many it ran, a byte for each CPU; NULL: no memory */
	size_t ran_words;		/* of `ran`, for a row */
	size_t room;			/* rows, of both */
	uint32_t cpu_count;
	bool has_edges;			/* edges are kept, too */
	struct range_edge *edges;
	uint32_t edge_count, edge_room;
	uint32_t gone;			/* edges of weight 0 */
	struct hash by_pair;
	uint32_t *heaviest;		/* by row, as far as `ranked` goes: 1 + its heaviest edge; 0: it has none */
	size_t ranked;			/* 0: edges have changed since */
	uint64_t edges_refused;		/* edges that found no memory */
	bool stale;			/* it is better to count all anew */
	uint64_t changes;		/* grows with each change of what is counted */
};

void range_sums_clear(struct range_sums *sums);

/*
 * Makes the sums ready for digests with so many CPUs, and with or without edges. False: nothing is kept any
 * more, so that each digest is to be counted in anew; its `counted` is set to false first.
 */
bool range_sums_ready(struct range_sums *sums, struct budget *budget, uint32_t cpu_count, bool edges);

/* Counts a digest in or out, unless it is so already. It is not trimmed. */
void range_sums_count(struct range_sums *sums, struct digest *digest, bool in);

/* The heaviest edge of a row, told by its function's id. NULL: it has none, or edges are not kept. */
const struct range_edge *range_sums_heaviest(struct range_sums *sums, uint32_t row);

/* The table of what is counted, in no order. The caller frees it. */
struct table *range_sums_table(const struct range_sums *sums, struct budget *budget);

#endif
