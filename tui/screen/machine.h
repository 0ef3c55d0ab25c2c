/* SPDX-License-Identifier: MIT */
/*
 * One of the machines that a ktop shows: its session as seen by those who may look at it, of which
 * one does at a time. Each gets the pictures that were made for it; a machine that nobody looks at
 * makes brief ones, for its marks.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/session/picture.h"
#include "agent/session/session.h"

enum reader { READER_NONE, READER_OWN, READER_ALL, READERS };	/* its own screen; that over all */

struct machine {
	struct session *session;	/* borrowed */
	const char *label;		/* as it was given: the socket, as far as it tells it apart */
	char name[48];			/* "1 web": its number, and the VM's name or the label */
	unsigned number;

	/* as its newest picture has it */
	bool known, running;
	enum kept_wish kept;
	enum link_state link;
	enum vm_state vm;
	uint64_t lost;

	enum kept_wish asked;		/* of its profiler, until it is told how that went */
	enum reader reader;		/* who looks at it */
	struct session_wish wishes[READERS];	/* as sent last, if ever */
	bool wished[READERS];
	struct picture *pictures[READERS];	/* that wait for them */
};

/* `number`: from 1. The session and the label outlive it. */
void machine_init(struct machine *machine, struct session *session, unsigned number,
	const char *label);
void machine_clear(struct machine *machine);

void machine_look(struct machine *machine, enum reader reader);

/* Takes what the session has; true when a mark, or what its reader sees, is new. */
bool machine_step(struct machine *machine);

struct picture *machine_picture(struct machine *machine, enum reader reader);	/* or NULL */
void machine_wish(struct machine *machine, enum reader reader, const struct session_wish *wish);

void machine_run_profiler(struct machine *machine, bool on);
bool machine_runs(const struct machine *machine);	/* as was asked for last, else as is known */
bool machine_message(struct machine *machine, struct session_message *message);	/* next, if any */

#endif
