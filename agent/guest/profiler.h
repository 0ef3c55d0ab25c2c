/* SPDX-License-Identifier: MIT */
/*
 * Starting and stopping the guest's profiler. A wish goes out as a key press, if a key can reach the guest. If no
 * status confirms it in time, it goes out as a line on the port. While the guest cannot hear, a wish with `keep` is
 * kept, and goes out when the guest hears again; any other wish fails. Pure: the caller gives the time and the facts,
 * and does what profiler_step returns.
 */
#ifndef PROFILER_H
#define PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/vm/link.h"
#include "commands.h"

/*
 * How long the effect of a key or of a line is awaited. A key's time has to pass both on the host and by the guest's
 * own time, which falls behind on a busy host. It ends in any case when PROFILER_BUSY_MS more have passed on the host.
 */
enum { PROFILER_KEY_MS = 300, PROFILER_BUSY_MS = 1500, PROFILER_LINE_MS = 3000 };

/* No wish; one that is not sent yet; one that was sent as a key or as a line and waits for the status; a kept one. */
enum profiler_state { PROFILER_IDLE, PROFILER_ASKED, PROFILER_BY_KEY, PROFILER_BY_LINE, PROFILER_KEPT };
enum profiler_act {
	PROFILER_WAIT, PROFILER_PRESS_KEYS, PROFILER_SEND_LINE, PROFILER_DONE, PROFILER_FAILED,
	PROFILER_KEEP,			/* the wish is kept from now on, and `text` says so: tell those who asked */
};

/* The wish that waits until the guest can hear it: none, to start, to stop. */
enum kept_wish { KEPT_NONE, KEPT_ON, KEPT_OFF };

struct profiler {
	enum profiler_state state;
	bool on;			/* the wish: to start or to stop */
	bool keeps;			/* the wish is kept while the guest cannot hear it */
	bool key_tried;
	bool told;			/* PROFILER_KEEP was returned */
	bool sent;			/* this wish went out to the guest, by key or by line */
	bool line_out;			/* a line went out, perhaps for an older wish, and has no answer yet */
	bool doubt;			/* the contrary wish went out before, and the guest may still obey it */
	uint64_t deadline;		/* of the present way, by key or by line */
	uint64_t pressed;		/* guest time when the key was pressed */
	char text[160];			/* the outcome, with DONE, FAILED and KEEP */
};

struct profiler_facts {
	uint64_t now;			/* host ns of a monotonic clock */
	uint64_t guest_now;		/* guest time in ns, of the newest that the guest has sent */
	bool key_path;			/* keys can be sent, and the guest has told which keys it takes */
	bool status_known, running;	/* what the guest's own status says */
	bool silent;			/* the guest has stopped sending */
	const char *hindrance;		/* why the guest cannot hear: "the VM is paused"; NULL: it can */
};

/* Takes a wish. It replaces an older one. */
void profiler_want(struct profiler *profiler, bool on, bool keep);

/* Returns what to do now. Call it again until it returns PROFILER_WAIT, and whenever a fact may have changed. */
enum profiler_act profiler_step(struct profiler *profiler, const struct profiler_facts *facts);

void profiler_no_key(struct profiler *profiler);	/* the keys could not be pressed: the port is tried next */
void profiler_obeyed(struct profiler *profiler);	/* the guest obeyed the line */
void profiler_refused(struct profiler *profiler, const char *why);	/* it did not: the wish fails with `why` */

/* ---- what is wanted of it ---- */

/*
 * Does to one guest what is decided above: presses keys through QMP, sends lines through the port, and tells the
 * outcome to those who asked. Ingest thread.
 */

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
