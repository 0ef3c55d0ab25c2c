/* SPDX-License-Identifier: MIT */
/*
 * One of the machines that a ktop shows: its session as seen by those who may look at it, its own screen and that
 * over all. Each asks its own questions, as long as it is looked at. A machine that nobody looks at is asked for
 * its marks alone.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/answers/vitals.h"
#include "agent/session/session.h"
#include "feed.h"

enum reader { READER_OWN, READER_ALL, READERS };	/* its own screen; that over all */

struct machine_question {		/* one that a reader asks */
	struct subscription *subscription;	/* NULL: it is not looked at, or has asked nothing yet */
	struct request *request;	/* as asked last; NULL: nothing */
	struct answer *answer;		/* not taken yet */
};

struct machine {
	struct session *session;	/* borrowed */
	const char *label;		/* as it was given: the socket, as far as it tells it apart */
	char name[48];			/* "1 web": its number, and the VM's name or the label */
	unsigned number;

	/* as its newest vitals have it */
	bool known, running;
	enum kept_wish kept;
	enum link_state link;
	enum vm_state vm;
	uint64_t lost;

	enum kept_wish asked;		/* of its profiler, until it is told how that went */
	struct machine_question readers[READERS][FEED_QUESTIONS];
	struct subscription *marks;	/* asked, while no reader asks for the vitals */
	bool marks_asked;
};

/* `number`: from 1. The session and the label outlive it. */
void machine_init(struct machine *machine, struct session *session, unsigned number,
	const char *label);
void machine_clear(struct machine *machine);

/* Takes what the session has; true when a mark, or what a reader sees, is new. */
bool machine_step(struct machine *machine);

void machine_ask(struct machine *machine, enum reader reader, enum feed_question question,
	const struct request *request);		/* NULL: nothing, for now */
void machine_look_away(struct machine *machine, enum reader reader);	/* all that was kept for it goes */
struct answer *machine_answer(struct machine *machine, enum reader reader, enum feed_question question);

void machine_run_profiler(struct machine *machine, bool on);
bool machine_runs(const struct machine *machine);	/* as was asked for last, else as is known */
bool machine_message(struct machine *machine, struct session_message *message);	/* next, if any */

#endif
