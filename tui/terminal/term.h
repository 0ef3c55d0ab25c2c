/* SPDX-License-Identifier: MIT */
/*
 * The terminal. Only term.c knows ncurses. There is one terminal, and only the main thread uses it.
 * The signals of tty.h become input.
 */
#ifndef TERM_H
#define TERM_H

#include <signal.h>
#include <stdbool.h>

#include "theme.h"

struct canvas;

bool term_possible(char **error);	/* false with `error` set: no terminal that could show a screen */
bool term_open(const struct theme *theme, char **error);	/* false with `error` set; borrows the theme */
void term_close(void);			/* puts the terminal back as it was */

struct canvas *term_canvas(void);	/* a new one, as large as the terminal is now */

/*
 * Sends what differs from what is shown, as far as the terminal takes it now; tty_flush sends the rest. True: it has
 * taken all. Until then, no other canvas is to be shown.
 */
bool term_show(const struct canvas *canvas);
void term_redraw(void);				/* the next term_show sends everything */
bool term_suspend(void);		/* stops the program until it is continued; false: it has to end now */
void term_resume(void);				/* sets the modes again: another program may have had the terminal */

/* Descriptors to poll: for input, and until the terminal takes more; returns how many. */
enum { TERM_FDS = 3 };
struct pollfd;
int term_fds(struct pollfd fds[TERM_FDS]);

/* ---- keys ---- */

/* Reads keys, the mouse and pasted text from the terminal. Main thread. */

struct input;

bool term_keys_read(struct input *input);	/* false: there is no input; never waits */
bool term_keys_gone(void);		/* the terminal was hung up */

#endif
