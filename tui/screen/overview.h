/* SPDX-License-Identifier: MIT */
/* All machines as one, for the screen over all: its answers, and what it asks each of them. */
#ifndef OVERVIEW_H
#define OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/session/session.h"
#include "feed.h"

struct budget;
struct machine;
struct overview;

/* The machines outlive it. */
struct overview *overview_new(struct machine *machines, size_t count, struct budget *budget);
void overview_free(struct overview *overview);

/* As a feed has it; the newest over all, ten a second of each at most. Times: of util_now. */
struct answer *overview_answer(struct overview *overview, enum feed_question question, uint64_t now);
void overview_ask(struct overview *overview, enum feed_question question, const struct request *request,
	uint64_t now);
void overview_look_away(struct overview *overview);

bool overview_running(const struct overview *overview);	/* each that is up */
void overview_run_profiler(struct overview *overview, bool on);	/* of those that are up */
void overview_snapshot(struct overview *overview, const struct excerpt *excerpt);	/* a file each */

/* Makes of a machine's message one that says what all have said since they were asked last. */
void overview_gather(struct overview *overview, size_t machine, struct session_message *message);

#endif
