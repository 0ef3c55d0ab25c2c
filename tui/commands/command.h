/* SPDX-License-Identifier: MIT */
/* The commands: what main chooses from, and what they share. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "agent/base/options.h"

enum { COMMAND_GROUPS = 4 };

struct command {
	const char *name;
	const char *words;		/* what may follow, for the usage */
	const char *help;
	struct {
		const char *title;
		const struct option_row *rows;
	} options[COMMAND_GROUPS];
	int (*run)(char *const *words, size_t count);	/* the exit status */
};

extern const struct command command_top, command_report, command_record, command_ctl, command_run,
	command_config;

/* Which VM, and what ktop may take: into a struct session_options. */
extern const struct option_row command_attach[], command_limits[];
enum {					/* where they are heeded as well */
	COMMAND_BESIDE = 1,		/* beside a live ktop, which has the VM */
	COMMAND_RECORDED = 2,		/* of a recording */
};

/* What these print is harmless to a terminal, whatever a text has in it. Both free the text. */
void command_print(FILE *to, char *text);
void command_tell(char *text);		/* on stderr, behind "ktop: " */

/*
 * An option that only who has the VM can heed was given to a command that asks a live ktop; false:
 * none was. Tells it.
 */
bool command_not_beside(const struct option_set *sets, size_t count);

/* Prints "ktop: ERROR" and frees it; the usage error names the help as well. */
enum { COMMAND_DONE, COMMAND_FAILED, COMMAND_USAGE };
int command_fail(char *error);
int command_usage(const struct command *command, char *error);
int command_which(const struct command *command);	/* there is not one live ktop alone */

/*
 * Signals that ask to end are held back from here on, and only looked at, so that what was begun is
 * cleaned up. While the screen is open they come in: it has its own way.
 */
void command_hold_signals(void);
bool command_stopped(void);		/* one has come */

/* Who insists sends another one: the first is taken, looked for once more, and put back. 0: none. */
int command_take_signal(void);
void command_put_back(int signal);
void command_release_signals(void);	/* they end the program */

struct budget;
struct config;
struct session;
struct session_options;
struct tape;

/*
 * An end that somebody waits for is over after that time, counted from the key or the signal: all that is still
 * to be done shares it. command_late: when that is (util_now), for an end that begins now; or later, when nobody
 * waits.
 */
enum { COMMAND_HURRY_MS = 200 };
uint64_t command_late(bool hurry);

/*
 * Waits for the first try to connect, or a signal; tells of what is plugged into the VM. Detaching
 * takes that out and frees the session, telling what stays.
 */
struct session *command_attach_to(const struct session_options *options, char **error);
void command_detach(struct session *session);

void command_tell_failures(struct session *session);	/* of which it has messages */

/*
 * Waits until all files are written, the recording (or NULL) too, saying which are not yet; another
 * signal leaves them. Tells what went wrong with them. False with `error` set: with the recording.
 */
bool command_await_files(struct session *session, struct tape *tape, char **error);

/* By the signal that came last: takes out of the VM what it can until then, and ends the program. */
void command_give_up(struct session *session, uint64_t late, char *why);

struct command_vm {
	struct session *session;
	const char *socket;		/* QMP's, else the port's; NULL: it is a recording */
	char *label;			/* what a tab is called while the VM's name is not known */
	struct tape *tape;		/* of all that comes; NULL: none. The screen ends it */
};

/* What the guest is told as soon as it can be: so many lines, then to start. */
struct command_start {
	const char *lines[2];		/* NULL: none */
};

/*
 * The live screen on so many sessions, until its user leaves. `budget`: of what is shown over all,
 * NULL for one. `start`: NULL, the guest is left as it is.
 */
int command_screen(const struct command_vm *vms, size_t count, struct budget *budget,
	const struct config *config, const struct command_start *start);

/* Profiles, writes the report to stdout; the session is left then, and its files are written. */
struct report_request;
int command_profile(struct session *session, const struct report_request *request);

#endif
