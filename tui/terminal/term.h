/* SPDX-License-Identifier: MIT */
/*
 * The terminal; it and term_keys.c alone know ncurses. There is one, used by the main thread. The
 * signals of tty.h become input.
 */
#ifndef TERM_H
#define TERM_H

#include <stdbool.h>

#include "theme.h"

struct canvas;

bool term_possible(char **error);	/* false: no terminal that could show a screen */
bool term_open(const struct theme *theme, char **error);	/* the theme outlives it */
void term_close(void);			/* the terminal is as it was */

struct canvas *term_canvas(void);	/* a new one, as large as the terminal is now */

void term_show(const struct canvas *canvas);	/* sends what differs from what is shown */
void term_redraw(void);				/* the next term_show sends everything */
bool term_suspend(void);		/* stops the program; false: it goes on only to end */
void term_resume(void);				/* somebody else may have had the terminal */

/* Descriptors to poll for reading; returns how many. */
enum { TERM_FDS = 2 };
struct pollfd;
int term_fds(struct pollfd fds[TERM_FDS]);

#endif
