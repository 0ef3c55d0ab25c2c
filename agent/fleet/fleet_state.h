/* SPDX-License-Identifier: MIT */
/* What the files of the fleet share. */
#ifndef FLEET_STATE_H
#define FLEET_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/answers/function_table.h"
#include "agent/answers/vitals.h"
#include "fleet_names.h"

struct fleet_machine {
	struct vitals *vitals;		/* NULL: none yet */
	struct function_table *functions;	/* likewise */
	const struct symbols *boot;	/* of the newest of them: another one with each boot */
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
	struct excerpt excerpt;		/* as asked, of either kind */
	struct vitals_request vitals_request;
	struct function_request function_request;
	uint64_t midnight;		/* host ns, modulo 2^64: when the fleet's clock was 0 */
};

#endif
