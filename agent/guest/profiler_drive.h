/* SPDX-License-Identifier: MIT */
/*
 * Does to one guest what profiler.h decides: presses keys through QMP, sends lines through the port, and tells the
 * outcome to those who asked. Ingest thread.
 */
#ifndef PROFILER_DRIVE_H
#define PROFILER_DRIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/vm/link.h"
#include "commands.h"
#include "profiler.h"

struct epoch;
struct profiler_want;

struct profiler_drive {			/* starts as { 0 } */
	struct profiler profiler;
	struct profiler_want *wants;	/* those who wait for the outcome of the present wish */
	size_t want_count;
};

struct profiler_guest {			/* borrowed */
	const struct epoch *epoch;	/* NULL: none yet */
	struct link *link;
	struct commands *commands;
	enum link_state state;		/* LINK_UP: connected, and the guest has told of itself */
};

/*
 * Asks for the profiler to be on or off. A request for what is under way shares its outcome; one for the contrary
 * makes it fail. The sink is called once with the outcome. With `keep` it is called before that, too, when the wish is
 * kept. It is not called after profiler_drive_forget, nor if the sink's context asks again before the outcome: then
 * only the later request gets an answer.
 */
void profiler_drive_want(struct profiler_drive *drive, bool on, bool keep,
	const struct command_sink *sink);
enum kept_wish profiler_drive_kept(const struct profiler_drive *drive);	/* the wish that waits for the guest */
void profiler_drive_forget(struct profiler_drive *drive, const void *context);	/* calls no sink with this context */
void profiler_drive_clear(struct profiler_drive *drive);	/* frees what it has; nobody is called any more */

/*
 * Does what is to be done now. Call it whenever something may have changed. The guest's answer to a line comes back to
 * this address, so `drive` is never moved.
 */
void profiler_drive_step(struct profiler_drive *drive, const struct profiler_guest *guest);
bool profiler_drive_waits(const struct profiler_drive *drive);	/* for the guest, with a deadline */

#endif
