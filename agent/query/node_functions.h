/* SPDX-License-Identifier: MIT */
/*
 * The function of every node of a call tree: looked up once, and again when symbols change; and whether its caller can
 * be one. And for those who ask, where in the kernel each node is.
 */
#ifndef NODE_FUNCTIONS_H
#define NODE_FUNCTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct stacks;
struct symbols;

enum { NODE_READERS = 20 };		/* as many as a query has */

struct node_functions {
	uint32_t *functions;		/* by node; the tree has paid for the memory (stacks.c) */
	uint32_t count;			/* of nodes with a function */
	uint64_t generation;		/* of the symbols that they are from */
	uint8_t *contexts;		/* by node: enum context, never UNTOLD; paid for likewise */
	uint32_t context_count;		/* of nodes with a context */
	uint8_t *outermost;		/* by node: 1: no function above it is the same; paid for likewise */
	uint32_t outermost_count;
	uint8_t *begun;			/* by function: the context that it begins, plus 1; 0: not asked yet */
	uint32_t begun_count;
	uint32_t changed[NODE_READERS];	/* for each reader, what node_functions_update will return to it */
};

void node_functions_init(struct node_functions *nodes);
void node_functions_clear(struct node_functions *nodes);

/*
 * Looks up what is new, and cuts nodes off from callers that cannot be any (symbols_returning). Returns the lowest
 * node whose function or caller has changed since this reader was told last, or STACKS_NONE. A stack whose leaf is
 * below that node means what it meant, since callers have lower ids.
 * If `stop` was set, the result is not complete: call node_functions_forget.
 */
uint32_t node_functions_update(struct node_functions *nodes, uint32_t reader, struct stacks *stacks,
	struct symbols *symbols, const atomic_bool *stop);

/*
 * The context of each node, by its functions (contexts.h), as far as these were looked up. Valid until the next change.
 * If `stop` was set: likewise.
 */
const uint8_t *node_functions_contexts(struct node_functions *nodes, const struct stacks *stacks,
	const struct symbols *symbols, const atomic_bool *stop);

/* By node: 1: its function is not above it; else 0. So recursion counts once. Valid until the next change. */
const uint8_t *node_functions_outermost(struct node_functions *nodes, const struct stacks *stacks);

/* Makes the next node_functions_update look everything up anew. */
void node_functions_forget(struct node_functions *nodes);

/* True if nothing is to be looked up, and this reader has been told of all changes. */
bool node_functions_is_current(const struct node_functions *nodes, uint32_t reader, const struct symbols *symbols);

#endif
