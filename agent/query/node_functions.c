/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/contexts.h"
#include "agent/store/stacks.h"
#include "node_functions.h"
#include "stop.h"

void node_functions_init(struct node_functions *nodes)
{
	*nodes = (struct node_functions) { 0 };
	for (int i = 0; i < NODE_READERS; i++)
		nodes->changed[i] = STACKS_NONE;
}

void node_functions_clear(struct node_functions *nodes)
{
	free(nodes->functions);
	free(nodes->contexts);
	free(nodes->outermost);
	free(nodes->begun);
	node_functions_init(nodes);
}

enum { AHEAD = 8 };			/* nodes whose functions are fetched before they are looked up */

static void fetch(const struct stacks *stacks, const struct symbols *symbols, uint32_t id)
{
	struct node node = stacks_node(stacks, id);

	symbols_fetch(symbols, node.space, node.address);
}

static uint32_t function_of(const struct stacks *stacks, struct symbols *symbols, uint32_t id)
{
	struct node node = stacks_node(stacks, id);

	return symbols_function(symbols, node.space, node.address);
}

/* Cuts the node off from a caller that cannot be any. True: whether it is cut off has changed. */
static bool check_caller(struct stacks *stacks, struct symbols *symbols, uint32_t id)
{
	struct node node = stacks_node(stacks, id), caller;
	enum returning returning;

	if (node.walked == STACKS_NONE)
		return false;
	caller = stacks_node(stacks, node.walked);
	if (!caller.returned || caller.space != node.space)
		return false;
	returning = symbols_returning(symbols, node.space, caller.address, node.address, node.returned);
	return stacks_cut_off(stacks, id, returning == RETURNING_NEVER || (returning == RETURNING_NOWHERE &&
		(caller.walked == STACKS_NONE || stacks_node(stacks, caller.walked).space != caller.space)));
}

/* Looks all functions up again. Returns the lowest node whose function or caller is another one; STACKS_NONE: none. */
static uint32_t rename_nodes(struct node_functions *nodes, struct stacks *stacks,
	struct symbols *symbols, const atomic_bool *stop)
{
	uint32_t lowest = STACKS_NONE;

	for (uint32_t i = nodes->count; i-- > 0 && !stop_at(stop, i);) {
		uint32_t function = function_of(stacks, symbols, i);

		if (check_caller(stacks, symbols, i) || function != nodes->functions[i])
			lowest = i;
		nodes->functions[i] = function;
	}
	return lowest;
}

/* Notes for each reader that the nodes from `changed` on may have other functions. */
static void tell_all(struct node_functions *nodes, uint32_t changed)
{
	for (int i = 0; i < NODE_READERS; i++)
		if (changed < nodes->changed[i])
			nodes->changed[i] = changed;
	if (changed < nodes->context_count)
		nodes->context_count = changed;
	if (changed < nodes->outermost_count)
		nodes->outermost_count = changed;
}

uint32_t node_functions_update(struct node_functions *nodes, uint32_t reader, struct stacks *stacks,
	struct symbols *symbols, const atomic_bool *stop)
{
	uint64_t generation = symbols_generation(symbols);
	uint32_t changed, count = stacks_nodes(stacks);

	if (generation != nodes->generation)
		tell_all(nodes, rename_nodes(nodes, stacks, symbols, stop));
	nodes->generation = generation;
	if (!nodes->functions)		/* the system backs the pages in use */
		nodes->functions = util_alloc(STACKS_NODES_MAX * sizeof(*nodes->functions));
	for (; nodes->count < count && !stop_at(stop, nodes->count); nodes->count++) {
		if (nodes->count + AHEAD < count)
			fetch(stacks, symbols, nodes->count + AHEAD);
		nodes->functions[nodes->count] = function_of(stacks, symbols, nodes->count);
		check_caller(stacks, symbols, nodes->count);
	}
	changed = nodes->changed[reader];
	nodes->changed[reader] = STACKS_NONE;
	return changed;
}

/* The context that a function begins. Its names never change. */
static enum context begun_by(struct node_functions *nodes, const struct symbols *symbols, uint32_t function)
{
	size_t count = symbols_functions(symbols);

	if (function >= nodes->begun_count) {
		nodes->begun = util_grow(nodes->begun, count, sizeof(*nodes->begun));
		memset(nodes->begun + nodes->begun_count, 0, count - nodes->begun_count);
		nodes->begun_count = (uint32_t)count;
	}
	if (!nodes->begun[function])
		nodes->begun[function] = (uint8_t)(context_of_function(symbols_get(symbols, function)) + 1);
	return (enum context)(nodes->begun[function] - 1);
}

const uint8_t *node_functions_contexts(struct node_functions *nodes, const struct stacks *stacks,
	const struct symbols *symbols, const atomic_bool *stop)
{
	if (!nodes->contexts)		/* the system backs the pages in use */
		nodes->contexts = util_alloc(STACKS_NODES_MAX * sizeof(*nodes->contexts));
	for (; nodes->context_count < nodes->count && !stop_at(stop, nodes->context_count); nodes->context_count++) {
		uint32_t parent = stacks_node(stacks, nodes->context_count).parent;
		enum context context = begun_by(nodes, symbols, nodes->functions[nodes->context_count]);

		if (context == CONTEXT_UNTOLD)
			context = parent == STACKS_NONE ? CONTEXT_TASK : (enum context)nodes->contexts[parent];
		nodes->contexts[nodes->context_count] = (uint8_t)context;
	}
	return nodes->contexts;
}

const uint8_t *node_functions_outermost(struct node_functions *nodes, const struct stacks *stacks)
{
	const struct node *list = stacks_list(stacks);

	if (!nodes->outermost)		/* the system backs the pages in use */
		nodes->outermost = util_alloc(STACKS_NODES_MAX * sizeof(*nodes->outermost));
	for (; nodes->outermost_count < nodes->count; nodes->outermost_count++) {
		uint32_t id = nodes->outermost_count, above = list[id].parent;

		while (above != STACKS_NONE && nodes->functions[above] != nodes->functions[id])
			above = list[above].parent;
		nodes->outermost[id] = above == STACKS_NONE;
	}
	return nodes->outermost;
}

bool node_functions_is_current(const struct node_functions *nodes, uint32_t reader, const struct symbols *symbols)
{
	return nodes->generation == symbols_generation(symbols) && nodes->changed[reader] == STACKS_NONE;
}

void node_functions_forget(struct node_functions *nodes)
{
	nodes->count = 0;
	tell_all(nodes, 0);
}
