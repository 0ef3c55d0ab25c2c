/* SPDX-License-Identifier: MIT */
/* One event of input: what the user does at the terminal, or what a signal asks. */
#ifndef INPUT_H
#define INPUT_H

#include <stdint.h>

enum input_kind {
	INPUT_KEY, INPUT_PASTE, INPUT_CLICK, INPUT_RELEASE, INPUT_SCROLL_UP, INPUT_SCROLL_DOWN,
	INPUT_RESIZE, INPUT_SUSPEND, INPUT_CONTINUE, INPUT_QUIT,
};

struct input {
	enum input_kind kind;
	uint32_t code;			/* INPUT_KEY: as in keys.h; INPUT_PASTE: a character; 0: none, to be ignored */
	int row, column;		/* INPUT_CLICK, INPUT_RELEASE: where the button was pressed, or let go */
};

#endif
