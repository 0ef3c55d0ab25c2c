/* SPDX-License-Identifier: MIT */
/* Reads keys, the mouse and pasted text from the terminal. Main thread. */
#ifndef TERM_KEYS_H
#define TERM_KEYS_H

#include <stdbool.h>

struct input;

bool term_keys_open(void);		/* called by term.c once ncurses is up; false: no memory */
void term_keys_close(void);

bool term_keys_read(struct input *input);	/* false: there is no input; never waits */
bool term_keys_gone(void);		/* the terminal was hung up */

#endif
