/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/samples/sample_set.h"
#include "cost_table.h"

void cost_table_init(struct cost_table *table)
{
	*table = (struct cost_table) { 0 };
	hash_init(&table->index, NULL);
}

void cost_table_clear(struct cost_table *table)
{
	hash_clear(&table->index);
	free(table->costs);
	table->costs = NULL;
	table->count = table->room = 0;
}

struct cost *cost_table_at(struct cost_table *table, uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t value = hash_pair(&table->index, (uint64_t)a << 32 | b, c);
	uint32_t at = 0, position;
	struct cost *costs;

	while ((position = hash_next(&table->index, value, &at)) != HASH_NONE) {
		struct cost *cost = &table->costs[position];

		if (cost->key[0] == a && cost->key[1] == b && cost->key[2] == c)
			return cost;
	}
	costs = budget_array(NULL, table->costs, table->count, &table->room, sizeof(*costs));
	if (!costs)
		return NULL;
	table->costs = costs;
	if (!hash_add(&table->index, value, table->count))
		return NULL;
	costs[table->count] = (struct cost) { .key = { a, b, c }, .stack = SET_NONE };
	return &costs[table->count++];
}

static int compare(const void *left, const void *right)
{
	const struct cost *a = left, *b = right;

	for (unsigned i = 0; i < 3; i++)
		if (a->key[i] != b->key[i])
			return a->key[i] < b->key[i] ? -1 : 1;
	return 0;
}

void cost_table_sort(struct cost_table *table)
{
	if (table->count)
		qsort(table->costs, table->count, sizeof(*table->costs), compare);
}
