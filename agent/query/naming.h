/* SPDX-License-Identifier: MIT */
/* The function of every node of a call tree, looked up once and again when symbols come. */
#ifndef NAMING_H
#define NAMING_H

#include <stdatomic.h>
#include <stdint.h>

struct stacks;
struct symbols;

struct naming {
	uint32_t *functions;		/* by node; the tree has paid for them (stacks.c) */
	uint32_t count;
	uint64_t generation;		/* of the symbols */
};

void naming_clear(struct naming *naming);

/*
 * Brings it up to date. Returns the lowest node with another function than before, or STACKS_NONE:
 * a stack whose leaf is below that node means what it meant, since callers have the lower ids. Ended by
 * `stop`, it is not up to date.
 */
uint32_t naming_update(struct naming *naming, const struct stacks *stacks, struct symbols *symbols,
	const atomic_bool *stop);

#endif
