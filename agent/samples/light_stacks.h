/* SPDX-License-Identifier: MIT */
/*
 * Which nodes of a tree of stacks are too light to stand alone in a picture. A node weighs as much as all samples in it
 * and below it, so what is below a light node is light, too.
 */
#ifndef LIGHT_STACKS_H
#define LIGHT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct budget;
struct stacks;

struct light_stacks {
	uint64_t *weights;		/* by node; NULL: none is light */
	uint32_t nodes;
	uint64_t least;			/* what weighs less is light */
	struct budget *budget;
};

bool light_stacks_init(struct light_stacks *light, uint32_t nodes, struct budget *budget);	/* false: no memory */
void light_stacks_clear(struct light_stacks *light);

static inline void light_stacks_add(struct light_stacks *light, uint32_t node, uint64_t weight)
{
	if (node < light->nodes)
		light->weights[node] += weight;
}

/* When all was added to a boot's nodes: sums them up, and chooses. */
void light_stacks_settle(struct light_stacks *light, const struct stacks *stacks, uint32_t most);

/* Of nodes that are summed up: as few are light as leave `most` that are not. */
void light_stacks_choose(struct light_stacks *light, uint32_t most);

static inline bool light_stacks_has(const struct light_stacks *light, uint32_t node)
{
	return light->weights && light->weights[node] < light->least;
}

#endif
