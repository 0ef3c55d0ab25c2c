/* SPDX-License-Identifier: MIT */
/*
 * The terminal's device, below ncurses: its state before ktop, the signals that concern it, and a way to put it back
 * that is safe in a signal handler. There is one, and the main thread makes all calls.
 */
#ifndef TTY_H
#define TTY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * `leave`: the bytes that take back the modes that the caller is about to set; they are copied. From here until
 * tty_close, the device is put back whenever the program ends, by exit or by a crash. Meanwhile the signals of
 * signals_ending are not blocked. If standard error is a terminal, its text is kept and shown after the screen. False
 * with `error` set.
 */
bool tty_open(const char *leave, size_t size, char **error);
void tty_close(void);			/* puts signals and standard error back, and shows the text that was kept */

/*
 * Between these two calls the caller may block in a write to the terminal. If a signal ends the program meanwhile, the
 * rest of the output goes to /dev/null, so that a stuck terminal does not delay the end.
 */
void tty_begin(void);
void tty_end(void);

/* Makes this call, and drops what it writes to standard output. */
void tty_unheard(int (*call)(void));

/* True: its modes may be set. False in the background, and after a signal has diverted the output. */
bool tty_ours(void);

/* Stops the program until it is continued. The caller has taken back the modes. False: the program has to end now. */
bool tty_suspend(void);

enum tty_event { TTY_NOTHING, TTY_HANGUP, TTY_QUIT, TTY_STOP, TTY_CONTINUE, TTY_RESIZE };
/* The most urgent event that came; TTY_HANGUP and TTY_QUIT are returned again at each call. Never waits. */
enum tty_event tty_event(void);
int tty_fd(void);			/* readable while an event waits */

#endif
