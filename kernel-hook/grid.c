#include <stdint.h>

#include "grid.h"

static uint32_t random_next(struct ktop_grid *grid)
{
	uint32_t x = grid->seed;		/* xorshift32, Marsaglia 2003 */

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return grid->seed = x;
}

static void advance(struct ktop_grid *grid, uint64_t periods)
{
	grid->next += periods * grid->period;
	grid->fire = grid->next + ((grid->period * (random_next(grid) >> 8)) >> 24);
}

void ktop_grid_start(struct ktop_grid *grid, uint64_t now, uint64_t period)
{
	grid->period = period;
	grid->next = now;
	advance(grid, 1);
}

uint64_t ktop_grid_due(struct ktop_grid *grid, uint64_t now)
{
	uint64_t late, periods = 1;

	if (now < grid->fire)
		return 0;
	late = now - grid->fire;
	if (late >= grid->period)
		periods += late / grid->period;
	advance(grid, periods);
	return periods;
}
