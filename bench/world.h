/* SPDX-License-Identifier: MIT */
/*
 * What samples of a made-up guest may find: distinct stacks of one depth out of one call tree, drawn evenly or by
 * Zipf's law. The same shape always gives the same world.
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
	uint32_t functions;		/* how many functions the frames are in */
	bool zipf;			/* the stack of rank k is drawn 1/k as often as the first; else all evenly */
};

struct world *world_new(const struct world_shape *shape);
void world_free(struct world *world);
const struct world_shape *world_shape(const struct world *world);

/* Leaf first, as on the wire: an interrupted PC, then return addresses. */
const uint64_t *world_stack(const struct world *world, uint32_t stack);

/* Draws a stack at random. The seed must not be 0. */
uint32_t world_draw(const struct world *world, uint64_t *seed);

#endif
