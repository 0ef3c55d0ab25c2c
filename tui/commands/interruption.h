/* SPDX-License-Identifier: MIT */
/*
 * A signal ends a command, whatever the command is busy with. The signals are held (command_hold_signals). A command
 * that polls for them takes one within a moment, and ends by itself. If nobody has taken it by then, the command is in
 * a long piece of work, or waits for a disk or a pipe: then a thread of its own takes the signal, and acts.
 */
#ifndef INTERRUPTION_H
#define INTERRUPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct interruption;

/*
 * From here on a signal that is held also ends what waits for a reader of standard output or error: where nobody has
 * taken anything for a moment, what is still to come is dropped. So a command that prints goes on, and takes the
 * signal. Main thread. NULL: there is no thread for it.
 */
struct interruption *interruption_of_prints(void);

/* `act` is called in that thread, for each such signal. The signals are held already, so that no thread gets them. */
struct interruption *interruption_new(void (*act)(void *context), void *context);
void interruption_free(struct interruption *interruption);	/* NULL is allowed. `act` is over, or does not come */

/*
 * Ends the program as failed, with this line: "what failed: why; what to do"; or as its outcome was, if that is told
 * already. In `act`, whatever the other threads do.
 */
_Noreturn void interruption_exit(const char *line);

/*
 * For a command that has no guest, and so leaves nothing behind: holds the signals from here on. The program ends with
 * this line, "what failed: why; what to do", which it takes.
 */
struct interruption *interruption_ends(char *line);

/*
 * What a command does before its screen is there: it may take long, and says so then. The same ends it as ends the
 * screen: q, and any of the signals. Main thread.
 */
struct interruption_early {
	const char *what, *does;	/* such as "QEMU", "starts"; told if it takes long */
	uint64_t speak_at;		/* host ns; UINT64_MAX: it is told */
	bool keys, quit;		/* the terminal's keys are read; q came */
	struct termios before;		/* the terminal's modes */
};

/* `keys`: a screen is to come. Without it the keys are somebody else's. */
void interruption_early_begin(struct interruption_early *early, const char *what, const char *does, bool keys);
void interruption_early_end(struct interruption_early *early);		/* puts the terminal back */

/* To be asked again and again: is it to be given up? Never waits. `early`: a struct interruption_early. */
bool interruption_early(void *early);

#endif
