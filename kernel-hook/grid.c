#include <stdint.h>

#include "grid.h"

void ktop_grid_start(struct ktop_grid *grid, uint64_t now, uint64_t period)
{
	grid->period = period;
	grid->next = now;
	ktop_grid_advance(grid, 1);
}

uint64_t ktop_grid_due(struct ktop_grid *grid, uint64_t now)
{
	return now < grid->fire ? 0 : ktop_grid_pass(grid, now);
}
