/* SPDX-License-Identifier: MIT */
/* A machine, the dialogue with its gdb stub, and the time: all by hand, step by step. */
#ifndef GDB_WORLD_H
#define GDB_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/vm/gdb/gdb_stub.h"
#include "tests/unit/fakes/fake_gdb.h"

enum { WORLD_STEPS = 4000 };		/* more than any sample takes */

struct world {
	struct fake_gdb fake;
	struct gdb_stub *stub;
	uint64_t now;
};

struct world world_begin(struct fake_gdb fake);
void world_end(struct world *world);

bool world_step(struct world *world);	/* as gdb_stub_step */

/* Steps until the stub is in this state, and the machine has heard all that was said. False: it never is. */
bool world_reaches(struct world *world, enum gdb_state state);

/* Takes one sample. False: it does not become complete. */
bool world_sample(struct world *world);

#endif
