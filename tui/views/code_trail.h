/* SPDX-License-Identifier: MIT */
/* The functions through whose calls one came to the code that is shown, each with the row under its cursor. */
#ifndef CODE_TRAIL_H
#define CODE_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/frame/view.h"

enum { CODE_TRAIL = 16 };		/* functions that are kept; of more, the first ones are forgotten */

struct code_step {
	struct view_chosen of;		/* the function that calls the next one */
	uint64_t row;			/* the key of the row of that call */
};

struct code_trail {			/* starts as { 0 } */
	struct code_step steps[CODE_TRAIL];
	int count;
};

void code_trail_open(struct code_trail *trail, struct code_step step);
bool code_trail_back(struct code_trail *trail, struct code_step *step);	/* false: there was none */

#endif
