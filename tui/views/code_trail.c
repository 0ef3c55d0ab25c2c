/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "code_trail.h"

void code_trail_open(struct code_trail *trail, struct code_step step)
{
	if (trail->count == CODE_TRAIL)
		memmove(trail->steps, trail->steps + 1, (size_t)--trail->count * sizeof(*trail->steps));
	trail->steps[trail->count++] = step;
}

bool code_trail_back(struct code_trail *trail, struct code_step *step)
{
	if (trail->count == 0)
		return false;
	*step = trail->steps[--trail->count];
	return true;
}
