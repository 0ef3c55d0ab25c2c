/* SPDX-License-Identifier: MIT */
/*
 * Knows every stage and wires them: source, decoder, tapes, epochs (store, stacks, symbols),
 * queries. Holds no logic of its own. One thread drives it with session_step; other threads use the
 * calls marked "any thread", which take one short lock.
 */
#ifndef SESSION_H
#define SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/export/export.h"
#include "agent/source/play.h"
#include "agent/vm/link.h"
#include "agent/vm/qmp/qmp.h"
#include "message.h"

struct answer;
struct command_sink;
struct decode;
struct epoch;
struct excerpt;
struct loan;
struct request;
struct session;
struct source;
struct subscription;

struct session_options {
	const char *qmp;		/* socket; NULL: only the port is used */
	const char *port;		/* overrides what QMP says */
	const char *kernel;		/* ELF, likewise */
	const char *symbols;		/* nm or System.map text */
	const char *sysroot;		/* folder with the guest's files, or NULL */
	const char *debug;		/* folder with debug files, or NULL */
	bool debuginfod;		/* servers are asked for others */
	uint32_t memory;		/* MiB, as budget.h; 0: as it is there */
	bool no_plug;			/* a VM without the port is left alone */
	bool patient;			/* a VM that is not there is waited for: that is no failure */
};

/* Only the steps read files and connect. NULL with `error` set. */
struct session *session_new(const struct session_options *options, char **error);

/* The same from any source, which it takes in any case; the options that say which VM are not heeded. */
struct session *session_new_on(struct source *source, const struct session_options *options, char **error);
void session_free(struct session *session);

/* Handles what is ready, waiting at most timeout_ms. The caller's loop is around this. */
void session_step(struct session *session, int timeout_ms);

/* Nothing more is to come: is anything still being written, that freeing would wait for? What, in `text`. */
bool session_writes(struct session *session, char *text, size_t size);

/*
 * The first try to connect is over; why it has failed: what is missing, what to do; NULL: it has
 * not, or not yet. Steps try again.
 */
bool session_settled(const struct session *session);
const char *session_failure(const struct session *session);

/* Of a recording: it has come to its end, and all of it was handled. */
bool session_over(const struct session *session);
struct play_state session_play_state(const struct session *session);

struct epoch *session_epoch(const struct session *session);	/* NULL: no boot seen yet */
const struct decode *session_decode(const struct session *session);
enum link_state session_link(const struct session *session);
enum vm_state session_vm(const struct session *session);
struct loan *session_loan(struct session *session);	/* for its reports alone */
bool session_reads_names(const struct session *session);	/* of the kernel, from its file */
bool session_fetches(const struct session *session);	/* debug files: lines may take long */

/* What ails the connections, as link_remark tells it. */
const char *session_trouble(const struct session *session, char *text, size_t size);

/* What was plugged into the VM for this session, in a line; "" if nothing. Returns `text`. */
const char *session_plugged(const struct session *session, char *text, size_t size);

/*
 * Any thread: nobody waits for an answer any more: pictures and reports in the making are given up, until it is
 * left, and are of no use. What was saved is not.
 */
void session_give_up(struct session *session);
const atomic_bool *session_given_up(const struct session *session);

/*
 * Takes that out, and is over at `late` (util_now), whatever does not answer; once: later calls do nothing.
 * Only files and session_free may follow. What stays, in a line; NULL: nothing.
 */
void session_leave(struct session *session, uint64_t late);
const char *session_stays(const struct session *session);
bool session_left_running(const struct session *session);	/* the guest's profiler, as far as is known */

/*
 * A control line for the guest; starting and stopping. The sink is called from a later step, or at
 * once when it cannot be; then it is forgotten. A wish for the profiler ends one for the contrary.
 */
void session_ask(struct session *session, const char *line, const struct command_sink *sink);
void session_profile(struct session *session, bool on, const struct command_sink *sink);
void session_command(struct session *session, const char *line);	/* the answer is a message */
void session_forget(struct session *session, const void *context);	/* sinks that have it */

/* It goes off as soon as the guest can hear that, unless somebody wishes it on until then. */
void session_stop_owed(struct session *session);

/* A fact that stays: a remark from now on. */
void session_remark(struct session *session, const char *text);

/* ---- any thread ---- */

/*
 * Any number of readers, each with a question of its own (answers/answer.h). One that takes its answers has the
 * next when something is new, a pause after the last; one that does not, or asks NULL, costs nothing. Each belongs
 * to one thread, and is not used any more once the session is freed.
 */
struct subscription *session_subscribe(struct session *session);
void session_unsubscribe(struct subscription *subscription);	/* NULL: nothing */
void session_request(struct subscription *subscription, const struct request *request);
struct answer *session_answer(struct subscription *subscription);	/* the caller's; NULL: no newer one */

/* Readable when any answer or message waits; to be cleared before they are taken. */
int session_news_fd(const struct session *session);
void session_clear_news_fd(struct session *session);

/* Toggle by key, and by port when no status confirms it in 300 ms. Results come as messages. */
void session_run_profiler(struct session *session, bool on);
void session_snapshot(struct session *session, const char *path, const struct excerpt *excerpt,
	const struct export_choice *choice);
void session_play(struct session *session, struct play play);	/* of a recording */

void session_say(struct session *session, bool failed, const char *text);	/* a message */
bool session_message(struct session *session, struct session_message *message);	/* next, if any */

#endif
