/* SPDX-License-Identifier: MIT */
/* All machines as one, for the screen over all: asks each machine, and makes one answer of theirs. Screen's thread. */
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

/* The machines must outlive it. */
struct overview *overview_new(struct machine *machines, size_t count, struct budget *budget);
void overview_free(struct overview *overview);

/* As in feed.h, over all machines. Answers come at most ten times a second. Times are those of util_now. */
struct answer *overview_answer(struct overview *overview, enum feed_question question, uint64_t now);
void overview_ask(struct overview *overview, enum feed_question question, const struct request *request,
	uint64_t now);
void overview_look_away(struct overview *overview);	/* its screen is no longer shown: nothing is asked for it */

bool overview_running(const struct overview *overview);	/* all machines whose link is up are profiled */
void overview_run_profiler(struct overview *overview, bool on);	/* on these machines; on all if none is up */
/* A file for each machine. `format`: its number in the list of save_format.h. */
void overview_snapshot(struct overview *overview, const struct excerpt *excerpt, size_t format);

/* Puts one message that has all machines' messages since the last order in place of a machine's new message. */
void overview_gather(struct overview *overview, size_t machine, struct session_message *message);

#endif
