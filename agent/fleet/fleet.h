/* SPDX-License-Identifier: MIT */
/*
 * Many machines as one: answers over all, made of the newest of each. Rows of functions
 * that have one name and object are one row, those of kernels with different names not. Times are
 * CPU time in ns, a weight times its machine's sampling period, so that machines with different
 * rates add up. Each machine keeps its own clock: nothing of it is compared with another's. The
 * fleet's own clock is the host's local time of the day; a range in it, be it longer, is modulo
 * 2^64.
 *
 * In its answers a "CPU" is a machine: cpus[] has one for each, a row's bits have machine i at
 * i + 1, as its tab is numbered. One thread.
 */
#ifndef FLEET_H
#define FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/answers/function_table.h"
#include "agent/answers/vitals.h"

struct budget;
struct fleet;

enum { FLEET_MOST = 16 };

/* `names`: what the machines are called, which outlive it and may change. */
struct fleet *fleet_new(const char *const *names, size_t count, struct budget *budget);
void fleet_free(struct fleet *fleet);

/* The newest of a machine, vitals or functions, which is the fleet's from then on. */
void fleet_take(struct fleet *fleet, size_t machine, struct answer *answer);

/*
 * What is asked of all, of either kind: times are the fleet's, functions those of its answers. Zero
 * and the end of a frozen window fall where each machine's own clock stands then; a machine that
 * boots anew counts from its beginning, and is in no frozen window.
 */
void fleet_request(struct fleet *fleet, const struct request *request);
bool fleet_is_asked(const struct fleet *fleet, const struct request *request);	/* this, last of its kind */

/* As the excerpt of a request: what is looked at of all from now on. */
void fleet_look(struct fleet *fleet, const struct excerpt *excerpt);

/* That in a machine's own terms, as far as it is known now. */
struct excerpt fleet_excerpt(const struct fleet *fleet, size_t machine);
struct vitals_request fleet_vitals_request(const struct fleet *fleet, size_t machine);
struct function_request fleet_function_request(const struct fleet *fleet, size_t machine);

/* `now`: util_now. Their texts live as long as the fleet. */
struct vitals *fleet_vitals(struct fleet *fleet, uint64_t now);
struct function_table *fleet_functions(struct fleet *fleet, uint64_t now);

#endif
