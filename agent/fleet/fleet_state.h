/* SPDX-License-Identifier: MIT */
/* What the files of the fleet share. */
#ifndef FLEET_STATE_H
#define FLEET_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/session/session.h"
#include "fleet_names.h"

struct fleet_machine {
	struct picture *part;		/* NULL: none yet */
	struct fleet_map map;		/* its functions to those of the fleet */
	uint64_t zero, until;		/* its own guest ns, as of a wish */
};

struct fleet {
	const char *const *names;
	struct fleet_machine *machines;
	size_t count;
	struct budget *budget;
	struct fleet_names *functions;
	uint32_t *places;		/* by function: its row in the table being made; 0: none */
	size_t place_count;
	struct session_wish wish;
	uint64_t midnight;		/* host ns, modulo 2^64: when the fleet's clock was 0 */
	uint64_t generation;
};

#endif
