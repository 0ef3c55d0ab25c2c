/* SPDX-License-Identifier: MIT */
/*
 * When samples are due: a grid of exact periods. A sample (x) is due a random part of a period after its grid
 * point (|), so that each moment is as likely as any other, even if the kernel's own ticks have the same period.
 *
 *     next-2     next-1      next                    now
 *       |..x......|........x..|....x......|...........|......
 *
 * A grid has no lock. One context owns it: the sampler of a CPU, or the CPU that is set aside.
 */
#ifndef KTOP_GRID_H
#define KTOP_GRID_H

#include <stdint.h>

#include "hints.h"

struct ktop_grid {
	uint64_t period;		/* clock ticks, 1 to 2^40; 0: stopped */
	uint64_t next;			/* clock of the first grid point that is not yet counted */
	uint64_t fire;			/* clock from which on the sample of `next` is due */
	uint32_t seed;			/* of the random parts; any value */
};

/* Starts the grid. The first grid point is one period after `now`. */
void ktop_grid_start(struct ktop_grid *grid, uint64_t now, uint64_t period);

/* Stops the grid: nothing is due any more. */
void ktop_grid_stop(struct ktop_grid *grid);

/*
 * Counts `periods` grid points. The seeds are a linear congruential series (Knuth and Lewis), whose upper bits
 * are the random ones: 24 of them are taken.
 */
KTOP_INLINE void ktop_grid_advance(struct ktop_grid *grid, uint64_t periods)
{
	grid->seed = grid->seed * 1664525 + 1013904223;
	grid->next += periods * grid->period;
	grid->fire = grid->next + ((grid->period * (grid->seed >> 8)) >> 24);
}

/*
 * Counts the samples that are due at `now`, and returns how many: 0 while now < fire, more than 1 when the call is
 * a whole period late. The sum of all results never differs from the number of grid points passed by more than one.
 */
KTOP_INLINE uint64_t ktop_grid_due(struct ktop_grid *grid, uint64_t now)
{
	uint64_t late = now - grid->fire, periods = 1;

	/* Before `fire`, the subtraction wraps round: one comparison sees both cases. */
	if (KTOP_RARE(late >= grid->period)) {
		if (now < grid->fire)
			return 0;
		periods += late / grid->period;
	}
	ktop_grid_advance(grid, periods);
	return periods;
}

#endif
