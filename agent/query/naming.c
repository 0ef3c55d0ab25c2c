/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/store/stacks.h"
#include "naming.h"
#include "stop.h"

void naming_init(struct naming *naming)
{
	*naming = (struct naming) { 0 };
	for (int i = 0; i < NAMING_READERS; i++)
		naming->changed[i] = STACKS_NONE;
}

void naming_clear(struct naming *naming)
{
	free(naming->functions);
	naming_init(naming);
}

static uint32_t function_of(const struct stacks *stacks, struct symbols *symbols, uint32_t id)
{
	struct node node = stacks_node(stacks, id);

	return symbols_function(symbols, node.space, node.address);
}

/* Looks all functions up again. Returns the lowest node whose function has changed; STACKS_NONE: none has. */
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

/* Notes for each reader that the nodes from `changed` on may have other functions. */
static void tell_all(struct naming *naming, uint32_t changed)
{
	for (int i = 0; i < NAMING_READERS; i++)
		if (changed < naming->changed[i])
			naming->changed[i] = changed;
}

uint32_t naming_update(struct naming *naming, uint32_t reader, const struct stacks *stacks,
	struct symbols *symbols, const atomic_bool *stop)
{
	uint64_t generation = symbols_generation(symbols);
	uint32_t changed, nodes = stacks_nodes(stacks);

	if (generation != naming->generation)
		tell_all(naming, rename_nodes(naming, stacks, symbols, stop));
	naming->generation = generation;
	if (!naming->functions)		/* the system backs the pages in use */
		naming->functions = util_alloc(STACKS_NODES_MAX * sizeof(*naming->functions));
	for (; naming->count < nodes && !stop_at(stop, naming->count); naming->count++)
		naming->functions[naming->count] = function_of(stacks, symbols, naming->count);
	changed = naming->changed[reader];
	naming->changed[reader] = STACKS_NONE;
	return changed;
}

bool naming_is_current(const struct naming *naming, uint32_t reader, const struct symbols *symbols)
{
	return naming->generation == symbols_generation(symbols) && naming->changed[reader] == STACKS_NONE;
}

void naming_forget(struct naming *naming)
{
	naming->count = 0;
	tell_all(naming, 0);
}
