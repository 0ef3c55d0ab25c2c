/* SPDX-License-Identifier: MIT */
/*
 * When samples are due: a grid of exact periods, each point put off by a random part of a whole
 * one, so that each moment is as likely as any other, also where the kernel's own ticks have this
 * period.
 *
 *     next-2     next-1      next                    now
 *       |..x......|........x..|....x......|...........|......
 *
 * Owned by the one context that asks.
 */
#ifndef KTOP_GRID_H
#define KTOP_GRID_H

#include <stdint.h>

#include "hints.h"

struct ktop_grid {
	uint64_t period;		/* clock ticks, 1 to 2^40; 0: stopped */
	uint64_t next;			/* the first grid point not yet counted */
	uint64_t fire;			/* next, put off: due from here on */
	uint32_t seed;
};

/* The first point is one period from now. */
void ktop_grid_start(struct ktop_grid *grid, uint64_t now, uint64_t period);

/* Nothing is due any more. */
void ktop_grid_stop(struct ktop_grid *grid);

/* The seeds are a linear congruential series (Knuth and Lewis): the upper bits are random. */
KTOP_INLINE void ktop_grid_advance(struct ktop_grid *grid, uint64_t periods)
{
	grid->seed = grid->seed * 1664525 + 1013904223;
	grid->next += periods * grid->period;
	grid->fire = grid->next + ((grid->period * (grid->seed >> 8)) >> 24);
}

/*
 * Points that are due and were not counted before, more than one when a whole period late; 0 while
 * now < fire. Their sum is exact: it never runs away from the grid by more than one.
 */
KTOP_INLINE uint64_t ktop_grid_due(struct ktop_grid *grid, uint64_t now)
{
	uint64_t late = now - grid->fire, periods = 1;

	if (KTOP_RARE(late >= grid->period)) {
		if (now < grid->fire)
			return 0;
		periods += late / grid->period;
	}
	ktop_grid_advance(grid, periods);
	return periods;
}

#endif
