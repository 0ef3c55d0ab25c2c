/* SPDX-License-Identifier: MIT */
/*
 * What a made-up guest may be found doing: distinct stacks of one depth out of one call tree, drawn
 * evenly or by Zipf's law. The same shape is the same world.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stdint.h>

/* Function i begins at WORLD_TEXT + i * WORLD_FUNCTION. */
#define WORLD_TEXT 0xffffffff81000000u
enum { WORLD_FUNCTION = 1024, WORLD_DEPTH_MAX = 64 };

struct world;

struct world_shape {
	uint32_t stacks, depth;
	uint32_t functions;		/* that their frames are in */
	bool zipf;			/* the stack of rank k 1/k as often as the first; else evenly */
};

struct world *world_new(const struct world_shape *shape);
void world_free(struct world *world);
const struct world_shape *world_shape(const struct world *world);

/* Leaf first, as on the wire: an interrupted PC, then return addresses. */
const uint64_t *world_stack(const struct world *world, uint32_t stack);

/* A stack at random; the seed must not be 0. */
uint32_t world_draw(const struct world *world, uint64_t *seed);

#endif
