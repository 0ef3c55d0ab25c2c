/* SPDX-License-Identifier: MIT */
/* Which stacks contain a function. Remembers it for each node of the tree of stacks. */
#ifndef HOLDERS_H
#define HOLDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/store/stack_cache.h"

struct budget;
struct stacks;
struct symbols;

struct holders {			/* starts as { 0 } */
	uint8_t *nodes;			/* by node: 1 if its function, or one above it, is the wanted one */
	uint32_t count, room;		/* of nodes */
	bool found;			/* `function` is the wanted one: a stack has it */
	uint32_t function;
	bool scarce;			/* there was no memory for all: the rest counts as without the function */
};

struct holders_input {			/* all borrowed */
	const struct stacks *stacks;
	const struct symbols *symbols;
	const uint32_t *functions;	/* by node, as far as `count` */
	uint32_t count;
	const char *kernel;		/* for tree_name */
	struct budget *budget;
};

void holders_clear(struct holders *holders, struct budget *budget);	/* to be called also when names change */

/* Looks at the nodes that are new. `of`: the tree_name of the function. */
void holders_update(struct holders *holders, const struct holders_input *input, uint64_t of);

static inline bool holders_has(const struct holders *holders, uint32_t stack)
{
	return stack != STACKS_NONE && stack < holders->count && holders->nodes[stack];
}

#endif
