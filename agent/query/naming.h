/* SPDX-License-Identifier: MIT */
/* The function of every node of a call tree: looked up once, and again when symbols change. */
#ifndef NAMING_H
#define NAMING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct stacks;
struct symbols;

enum { NAMING_READERS = 8 };		/* as many as a query has */

struct naming {
	uint32_t *functions;		/* by node; the tree has paid for the memory (stacks.c) */
	uint32_t count;			/* of nodes with a function */
	uint64_t generation;		/* of the symbols that they are from */
	uint32_t changed[NAMING_READERS];	/* for each reader, what naming_update will return to it */
};

void naming_init(struct naming *naming);
void naming_clear(struct naming *naming);

/*
 * Looks up what is new. Returns the lowest node whose function has changed since this reader was told last,
 * or STACKS_NONE. A stack whose leaf is below that node means what it meant, since callers have lower ids.
 * If `stop` was set, the result is not complete: call naming_forget.
 */
uint32_t naming_update(struct naming *naming, uint32_t reader, const struct stacks *stacks,
	struct symbols *symbols, const atomic_bool *stop);

/* Makes the next naming_update look everything up anew. */
void naming_forget(struct naming *naming);

/* True if nothing is to be looked up, and this reader has been told of all changes. */
bool naming_is_current(const struct naming *naming, uint32_t reader, const struct symbols *symbols);

#endif
