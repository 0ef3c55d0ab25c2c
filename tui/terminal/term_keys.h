/* SPDX-License-Identifier: MIT */
/* Keys, the mouse, and what is pasted, from the terminal. */
#ifndef TERM_KEYS_H
#define TERM_KEYS_H

#include <stdbool.h>

struct input;

bool term_keys_open(void);		/* for term.c, once ncurses is up */
void term_keys_close(void);

bool term_keys_read(struct input *input);	/* false: nothing is there */
bool term_keys_gone(void);		/* the terminal has been hung up */

#endif
