/* SPDX-License-Identifier: MIT */
#include "agent/base/util.h"
#include "gdb_world.h"

enum { ON_THE_WAY = 400 };		/* steps in which what is on its way arrives */

struct world world_begin(struct fake_gdb fake)
{
	struct world world = { .fake = fake, .now = NS_PER_SECOND };

	world.stub = gdb_stub_new(fake_gdb_begin(&world.fake), world.now);
	return world;
}

void world_end(struct world *world)
{
	gdb_stub_free(world->stub);
	fake_gdb_end(&world->fake);
}

bool world_step(struct world *world)
{
	world->now += NS_PER_MS / 10;
	fake_gdb_step(&world->fake);
	return gdb_stub_step(world->stub, world->now);
}

bool world_reaches(struct world *world, enum gdb_state state)
{
	for (int i = 0; i < WORLD_STEPS && gdb_stub_state(world->stub) != state; i++)
		world_step(world);
	for (int i = 0; i < ON_THE_WAY; i++)
		fake_gdb_step(&world->fake);
	return gdb_stub_state(world->stub) == state;
}

bool world_sample(struct world *world)
{
	gdb_stub_sample(world->stub, world->now);
	for (int i = 0; i < WORLD_STEPS; i++)
		if (world_step(world))
			return true;
	return false;
}
