/* SPDX-License-Identifier: MIT */
/*
 * One machine. A session knows every stage and connects them: source, decoder, captures, epochs (store, stacks,
 * symbols), queries. It holds no logic of its own. One thread, the ingest thread, drives it by session_step. It makes
 * all calls but those marked "any thread", which take one short lock.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/options.h"
#include "agent/export/export.h"
#include "agent/source/source.h"
#include "agent/vm/link.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/wire/metadata.h"
#include "subscription.h"

struct answer;
struct wakeup;
struct budget;
struct command_sink;
struct decode;
struct epoch;
struct excerpt;
struct flight;
struct lease;
struct request;
struct session;
struct set_facts;
struct source;
struct state_words;
struct subscription;
struct trace_watcher;

enum { SESSION_LEAD_MS = 10000 };	/* what a screen's session keeps for session_keep */

struct session_options {
	const char *kernel;		/* the kernel's ELF file; NULL: the source may tell it */
	const char *symbols;		/* a list of symbols, as of nm or System.map; NULL: the kernel's own */
	const char *objects[OPTION_TEXTS_MOST + 1];	/* FILE@ADDRESS each: other files that the kernel has loaded */
	const char *sysroot;		/* folder with the guest's files; NULL: none */
	const char *debug;		/* folder with debug files; NULL: none */
	const char *source_map;		/* FROM=TO: where source files are; NULL: where DWARF says */
	bool debuginfod;		/* ask debuginfod's servers for other debug files */
	uint32_t memory;		/* budget in MiB; 0: BUDGET_MIB */
	struct budget *budget;		/* one that others share, in place of `memory`; held; NULL: its own */
	bool log;			/* keep each sample with its own time, too (epoch_log_begin) */
	const struct trace_watcher *calls;	/* who is told of system calls (trace_watch); borrowed; NULL: nobody */
	bool patient;			/* wait for a VM that is not there yet: that is no failure */
	uint64_t lead;			/* ns: so much of what came last can be recorded (session_keep); 0: nothing */
};

/*
 * Takes ownership of the source, also when it fails. Neither connects nor reads files: the steps do. NULL with `error`
 * set when an option is wrong.
 */
struct session *session_new(struct source *source, const struct session_options *options, char **error);
/* Waits until accepted snapshots are written. It takes out nothing that was plugged in: session_leave does. */
void session_free(struct session *session);

/*
 * Waits at most timeout_ms, and handles what is ready. The caller calls it in a loop. session_await: the wait of the
 * next steps ends when `fd` is readable, too; -1: nothing more.
 */
void session_step(struct session *session, int timeout_ms);
void session_await(struct session *session, int fd);

/* At the end: true while snapshots are still being written, for which session_free would wait. `text` names them. */
bool session_writes(struct session *session, char *text, size_t size);

/*
 * session_settled: the first try to connect is over, or the session is patient. session_failure: why that try failed,
 * or a recording is not read to its end, and what to do; NULL: neither, or the try is not over. After a failure to
 * connect, the steps try again.
 */
bool session_settled(const struct session *session);
const char *session_failure(const struct session *session);

/* The source is a recording, its end is reached, and all of it was handled. */
bool session_over(const struct session *session);

struct metadata_machine session_machine(const struct session *session);	/* for a recording; until the next step */

/* What came last, for who records it at the end. From now on, so many guest ns are kept. */
struct flight *session_flight(struct session *session, uint64_t lead);

struct epoch *session_epoch(const struct session *session);	/* NULL: no boot seen yet */
const struct decode *session_decode(const struct session *session);
/* For sample sets. The texts live until the next step. */
struct set_facts session_facts(const struct session *session, const struct epoch *epoch);
struct source_facts session_source(const struct session *session);	/* what it tells; until the next step */
enum link_state session_link(const struct session *session);	/* a silent link is LINK_UP here */
const struct state_words *session_words(const struct session *session);	/* of its link */
bool session_ordered(const struct session *session);	/* session_run_profiler was called, and the order was obeyed */
struct lease *session_lease(struct session *session);	/* of reports; for those who send a person's lines, too */
bool session_reads_names(const struct session *session);	/* the kernel's names are being read */
bool session_copies_names(const struct session *session);	/* out of a pipe, whose writer has 30 s each time */
bool session_fetches(const struct session *session);	/* debug files come from servers: lines may take long */

/* Writes what is wrong with the connections and what to do, in one line; "" if nothing. Returns `text`. */
const char *session_trouble(const struct session *session, char *text, size_t size);

/* Writes what was plugged into the VM for this session, in one line; "" if nothing. Returns `text`. */
const char *session_plugged(const struct session *session, char *text, size_t size);

/*
 * Any thread: nobody waits for answers any more. From now on, answers and reports are broken off in the making, and
 * must not be used. Snapshots are still written whole. Ends the wait of a step.
 */
void session_give_up(struct session *session);
const atomic_bool *session_given_up(const struct session *session);

/*
 * How long an end may take for which somebody waits, counted from the key, the signal or the client's word. All that is
 * still to be done shares this time.
 */
enum { SESSION_HURRY_MS = 200 };

/*
 * Carries out the orders that wait, and takes out what was plugged in. Returns at `late` (util_now) at the latest,
 * whether the others answer or not. Only the first call does anything. Afterwards only writing files and session_free
 * are allowed. session_stays: what could not be taken out, in one line; NULL: nothing.
 */
void session_leave(struct session *session, uint64_t late);
const char *session_stays(const struct session *session);
bool session_left_running(const struct session *session);	/* the guest's profiler was on, as far as is known */

/*
 * session_ask sends a control line to the guest, session_profile starts or stops its profiler. The sink is called
 * once: from a later step, or at once if sending fails. A wish for the profiler makes an older one for the contrary
 * fail.
 */
void session_ask(struct session *session, const char *line, const struct command_sink *sink);
void session_profile(struct session *session, bool on, const struct command_sink *sink);
void session_forget(struct session *session, const void *context);	/* calls no sink with this context any more */

/* Stops the profiler as soon as the guest can hear it, unless somebody wants it on before that. */
void session_stop_owed(struct session *session);

/* Shows this text as a remark from now on, in place of the last such text. */
void session_remark(struct session *session, const char *text);

/* ---- any thread ---- */

/* As subscription_new. It must not be used after the session is freed. */
struct subscription *session_subscribe(struct session *session, struct wakeup *wakeup, struct epoch *boot);

/* Readable when a message waits. Clear it before you take messages. */
int session_message_fd(const struct session *session);
void session_clear_message_fd(struct session *session);

/* Orders. A message tells how each went. The profiler is started and stopped as profiler.h says. */
void session_run_profiler(struct session *session, bool on);
void session_snapshot(struct session *session, const char *path, const struct excerpt *excerpt,
	const struct export_choice *choice);
void session_play(struct session *session, struct play play);	/* ignored if the source is no recording */
void session_keep(struct session *session, const char *path);	/* records what came last, in a folder of that name */
/* Reads the memory of a machine that answers no more, records it in a folder of that name, and goes on with it. */
void session_read_dead(struct session *session, const char *path);
void session_mark(struct session *session, const char *text);	/* the guest writes an event `mark` with this text */
/*
 * Has the kernel's function that begins at this address of its file traced by the plugin in QEMU, or no longer, if it
 * is: its calls become events. They, and what is said, have this name.
 */
void session_trace_function(struct session *session, const char *name, uint64_t address);

void session_say(struct session *session, bool failed, const char *text);	/* sends a message to the readers */
bool session_message(struct session *session, struct session_message *message);	/* the oldest; false: there is none */

#endif
