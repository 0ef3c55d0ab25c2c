/* SPDX-License-Identifier: MIT */
/* The commands of ktop, from which main chooses, and what they share. Main thread. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "agent/base/options.h"
#include "agent/session/session.h"
#include "agent/source/live.h"

enum { COMMAND_GROUPS = 4 };

struct command {
	const char *name;
	const char *words;		/* what may follow the name, as the help shows it */
	const char *help;
	struct {
		const char *title;
		const struct option_row *rows;
	} options[COMMAND_GROUPS];
	int (*run)(char *const *words, size_t count);	/* returns the exit status */
};

extern const struct command command_top, command_report, command_export, command_record, command_ctl, command_run,
	command_config, command_size, command_diff, command_strace, command_trace, command_crash;

/* Options that choose the VM, those of them about names, and limits of ktop. They fill a struct attach_options. */
extern const struct option_row command_attach[], command_names[], command_limits[];
enum {					/* `heeded`: where an option counts, too */
	COMMAND_BESIDE = 1,		/* beside a live ktop, which has the VM */
	COMMAND_RECORDED = 2,		/* with a recording */
};

/* An option's check: is it FROM=TO? */
bool command_check_map(const char *text, char **error);

/* These print a text so that it cannot harm a terminal, whatever it holds. Both free the text. */
void command_print(FILE *to, char *text);
void command_tell(char *text);		/* on stderr, behind "ktop: "; NULL: nothing */

/*
 * For a command that asks a live ktop. True: an option was given that has no effect there, since the live ktop has the
 * VM. An error has told so.
 */
bool command_not_beside(const struct option_set *sets, size_t count);

/* Prints "ktop: ERROR" and frees it; the usage error names the help as well. */
enum { COMMAND_DONE, COMMAND_FAILED, COMMAND_USAGE, COMMAND_GROWN };	/* exit statuses; grown: --fail-above */
int command_fail(char *error);
int command_fail_as(int status, char *error);	/* likewise, with this status, which it returns */

/*
 * The command has come to its end, with this exit status, and tells that next: a signal that comes from here on ends
 * the program so, and tells nothing more. Does not return if one ends the program already.
 */
void command_outcome(int status);
void command_lose_output(void);		/* any thread: standard output does not get all; so nothing is done well */
bool command_loses_output(void);
bool command_interrupt(int *status);	/* any thread: a signal ends it. False: it has come to its end already, so */
int command_usage(const struct command *command, char *error);
int command_which(const struct command *command);	/* the usage error if no VM was named: lists live ktops */

/*
 * Parses options, with other words before, between and behind them. Returns these other words, in fresh memory; the
 * texts stay the caller's. NULL with `error` set.
 */
char **command_operands(char *const *words, size_t count, const struct option_set *sets, size_t set_count,
	size_t *operand_count, char **error);

/*
 * Blocks the signals that end a program from here on. Commands poll for them instead, so that they can clean up. The
 * screen unblocks them while it is open (tty.h).
 */
void command_hold_signals(void);
bool command_stopped(void);		/* a signal is pending */

/*
 * To see a second signal, take the first away (0: there was none), and put it back at the end, so that
 * command_stopped is true again.
 */
int command_take_signal(void);
void command_put_back(int signal);

struct attach_options;
struct budget;
struct config;
struct console;
struct live_options;
struct service;
struct session;
struct capture;

/* The deadline (util_now) of an end that begins now: SESSION_HURRY_MS; `hurry` false: nobody waits, so it is later. */
uint64_t command_late(bool hurry);

/* Makes a session on the live VM. Its steps connect it. NULL with `error` set when an option is wrong. */
struct session *command_session(const struct attach_options *options, char **error);

/*
 * Connects: waits until the first try is over, for a signal, or until `wait` is over, since QEMU may be slow. Says what
 * was plugged into the VM. NULL with `error` set. `service`: set to what this ktop does for others on the VM, which
 * begins before it is connected; NULL: it does nothing for them. Whoever still asks when the service is freed is told
 * that this ktop has ended. After that, command_detach takes out what was plugged in, says what stays in the VM, and
 * frees the session.
 */
struct command_wait {
	uint64_t ns;
	bool goes_on;			/* then the session is there all the same, and goes on trying */
};
struct session *command_attach_to(const struct attach_options *options, const struct command_wait *wait,
	struct service **service, char **error);

/*
 * After command_attach_to has failed: the socket of a live ktop that was started at the same time and has the VM now,
 * in fresh memory; the error is freed. NULL: there is none, and the error stays. Waits for it, for a second at most: it
 * could not serve others while this command did.
 */
char *command_overtaken(const struct attach_options *options, char **error);
/* Steps the session, and what is done for others; `service` NULL: nothing is. */
void command_step(struct session *session, struct service *service, int timeout_ms);
char *command_alone(char *why);		/* says that others cannot work beside this ktop; fresh memory; frees `why` */
void command_detach(struct session *session);

const char *command_socket(const struct live_options *live);	/* the VM's: QMP, else the port; NULL: none */

void command_tell_failures(struct session *session);	/* prints the session's messages about failures */

/*
 * Waits until all files of the session are written, and the recording `capture` (or NULL), which it frees. Says what it
 * waits for; a signal gives the files up and ends the program. Tells what went wrong. False with `error` set: the
 * recording was not written.
 */
bool command_await_files(struct session *session, struct capture *capture, char **error);

/* Tells why, takes out of the VM what it can until `late`, and ends the program by the pending signal. */
void command_give_up(struct session *session, uint64_t late, char *why);

struct command_vm {
	struct session *session;
	const char *socket;		/* the QMP socket, or else the port's; NULL: it is a recording */
	char *label;			/* the tab's name while the VM's name is not known */
	struct capture *capture;	/* records all that comes; the screen ends it; NULL: none */
	struct console *console;	/* of the QEMU that this ktop has started; NULL: it has started none */
};

/* What the guest is told as soon as it answers: first these control lines, then to start profiling. */
struct command_start {
	const char *lines[2];		/* NULL: none */
	bool own;			/* only a sampler of ktop's own is, unless its user has decided before */
};

/*
 * Shows the live screen on these VMs until its user quits. Returns the exit status. `budget`: pays for the screen over
 * all; NULL with one VM. `start` NULL: the guests are left as they are. `detach`: set to whether the QEMU with that
 * console is to go on; NULL: there is none.
 */
int command_screen(const struct command_vm *vms, size_t count, struct budget *budget,
	const struct config *config, const struct command_start *start, bool *detach);

/*
 * Makes a report, or another answer whose options are these rows, as the words say: of a VM, beside its live ktop, or
 * of a recording. `look` sees the request first: it returns an exit status, or COMMAND_GO_ON; NULL: it goes on.
 */
enum { COMMAND_GO_ON = -1 };
struct report_request;
int command_ask(const struct command *command, const struct option_row *rows, char *const *words, size_t count,
	int (*look)(const struct report_request *request));

/* Records, as `ktop record` does. `sets`: command_attach and command_limits, as they were given. */
struct recorder_request;
int command_record_to(const struct attach_options *options, const struct recorder_request *request,
	const struct option_set *sets);

/*
 * Profiles, and meanwhile works for other ktops by the service, which it frees; NULL: there is none. Writes the report
 * to stdout, leaves the session, and waits for its files. Returns the exit status.
 */
int command_profile(struct session *session, struct service *service, const struct report_request *request);

/* ---- beside ---- */

/* Commands that work beside a live ktop: that one has the VM's port, so it carries them out. */

struct option_row;

/*
 * Sends `word` and the options that make up `request` to the live ktop at the path `live`, waits for the answer, and
 * prints it. On a signal, the live ktop answers with what it has; a second signal ends the program. Returns the exit
 * status.
 */
int beside_ask(const char *live, const char *word, const struct option_row *rows, const void *request);

/* ---- attach options ---- */

/* What the options in command_attach and command_limits fill. */

struct attach_options {
	struct live_options live;	/* of the VM; unused with a recording */
	struct session_options session;
};

#endif
