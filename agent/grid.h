/*
 * How time is cut into cells: fine ones near "now", coarse ones behind, and one, from 0, for all
 * that is older than `ancient`. Cells of one width nest in those of the next, so what is in one is
 * moved to a coarser one as a whole.
 */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stdint.h>

enum { GRID_WIDTHS = 4 };

struct grid {
	uint64_t limits[GRID_WIDTHS];	/* what ends at or before limits[i] is too old for width i */
	uint64_t ancient;
};

struct cell {
	uint64_t begin, end;		/* ns */
};

/* True: some cells are coarser now. Never to an earlier "now". */
bool grid_advance(struct grid *grid, uint64_t now);

struct cell grid_cell(const struct grid *grid, uint64_t time);

#endif
