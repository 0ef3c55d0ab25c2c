/* SPDX-License-Identifier: MIT */
/* The counts of a slice, summed over all its runs: each key once, in order of stack and then of who. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdbool.h>

#include "agent/store/store.h"

struct counted {
	struct store_key key;
	uint64_t samples, weight;
};

struct counts {
	struct counted *list;
	size_t count;
};

bool same_key(const struct store_key *a, const struct store_key *b);

struct counts counts_of(const struct slice *slice, const struct who_table *whos);	/* the caller frees the list */

uint64_t weight_of(const struct slice *slice);
size_t count_of(const struct slice *slice, const struct who_table *whos);

#endif
