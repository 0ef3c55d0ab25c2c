/* SPDX-License-Identifier: MIT */
/*
 * Many machines as one: a picture over all, made of the newest picture of each. Rows of functions
 * that have one name and object are one row, those of kernels with different names not. Times are
 * CPU time in ns, a weight times its machine's sampling period, so that machines with different
 * rates add up. Each machine keeps its own clock: nothing of it is compared with another's. The
 * fleet's own clock is the host's local time of the day; a range in it, be it longer, is modulo
 * 2^64.
 *
 * In its pictures a "CPU" is a machine: cpus[] has one for each, a row's bits have machine i at
 * i + 1, as its tab is numbered. One thread.
 */
#ifndef FLEET_H
#define FLEET_H

#include <stddef.h>
#include <stdint.h>

#include "agent/session/session.h"

struct budget;
struct fleet;
struct picture;

enum { FLEET_MOST = 16 };

/* `names`: what the machines are called, which outlive it and may change. */
struct fleet *fleet_new(const char *const *names, size_t count, struct budget *budget);
void fleet_free(struct fleet *fleet);

/* The newest of a machine, which is the fleet's from then on. */
void fleet_take(struct fleet *fleet, size_t machine, struct picture *picture);

/*
 * What a picture over all is to hold: times are the fleet's, functions those of its pictures. Zero
 * and the end of a frozen window fall where each machine's own clock stands then; a machine that
 * boots anew counts from its beginning, and is in no frozen window.
 */
void fleet_wish(struct fleet *fleet, const struct session_wish *wish);

/* That wish in a machine's own terms, as far as it is known now. */
struct session_wish fleet_ask(const struct fleet *fleet, size_t machine);

/* `now`: util_now. Its texts live as long as the fleet. */
struct picture *fleet_picture(struct fleet *fleet, uint64_t now);

#endif
