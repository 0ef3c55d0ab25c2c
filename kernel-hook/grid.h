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
	uint64_t period;		/* clock ticks, 1 to 2^40 */
	uint64_t next;			/* the first grid point not yet counted */
	uint64_t fire;			/* next, put off: due from here on; UINT64_MAX: never */
	uint32_t seed;
};

/* The first point is one period from now. */
void ktop_grid_start(struct ktop_grid *grid, uint64_t now, uint64_t period);

/*
 * Points that are due and were not counted before, more than one when a whole period late; 0 while
 * now < fire. Their sum is exact: it never runs away from the grid by more than one.
 */
uint64_t ktop_grid_due(struct ktop_grid *grid, uint64_t now);

/* The seeds are a linear congruential series (Knuth and Lewis): the upper bits are random. */
KTOP_INLINE void ktop_grid_advance(struct ktop_grid *grid, uint64_t periods)
{
	grid->seed = grid->seed * 1664525 + 1013904223;
	grid->next += periods * grid->period;
	grid->fire = grid->next + ((grid->period * (grid->seed >> 8)) >> 24);
}

/* The same once fire <= now. */
KTOP_INLINE uint64_t ktop_grid_pass(struct ktop_grid *grid, uint64_t now)
{
	uint64_t late = now - grid->fire, periods = 1;

	if (KTOP_RARE(late >= grid->period))
		periods += late / grid->period;
	ktop_grid_advance(grid, periods);
	return periods;
}

#endif
