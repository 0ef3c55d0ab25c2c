/*
 * The terminal; the only file that knows ncurses. There is one terminal, used by the main thread.
 * SIGWINCH, SIGTSTP, SIGINT, SIGTERM and SIGHUP become input.
 */
#ifndef TERM_H
#define TERM_H

#include <stdbool.h>

#include "theme.h"

struct canvas;
struct input;

bool term_possible(char **error);	/* false: no terminal that could show a screen */
bool term_open(const struct theme *theme, char **error);	/* the theme outlives it */
void term_close(void);			/* the terminal is as it was; also done at exit */

struct canvas *term_canvas(void);	/* a new one, as large as the terminal is now */

void term_show(const struct canvas *canvas);	/* sends what differs from what is shown */
void term_redraw(void);				/* the next term_show sends everything */
void term_suspend(void);			/* stops the program; returns when it goes on */

/* Descriptors to poll for reading; returns how many. */
enum { TERM_FDS = 2 };
struct pollfd;
int term_fds(struct pollfd fds[TERM_FDS]);
bool term_read(struct input *input);		/* false: nothing is there */

#endif
