/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/packets.h"
#include "world.h"

struct world {
	struct world_shape shape;
	uint64_t *frames;		/* depth of each stack */
	uint32_t *alias;		/* Walker's alias method: the stack that shares this one's place, */
	uint32_t *share;		/* and this one's own part of the place, in units of 2^-32 */
};

/* ---- the call tree ---- */

/* An address in the middle of some function. Numbers below `functions` * 512 have different addresses. */
static uint64_t call_site(const struct world_shape *shape, uint64_t number)
{
	uint64_t sites = (uint64_t)shape->functions * (WORLD_FUNCTION / 2);
	uint64_t site = number * 1000000007u % sites;	/* prime, so each is met once */

	assert(number < sites);
	return WORLD_TEXT + site % shape->functions * WORLD_FUNCTION + 1 +
		site / shape->functions;
}

/* How many frames from its leaf on a stack does not share with the one before it: 2 on average. */
static uint32_t new_frames(uint64_t *seed, uint32_t depth)
{
	uint32_t count = 1 + (uint32_t)__builtin_ctzll(random_next(seed));

	return count < depth ? count : depth;
}

/* Each stack has a call site that no stack before it had, so all are distinct. */
static void grow_tree(struct world *world)
{
	const struct world_shape *shape = &world->shape;
	uint64_t path[WORLD_DEPTH_MAX], seed = 88172645463325252u, sites = 0;

	for (uint32_t i = 0; i < shape->stacks; i++) {
		uint32_t fresh = i ? new_frames(&seed, shape->depth) : shape->depth;

		for (uint32_t frame = 0; frame < fresh; frame++)
			path[frame] = call_site(shape, sites++);
		for (uint32_t frame = 0; frame < shape->depth; frame++)
			world->frames[(uint64_t)i * shape->depth + frame] = path[frame];
	}
}

/* ---- the draw ---- */

/* Each stack's share, in units of an even share. Ranks are spread at random over the tree. */
static double *make_shares(const struct world_shape *shape)
{
	double *shares = util_alloc(shape->stacks * sizeof(*shares)), sum = 0;
	uint64_t seed = 362436069362436069u;

	for (uint32_t i = 0; i < shape->stacks; i++) {
		uint32_t other = (uint32_t)(random_next(&seed) % (i + 1));

		shares[i] = shares[other];
		shares[other] = shape->zipf ? 1.0 / (i + 1) : 1;
		sum += shape->zipf ? 1.0 / (i + 1) : 1;
	}
	for (uint32_t i = 0; i < shape->stacks; i++)
		shares[i] *= shape->stacks / sum;
	return shares;
}

/* A stack with a small share leaves room in its place, which is filled from a large one, until none is small. */
static void make_draw(struct world *world)
{
	uint32_t stacks = world->shape.stacks, low = 0, high = 0;
	uint32_t *small = util_alloc(stacks * sizeof(*small));
	uint32_t *large = util_alloc(stacks * sizeof(*large));
	double *shares = make_shares(&world->shape);

	for (uint32_t i = 0; i < stacks; i++) {
		world->share[i] = UINT32_MAX;
		world->alias[i] = i;
		if (shares[i] < 1)
			small[low++] = i;
		else
			large[high++] = i;
	}
	while (low && high) {
		uint32_t one = small[--low], other = large[high - 1];

		world->share[one] = (uint32_t)(shares[one] * UINT32_MAX);
		world->alias[one] = other;
		shares[other] -= 1 - shares[one];
		if (shares[other] < 1) {
			high--;
			small[low++] = other;
		}
	}
	free(shares);
	free(large);
	free(small);
}

/* ---- the whole ---- */

struct world *world_new(const struct world_shape *shape)
{
	struct world *world = util_alloc(sizeof(*world));

	assert(shape->depth > 0 && shape->depth <= WORLD_DEPTH_MAX);
	world->shape = *shape;
	world->frames = util_alloc((size_t)shape->stacks * shape->depth * sizeof(*world->frames));
	world->alias = util_alloc(shape->stacks * sizeof(*world->alias));
	world->share = util_alloc(shape->stacks * sizeof(*world->share));
	grow_tree(world);
	make_draw(world);
	return world;
}

void world_free(struct world *world)
{
	free(world->frames);
	free(world->alias);
	free(world->share);
	free(world);
}

const struct world_shape *world_shape(const struct world *world)
{
	return &world->shape;
}

const uint64_t *world_stack(const struct world *world, uint32_t stack)
{
	return world->frames + (uint64_t)stack * world->shape.depth;
}

uint32_t world_draw(const struct world *world, uint64_t *seed)
{
	uint64_t random = random_next(seed);
	uint32_t stack = (uint32_t)((random >> 32) * world->shape.stacks >> 32);

	return (uint32_t)random <= world->share[stack] ? stack : world->alias[stack];
}
