/* SPDX-License-Identifier: MIT */
/* The jumps and calls through which one came to the code that is shown. */
#ifndef CODE_TRAIL_H
#define CODE_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/frame/view.h"

enum { CODE_TRAIL = 64 };		/* steps that are kept; of more, the first ones are forgotten */

struct code_step {
	struct view_chosen of;		/* the function that jumps, or calls the next one */
	uint64_t row;			/* the key of the row of that jump or call */
	size_t top;			/* the first row on the screen there */
};

struct code_trail {			/* starts as { 0 } */
	struct code_step steps[CODE_TRAIL];
	int count;
};

void code_trail_open(struct code_trail *trail, struct code_step step);
bool code_trail_back(struct code_trail *trail, struct code_step *step);	/* false: there was none */

#endif
