/* SPDX-License-Identifier: MIT */
/*
 * The terminal's device, below ncurses: its state before ktop, the signals that concern it, and a way to put it back
 * that is safe in a signal handler. There is one, and the main thread makes all calls.
 */
#ifndef TTY_H
#define TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * `leave`: the bytes that take back the modes that the caller is about to set; they are copied. From here until
 * tty_close, the device is put back whenever the program ends, by exit or by a crash. Meanwhile the signals of
 * signals_ending are not blocked. If standard error is a terminal, its text is kept and shown after the screen. False
 * with `error` set.
 */
bool tty_open(const char *leave, size_t size, char **error);
void tty_close(void);			/* puts signals and standard error back, and shows the text that was kept */

/*
 * A stream to the terminal, for ncurses. From tty_keep on, what is written there is kept in memory, and the settings
 * that the terminal has then are the screen's. Nothing that ktop does waits until the terminal takes its output.
 */
FILE *tty_paper(void);
bool tty_keep(void);			/* false with errno set: there is no room for it */
/*
 * To be asked when something was written. False: it found no room, by ulimit -f or since memory is full. What is kept
 * is dropped, and TTY_QUIT comes: a screen that is not whole is not shown.
 */
bool tty_is_whole(void);
int tty_cut(void);			/* the errno of that, also after tty_close; 0: all was whole */
void tty_drop(void);			/* drops what is kept */
bool tty_flush(void);			/* sends of it what the terminal takes now; true: it has taken all */
int tty_behind(void);			/* the terminal, while it has not taken all; else -1 */

bool tty_ours(void);			/* its modes may be set; false in the background */

/*
 * Puts the terminal back, and stops the program until it is continued. What takes back the caller's modes is written.
 * False: the program has to end now.
 */
bool tty_suspend(void);
void tty_resume(void);			/* gives the terminal the screen's settings */

enum tty_event { TTY_NOTHING, TTY_HANGUP, TTY_QUIT, TTY_STOP, TTY_CONTINUE, TTY_RESIZE };
/* The most urgent event that came; TTY_HANGUP and TTY_QUIT are returned again at each call. Never waits. */
enum tty_event tty_event(void);
int tty_fd(void);			/* readable while an event waits */

/* ---- signals ---- */

/* Which signals end a program. */

/*
 * All signals from outside that end a program by default. Before it ends, ktop has to put the terminal and the guest
 * back as they were.
 */
void signals_ending(sigset_t *set);

/* The signals that a fault of the program itself raises. */
void signals_faults(sigset_t *set);

#endif
