/* SPDX-License-Identifier: MIT */
/* What profiler.h decides, done to one guest: keys by QMP, lines by the port, its end told. */
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
	struct profiler_want *wants;	/* of those that want it */
	size_t want_count;
};

struct profiler_guest {			/* borrowed */
	const struct epoch *epoch;	/* NULL: none yet */
	struct link *link;
	struct commands *commands;
	enum link_state state;		/* LINK_UP: connected, and it has told of itself */
};

/*
 * Who wants the same as is under way shares its outcome; who wants the contrary ends it. The sink is
 * called once, unless it is forgotten; with `keep`, when the wish is kept, and once more at its end.
 */
void profiler_drive_want(struct profiler_drive *drive, bool on, bool keep,
	const struct command_sink *sink);
enum kept_wish profiler_drive_kept(const struct profiler_drive *drive);
void profiler_drive_forget(struct profiler_drive *drive, const void *context);
void profiler_drive_clear(struct profiler_drive *drive);	/* nobody is called any more */

/* Does what is to be done now. To be called whenever something may have changed, never moved. */
void profiler_drive_step(struct profiler_drive *drive, const struct profiler_guest *guest);
bool profiler_drive_waits(const struct profiler_drive *drive);	/* for something, with a deadline */

#endif
