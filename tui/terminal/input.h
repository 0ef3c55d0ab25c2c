/* SPDX-License-Identifier: MIT */
/* What a person does at a terminal. */
#ifndef INPUT_H
#define INPUT_H

#include <stdint.h>

enum input_kind {
	INPUT_KEY, INPUT_PASTE, INPUT_CLICK, INPUT_SCROLL_UP, INPUT_SCROLL_DOWN,
	INPUT_RESIZE, INPUT_SUSPEND, INPUT_CONTINUE, INPUT_QUIT,
};

struct input {
	enum input_kind kind;
	uint32_t code;			/* of a key, as in keys.h; of what was pasted */
	int row, column;		/* of the mouse */
};

#endif
