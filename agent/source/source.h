/* SPDX-License-Identifier: MIT */
/*
 * Where a session's bytes come from. A session takes any source, and knows nothing of it but this table of functions.
 * The ingest thread calls the functions. None of them waits.
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
#include "agent/wire/beginning.h"
#include "agent/wire/event.h"
#include "play.h"

struct command_sink;
struct epoch;
struct pollfd;
struct source;

enum { SOURCE_FDS = 3 };

/* What `step` and `serve` return: the sum of any of these, or 0. */
enum source_news {
	SOURCE_BEGUN = 1,		/* a new stream of bytes: the first one may lie in the middle of a packet */
	SOURCE_LOST = 2,		/* the stream has ended; nothing comes until the next SOURCE_BEGUN */
	SOURCE_STOPPED = 4,		/* the guest rebooted or lost its hook: its last status is out of date */
	SOURCE_ANEW = 8,		/* with SOURCE_BEGUN: forget everything that was read before */
};

/* The texts live until the source's next step. */
struct source_facts {
	const char *machine;		/* the VM's name; NULL: none is known */
	const char *kernel;		/* the file of its kernel; NULL: none is known */
	enum link_state state;		/* as far as it shows without decoding the bytes: never LINK_UP */
	enum link_by by;
	enum vm_state vm;
	uint64_t resets;		/* of the machine, that were seen so far */
	bool unsure;			/* as link_is_unsure */
	const char *ended;		/* how this ktop's own VM has ended; NULL: not known, or not its own */
	bool ended_well;		/* that was no failure */
	bool silent;			/* bytes are overdue */
	bool own;			/* the sampler is ktop's own process, and ends with ktop */
	uint64_t news;			/* grows when the remark may have changed */
	enum kept_wish kept;		/* a wish to start or stop that waits for the guest */
	const struct guest *guest;	/* the guest's facts, if known before its bytes are read; else NULL */
	const uint8_t *boot_id;		/* the boot of `guest`; used with it alone */
	const struct event *descriptors;	/* they describe the kernel's own events; used with `guest` alone */
	size_t descriptor_count;
	struct beginning beginning;	/* of that boot; likewise, as is: */
	uint64_t before;		/* ticks at which the boot before ended; 0: there is none, or it is not known */
	struct play_state play;
	const char *recording;		/* the folder of the recording that is played; NULL: the source is none */

	bool settled;			/* the first try to connect is over */
	const char *failure;		/* why that failed, or a recording is not read on; what to do; NULL: neither */
};

/* What the session knows of the guest and passes to `serve`. */
struct source_guest {
	const struct epoch *epoch;	/* NULL: none yet */
	enum link_state state;		/* LINK_UP: connected, and the guest has told of itself */
};

struct source_wait {
	struct pollfd *fds;		/* room for SOURCE_FDS */
	uint64_t at;			/* set by the session: a few bytes are of no use before */
	size_t count;			/* how many of `fds` are filled */
	uint64_t due;			/* the wait ends at this time at the latest, by util_now */
};

struct source_table {
	void (*free)(struct source *source);

	/* Fills `wait` before the session polls. `reads`: wait for bytes, too. */
	void (*await)(struct source *source, bool reads, uint64_t now, struct source_wait *wait);

	/* Continues what is under way, such as connecting. Called before `read`. Returns source_news. */
	unsigned (*step)(struct source *source, uint64_t now);
	/* Sends, and acts on the guest's state. Called after what came was read and handled. Returns source_news. */
	unsigned (*serve)(struct source *source, const struct source_guest *guest, uint64_t now);

	/* Returns the number of bytes read, 0 if there are none now, or -1 if the stream has ended (SOURCE_LOST). */
	ssize_t (*read)(struct source *source, void *to, size_t size);

	struct source_facts (*facts)(const struct source *source);
	/*
	 * Writes what is wrong and what to do, in one line; "" if nothing is wrong. `state`: the link's, as the session
	 * knows it: LINK_UP or LINK_SILENT once the guest has told of itself. Returns `text`.
	 */
	const char *(*remark)(const struct source *source, enum link_state state, char *text, size_t size);

	/*
	 * Starts or stops the guest's profiler, or the replay. `keep`: the wish is kept while it cannot be met. The
	 * sink is called as profiler.h says.
	 */
	void (*run)(struct source *source, bool on, bool keep, const struct command_sink *sink);

	/* Obeys an order to the player. NULL: the source is not a recording. */
	void (*play)(struct source *source, const struct play *wanted, uint64_t now);

	/* Sends a control line to the guest. The sink is called once, with the answer or with why there is none. */
	void (*ask)(struct source *source, const char *line, const struct command_sink *sink);
	/* The guest's answer to a control line has been decoded. */
	void (*answered)(struct source *source, bool ok, const char *bytes, size_t size);
	/* Asks the guest to send all its meta events. `why` not NULL: lines that wait fail first, with this text. */
	void (*greet)(struct source *source, const char *why);
	/*
	 * Reads a page of the guest's memory in another way than by a control line. `can_read`: it can now.
	 * `take_page`: the page has come, with no bytes if it cannot be had; true once. All NULL: there is no such way.
	 */
	bool (*can_read)(const struct source *source);
	void (*read_page)(struct source *source, uint64_t address, uint64_t now);
	bool (*take_page)(struct source *source, struct memory_bytes *bytes);

	/*
	 * Lends the connection to QMP to a job, which may wait; NULL: there is none, or it is in use. `take_back` ends
	 * that. Both NULL: there is no machine.
	 */
	struct qmp *(*lend)(struct source *source);
	void (*take_back)(struct source *source, struct qmp *qmp);

	bool (*waits)(const struct source *source);	/* an answer of the guest is still to come */
	void (*forget)(struct source *source, const void *context);	/* calls no sink with this context */

	/* Writes what was plugged into the VM for this session, in one line; "" if nothing. Returns `text`. */
	const char *(*plugged)(const struct source *source, char *text, size_t size);
	/* Begins to take out what was plugged in. The steps do the work, for as long as `leaving` is true. */
	void (*leave)(struct source *source, uint64_t now, int timeout_ms);
	bool (*leaving)(const struct source *source);
	const char *(*stays)(const struct source *source);	/* what could not be taken out; NULL: nothing */
};

/* The first member of each source's own struct. */
struct source {
	const struct source_table *table;
};

#endif
