/* SPDX-License-Identifier: MIT */
/* The parts of grid.h that are seldom called: start and stop. */
#include <stdint.h>

#include "grid.h"

void ktop_grid_start(struct ktop_grid *grid, uint64_t now, uint64_t period)
{
	grid->period = period;
	grid->next = now;
	ktop_grid_advance(grid, 1);
}

void ktop_grid_stop(struct ktop_grid *grid)
{
	grid->period = 0;
	grid->fire = UINT64_MAX;
}
