/* SPDX-License-Identifier: MIT */
/* The inside of a fleet, shared by fleet.c and fleet_answers.c. */
#ifndef FLEET_STATE_H
#define FLEET_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/answers/function_table.h"
#include "agent/answers/vitals.h"
#include "fleet_names.h"

struct fleet_machine {
	struct vitals *vitals;		/* NULL: none yet */
	struct function_table *functions;	/* NULL: none yet */
	const struct symbols *boot;	/* the symbols of its newest answer: each boot has its own */
	struct fleet_map map;		/* from its functions to those of the fleet */
	uint64_t zero, until;		/* the excerpt's zero and end in the machine's own guest ns */
};

struct fleet {
	const char *const *names;
	struct fleet_machine *machines;
	size_t count;
	struct budget *budget;
	struct fleet_names *functions;
	uint32_t *places;		/* by function: 1 + its row in the table being made; 0: none */
	size_t place_count;
	struct excerpt excerpt;		/* as last asked, by a request of either kind or by fleet_look */
	struct vitals_request vitals_request;
	struct function_request function_request;
	uint64_t midnight;		/* util_now when the fleet's clock was 0, modulo 2^64 */
};

#endif
