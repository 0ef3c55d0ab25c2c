/* SPDX-License-Identifier: MIT */
/*
 * Many machines as one: the fleet makes an answer over all from the newest answer of each. Functions with the same name
 * and object are one row, unless they belong to kernels with different names. Times are CPU time in ns, which is a
 * weight times its machine's sampling period, so that machines with different rates add up. Each machine has its own
 * clock; two machines' clocks are never compared. The fleet's clock is the host's local time of the day, FLEET_HOURS
 * after it was 0 (answer.h): a range may have begun before midnight.
 *
 * In the fleet's answers a "CPU" is a machine: cpus[] has one entry for each, and machine i has bit i + 1 of a row,
 * since tabs are numbered from 1. One thread makes all calls.
 */
#ifndef FLEET_H
#define FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/answers/annotation.h"
#include "agent/answers/call_tree.h"
#include "agent/answers/event_table.h"
#include "agent/answers/function_page.h"
#include "agent/answers/function_table.h"
#include "agent/answers/heat_map.h"
#include "agent/answers/memory_table.h"
#include "agent/answers/time_line.h"
#include "agent/answers/timeline.h"
#include "agent/answers/vitals.h"

struct budget;
struct fleet;

enum { FLEET_MOST = 16 };		/* machines at most */

/* `names`: the machines' names. They are borrowed, outlive the fleet, and may change. */
struct fleet *fleet_new(const char *const *names, size_t count, struct budget *budget);
void fleet_free(struct fleet *fleet);

/* Takes ownership of a machine's newest answer: of whatever kind. `now`: util_now, as everywhere here. */
void fleet_take(struct fleet *fleet, size_t machine, struct answer *answer, uint64_t now);

/*
 * What is asked of all machines, of each kind. Times in it are the fleet's; functions are ids of its answers. A new
 * zero is set for each machine where that machine's own clock stands now, a new end where it stood then. A machine that
 * boots anew counts from its beginning, and is in no frozen window and no baseline.
 */
void fleet_request(struct fleet *fleet, const struct request *request);
bool fleet_is_asked(const struct fleet *fleet, const struct request *request);	/* equal to the last of its kind */

/* Sets the excerpt alone, as a request does. */
void fleet_look(struct fleet *fleet, const struct excerpt *excerpt);

union fleet_request {
	struct request request;
	struct vitals_request vitals;
	struct function_request functions;
	struct call_tree_request tree;
	struct annotation_request annotation;
	struct function_page_request page;
	struct time_line_request line;
	struct heat_request heat;
	struct event_request events;
	struct timeline_request timeline;
	struct memory_request memory;
};

/* The excerpt, and the last request of a kind, in a machine's own times and ids, as far as these are known now. */
struct excerpt fleet_excerpt(const struct fleet *fleet, size_t machine);
union fleet_request fleet_own_request(const struct fleet *fleet, size_t machine, const struct answer_kind *kind);

/* The fleet's answers, owned by the caller. Their texts live as long as the fleet. */
struct answer *fleet_answer(struct fleet *fleet, const struct answer_kind *kind, uint64_t now);
struct vitals *fleet_vitals(struct fleet *fleet, uint64_t now);
struct function_table *fleet_functions(struct fleet *fleet, uint64_t now);
struct call_tree *fleet_tree(struct fleet *fleet, uint64_t now);
/* That of the machine which has the most of the function: two machines may have different code of the same name. */
struct annotation *fleet_annotation(struct fleet *fleet, uint64_t now);
struct function_page *fleet_page(struct fleet *fleet, uint64_t now);
struct heat_map *fleet_heat(struct fleet *fleet, uint64_t now);
struct time_line *fleet_time_line(struct fleet *fleet, uint64_t now);
struct event_table *fleet_events(struct fleet *fleet, uint64_t now);	/* its texts are its own */
struct timeline *fleet_timeline(struct fleet *fleet, uint64_t now);	/* likewise */
struct memory_table *fleet_memory(struct fleet *fleet, uint64_t now);	/* likewise */

#endif
