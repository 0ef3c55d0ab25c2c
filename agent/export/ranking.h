/* SPDX-License-Identifier: MIT */
/* Puts things into order that others know by a number, and tells these numbers anew. */
#ifndef RANKING_H
#define RANKING_H

#include <stddef.h>
#include <stdint.h>

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
