/* SPDX-License-Identifier: MIT */
/*
 * The terminal's device, below ncurses: how it was, the signals that concern it, and a way back
 * that takes no more than a signal handler may. There is one, of the main thread.
 */
#ifndef TTY_H
#define TTY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * `leave` is what takes back the modes that the caller is about to set; copied. Until tty_close the
 * device is put back as it was when the program ends, be it by exit or by a crash. Meanwhile the
 * signals that end come in, even if they were held; and what the program writes to a standard error
 * that is a terminal waits until the screen has gone.
 */
bool tty_open(const char *leave, size_t size, char **error);
void tty_close(void);

/*
 * Between these the caller may wait for the terminal. A signal that ends sends what it still writes
 * to nowhere, so that a terminal that is stuck holds up nobody.
 */
void tty_begin(void);
void tty_end(void);

/* May its modes be set? Not in the background, nor when a signal has ended the writing. */
bool tty_ours(void);

/* Stops the program; its modes are as before. False when it goes on only to end. */
bool tty_suspend(void);

enum tty_event { TTY_NOTHING, TTY_HANGUP, TTY_QUIT, TTY_STOP, TTY_CONTINUE, TTY_RESIZE };
enum tty_event tty_event(void);		/* the gravest that came; one that ends, ever again */
int tty_fd(void);			/* readable while one waits */

#endif
