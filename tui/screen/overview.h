/* SPDX-License-Identifier: MIT */
/* All machines as one, for the screen over all: its pictures, and what it wants of each of them. */
#ifndef OVERVIEW_H
#define OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/session/session.h"

struct budget;
struct machine;
struct overview;

/* The machines outlive it. */
struct overview *overview_new(struct machine *machines, size_t count, struct budget *budget);
void overview_free(struct overview *overview);

/* The newest over all, ten a second at most, or NULL; the caller frees it. Times: of util_now. */
struct picture *overview_picture(struct overview *overview, uint64_t now);

void overview_wish(struct overview *overview, const struct session_wish *wish, uint64_t now);
bool overview_running(const struct overview *overview);	/* each that is up */
void overview_run_profiler(struct overview *overview, bool on);	/* of those that are up */
void overview_snapshot(struct overview *overview);	/* a file for each, its name the root frame */

/* Makes of a machine's message one that says what all have said since they were asked last. */
void overview_gather(struct overview *overview, size_t machine, struct session_message *message);

#endif
