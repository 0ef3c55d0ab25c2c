/* SPDX-License-Identifier: MIT */
/* The inside of a fleet, shared by all its files. */
#ifndef FLEET_STATE_H
#define FLEET_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "agent/answers/annotation.h"
#include "agent/answers/call_tree.h"
#include "agent/answers/event_table.h"
#include "agent/answers/function_table.h"
#include "agent/answers/heat_map.h"
#include "agent/answers/time_line.h"
#include "agent/answers/timeline.h"
#include "agent/answers/vitals.h"
#include "fleet.h"

/* ---- ids ---- */

/* Common ids for the functions of many machines: functions with the same name and object have the same id. */

struct fleet_ids;

struct fleet_origin {			/* where a function comes from; all borrowed */
	const struct symbols *symbols;	/* of one boot of the machine */
	const char *kernel;		/* the name of its kernel */
	enum group_by by;		/* what its functions stand for */
	const char *machine;
};

struct fleet_map {			/* for one boot of one machine; starts as { 0 } */
	const struct symbols *of;	/* this boot's; NULL: the map is empty */
	bool of_machine;		/* its rows are of one machine: a process may be called as an object is */
	uint32_t *functions;		/* common ids, by the machine's own */
	size_t count;
};

uint32_t fleet_map_get(const struct fleet_map *map, uint32_t function);	/* FUNCTION_NONE: it has no common id yet */

/*
 * The common id of a machine's function, which may be new. The object of kernel code is the kernel's name, so that
 * functions of different kernels stay apart. Modules of kernels with different names stay apart, too. Rows by process,
 * thread or CPU are of one machine, whose name is their object.
 */
uint32_t fleet_ids_map(struct fleet_ids *names, struct fleet_map *map, const struct fleet_origin *origin,
	uint32_t function);

const struct symbols *fleet_ids_symbols(const struct fleet_ids *names);	/* the functions, by common id */

/* ---- the fleet ---- */

enum { IN_NO_WINDOW = 1 };		/* the end of a window that a machine is no part of: before any sample */

enum fleet_kind { FLEET_VITALS, FLEET_FUNCTIONS, FLEET_TREE, FLEET_ANNOTATION, FLEET_PAGE, FLEET_LINE, FLEET_HEAT,
	FLEET_EVENTS, FLEET_TIMELINE, FLEET_MEMORY, FLEET_KINDS };

struct fleet_machine {
	union {				/* the newest answer of each kind; NULL: none yet */
		struct answer *answers[FLEET_KINDS];
		struct {		/* the same, in this order */
			struct vitals *vitals;
			struct function_table *functions;
			struct call_tree *tree;
			struct annotation *annotation;
			struct function_page *page;
			struct time_line *line;
			struct heat_map *heat;
			struct event_table *events;
			struct timeline *timeline;
			struct memory_table *memory;
		};
	};
	int64_t ahead;			/* ns from the machine's clock to the fleet's, by its vitals */
	const struct symbols *boot;	/* the symbols of its newest answer: each boot has its own */
	struct fleet_map map;		/* from its functions to those of the fleet */
	uint64_t zero, until;		/* the excerpt's zero and end in the machine's own guest ns */
	struct baseline base;		/* likewise its baseline */
};

struct fleet {
	const char *const *names;
	struct fleet_machine *machines;
	size_t count;
	struct budget *budget;
	struct fleet_ids *functions;
	uint32_t *places;		/* by function: 1 + its row in the table being made; 0: none */
	size_t place_count;
	struct excerpt excerpt;		/* as last asked, by a request of any kind or by fleet_look */
	union fleet_request requests[FLEET_KINDS];	/* the last of each kind */
	size_t annotated;		/* the machine whose code was shown last */
	uint32_t heavy_count;
	uint64_t heavy[TREE_UNFOLDED];	/* paths of the rows that its last tree unfolds for their weight */
	uint64_t origin;		/* util_now when the fleet's clock was 0, modulo 2^64 */
};

/* Of the fleet's row of which the slowest are asked for, the machine's own ones; returns how many it has. */
uint32_t fleet_ask_slow(const struct fleet *fleet, size_t machine, struct event_request *request);

/* Kernels of different names are among them, also of machines that have told no rows yet. */
bool fleet_kernels_differ(const struct fleet *fleet);

/* Of the fleet's row whose stacks are asked for, the machine's own one. */
void fleet_ask_memory(const struct fleet *fleet, size_t machine, struct memory_request *request);

/* What it is asked for its part of the timeline. */
void fleet_ask_timeline(const struct fleet *fleet, size_t machine, struct timeline_request *request);

/*
 * How far the fleet's clock is ahead of the machine's: by its vitals; in a window that is not live, as it was when that
 * was frozen or first moved. A machine's time as the fleet's: 0, which means none, stays 0. The fleet's as the
 * machine's own: never 0.
 */
int64_t fleet_ahead(const struct fleet *fleet, const struct fleet_machine *machine);
uint64_t fleet_time(const struct fleet *fleet, const struct fleet_machine *machine, uint64_t own);
uint64_t fleet_own_time(const struct fleet *fleet, const struct fleet_machine *machine, uint64_t time);

/*
 * The ns of CPU time that a weight of 1 stands for in an answer of this machine. `weight`, `time`: the sums of that
 * answer, since the rate may have changed after it. 0, 0: by the rate that the machine has now.
 */
uint64_t fleet_period(const struct fleet_machine *machine, uint64_t weight, uint64_t time);

#endif
