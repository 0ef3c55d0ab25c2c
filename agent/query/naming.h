/* SPDX-License-Identifier: MIT */
/* The function of every node of a call tree, looked up once and again when symbols come. */
#ifndef NAMING_H
#define NAMING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct stacks;
struct symbols;

enum { NAMING_READERS = 8 };		/* as many as a query has */

struct naming {
	uint32_t *functions;		/* by node; the tree has paid for them (stacks.c) */
	uint32_t count;
	uint64_t generation;		/* of the symbols */
	uint32_t changed[NAMING_READERS];	/* as naming_update returns it to each, and has not yet */
};

void naming_init(struct naming *naming);
void naming_clear(struct naming *naming);

/*
 * Brings it up to date. Returns the lowest node with another function than when this reader was told
 * last, or STACKS_NONE: a stack whose leaf is below that node means what it meant, since callers have
 * the lower ids. Ended by `stop`, it is not up to date, and to be forgotten.
 */
uint32_t naming_update(struct naming *naming, uint32_t reader, const struct stacks *stacks,
	struct symbols *symbols, const atomic_bool *stop);
void naming_forget(struct naming *naming);

/* Has this reader been told of all names that there are? */
bool naming_is_current(const struct naming *naming, uint32_t reader, const struct symbols *symbols);

#endif
