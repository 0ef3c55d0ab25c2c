/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, from which flame graphs are made: a line `root;...;leaf weight` for each stack, sorted bytewise. The
 * weights add up to the weight of the same question's table. In names, ';' becomes ':', and a space becomes '_'.
 */
#ifndef EXPORT_FOLDED_H
#define EXPORT_FOLDED_H

#include <stddef.h>
#include <stdint.h>

#include "export.h"

extern const struct export_format export_folded;

/* ---- ranking ---- */

/* Puts things into order that others know by a number, and tells these numbers anew. */

struct budget;

/*
 * Sorts `count` things of `size` bytes. A thing begins with its number, a uint32_t below `count`. Returns, by that
 * number, where the thing is now; of things that are equal, where the first of them is. So these new numbers are equal,
 * and in order, as the things are. To be freed by ranking_free. NULL: no memory.
 */
uint32_t *ranking_new(struct budget *budget, void *things, uint32_t count, size_t size,
	int (*order)(const void *left, const void *right));
void ranking_free(struct budget *budget, uint32_t *ranking, uint32_t count);

#endif
