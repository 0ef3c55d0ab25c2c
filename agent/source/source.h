/* SPDX-License-Identifier: MIT */
/*
 * Where a session's bytes come from. A session takes any source and knows no more of it than this
 * table of functions. The thread that drives the session calls them; none of them waits.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/guest/profiler.h"
#include "agent/vm/link.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/wire/event.h"
#include "play.h"

struct command_sink;
struct epoch;
struct pollfd;
struct source;

enum { SOURCE_FDS = 2 };

/* What a call has found out: any of these. */
enum source_news {
	SOURCE_BEGUN = 1,		/* what is read from now on begins anew, in the middle of anything */
	SOURCE_LOST = 2,		/* nothing more comes, until it begins anew */
	SOURCE_STOPPED = 4,		/* the guest's profiler is no longer as the guest said */
	SOURCE_ANEW = 8,		/* with SOURCE_BEGUN: nothing that was read before counts any more */
};

/* Texts are good until the source's next step. */
struct source_facts {
	const char *machine;		/* the VM's name; NULL: none is known */
	const char *kernel;		/* the file of its kernel; NULL: none is known */
	enum link_state state;		/* as far as it is known without knowing what the bytes say */
	enum vm_state vm;
	bool silent;			/* something should come, and does not */
	uint64_t news;			/* grows when the remark may be another */
	enum kept_wish kept;		/* a wish to start or stop that waits */
	const struct guest *guest;	/* what the guest will say of itself; NULL: that is not known before */
	const uint8_t *boot_id;		/* with `guest`: in that boot */
	struct play_state play;

	/* The first try is over; why it has failed: what is missing, what to do. NULL: it has not. */
	bool settled;
	const char *failure;
};

/* What the source may ask of the guest's own words. */
struct source_guest {
	const struct epoch *epoch;	/* NULL: none yet */
	enum link_state state;		/* LINK_UP: connected, and the guest has told of itself */
};

struct source_wait {
	struct pollfd *fds;		/* room for SOURCE_FDS */
	size_t count;			/* of those */
	uint64_t due;			/* the latest end, by util_now */
};

struct source_table {
	const char *name;		/* as the title calls it */
	const char *quality;		/* how good what comes from it is, in a few words */
	void (*free)(struct source *source);

	/* What is to be waited for; `reads`: also for bytes. The wait is over. */
	void (*await)(struct source *source, bool reads, uint64_t now, struct source_wait *wait);
	void (*woken)(struct source *source);

	/* Goes on with what is under way. `serve`: after what has come was read and handled. */
	unsigned (*step)(struct source *source, uint64_t now);
	unsigned (*serve)(struct source *source, const struct source_guest *guest, uint64_t now);

	/* Bytes read; 0: nothing now; -1: SOURCE_LOST. */
	ssize_t (*read)(struct source *source, void *to, size_t size);

	struct source_facts (*facts)(const struct source *source);
	/* What ails it, and what to do, in a line; "" if nothing. Returns `text`. */
	const char *(*remark)(const struct source *source, enum link_state state, char *text, size_t size);

	/* Starts it, or stops it. With `keep`, the wish is kept while it cannot be met. */
	void (*run)(struct source *source, bool on, bool keep, const struct command_sink *sink);

	/* NULL: it is not a recording. */
	void (*play)(struct source *source, const struct play *wanted);

	/* Sends a control line to the guest. */
	void (*ask)(struct source *source, const char *line, const struct command_sink *sink);
	/* The guest has answered one. */
	void (*answered)(struct source *source, bool ok, const char *bytes, size_t size);
	/* The guest is to tell all of itself again. `why`: lines that wait get no answer; or NULL. */
	void (*greet)(struct source *source, const char *why);
	bool (*waits)(const struct source *source);	/* for an answer of the guest */
	void (*forget)(struct source *source, const void *context);	/* sinks that have it */

	/* What was plugged into the VM for this session, in a line; "" if nothing. Returns `text`. */
	const char *(*plugged)(const struct source *source, char *text, size_t size);
	/* Takes that out, by the steps, as long as it is leaving. What stays, in a line, or NULL. */
	void (*leave)(struct source *source, uint64_t now, int timeout_ms);
	bool (*leaving)(const struct source *source);
	const char *(*stays)(const struct source *source);
};

/* The first member of what each kind of source is. */
struct source {
	const struct source_table *table;
};

#endif
