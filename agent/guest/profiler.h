/* SPDX-License-Identifier: MIT */
/*
 * Starting and stopping the guest's profiler: by key where a key can arrive; when no status
 * confirms that in time, by a line on the port. A wish of somebody who stays is kept while the
 * guest cannot hear it, and goes out again when it can; any other fails. Pure: the caller gives the
 * time and the facts, and does what it is told to.
 */
#ifndef PROFILER_H
#define PROFILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROFILER_KEY_MS = 300, PROFILER_LINE_MS = 3000 };

enum profiler_state { PROFILER_IDLE, PROFILER_ASKED, PROFILER_BY_KEY, PROFILER_BY_LINE, PROFILER_KEPT };
enum profiler_act {
	PROFILER_WAIT, PROFILER_PRESS_KEYS, PROFILER_SEND_LINE, PROFILER_DONE, PROFILER_FAILED,
	PROFILER_KEEP,			/* it is kept from now on: `text` says so */
};

/* A wish for the profiler that waits until the guest can hear it. */
enum kept_wish { KEPT_NONE, KEPT_ON, KEPT_OFF };

struct profiler {
	enum profiler_state state;
	bool on;			/* what is wanted */
	bool keeps;			/* the wish is kept while the guest cannot hear it */
	bool key_tried;
	bool told;			/* that it is kept */
	bool sent, doubt;		/* asked so; and, before, of the contrary: that may be met later */
	uint64_t deadline;		/* of the present way */
	char text[160];			/* how it went, with DONE, FAILED and KEEP */
};

struct profiler_facts {
	uint64_t now;			/* ns of a clock that does not stand still */
	bool key_path;			/* a key can be sent, and the guest told which */
	bool status_known, running;	/* the guest's own word */
	bool silent;			/* nothing comes from it any more */
	const char *hindrance;		/* why it cannot be: "the VM is paused"; or NULL */
};

/* A newer wish takes the place of the older. */
void profiler_want(struct profiler *profiler, bool on, bool keep);

/* What to do now. To be called again soon after an act, and whenever something may have changed. */
enum profiler_act profiler_step(struct profiler *profiler, const struct profiler_facts *facts);

/* The keys could not be pressed: the port is next. The line was obeyed; refused: that was it. */
void profiler_no_key(struct profiler *profiler);
void profiler_obeyed(struct profiler *profiler);
void profiler_refused(struct profiler *profiler, const char *why);

#endif
