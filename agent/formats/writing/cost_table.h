/* SPDX-License-Identifier: MIT */
/* Sums of costs by three numbers: what a format has to add up before it can write. */
#ifndef COST_TABLE_H
#define COST_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/hash.h"

struct cost {
	uint32_t key[3];
	uint32_t stack;			/* the last stack that was added; SET_NONE: none was */
	uint64_t samples, ns;
};

struct cost_table {
	struct hash index;
	struct cost *costs;
	uint32_t count, room;
};

void cost_table_init(struct cost_table *table);
void cost_table_clear(struct cost_table *table);

/* The cost of these numbers; a new one is 0. It stays where it is until the next call. NULL: no memory. */
struct cost *cost_table_at(struct cost_table *table, uint32_t a, uint32_t b, uint32_t c);

/* Sorts the costs by their numbers. Then no more of them are made. */
void cost_table_sort(struct cost_table *table);

#endif
