/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/store/stacks.h"
#include "naming.h"
#include "stop.h"

void naming_clear(struct naming *naming)
{
	free(naming->functions);
	*naming = (struct naming){ 0 };
}

static uint32_t function_of(const struct stacks *stacks, struct symbols *symbols, uint32_t id)
{
	struct node node = stacks_node(stacks, id);

	return symbols_function(symbols, node.space, node.address);
}

static uint32_t rename_nodes(struct naming *naming, const struct stacks *stacks,
	struct symbols *symbols, const atomic_bool *stop)
{
	uint32_t lowest = STACKS_NONE;

	for (uint32_t i = naming->count; i-- > 0 && !stop_at(stop, i); ) {
		uint32_t function = function_of(stacks, symbols, i);

		if (function != naming->functions[i])
			lowest = i;
		naming->functions[i] = function;
	}
	return lowest;
}

uint32_t naming_update(struct naming *naming, const struct stacks *stacks, struct symbols *symbols,
	const atomic_bool *stop)
{
	uint64_t generation = symbols_generation(symbols);
	uint32_t lowest = STACKS_NONE, nodes = stacks_nodes(stacks);

	if (generation != naming->generation)
		lowest = rename_nodes(naming, stacks, symbols, stop);
	naming->generation = generation;
	if (!naming->functions)		/* the system backs what is used */
		naming->functions = util_alloc(STACKS_NODES_MAX * sizeof(*naming->functions));
	for (; naming->count < nodes && !stop_at(stop, naming->count); naming->count++)
		naming->functions[naming->count] = function_of(stacks, symbols, naming->count);
	return lowest;
}
