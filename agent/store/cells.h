/* SPDX-License-Identifier: MIT */
/*
 * How time is cut into cells: fine ones near "now", coarse ones behind, and one, from 0, for all
 * that is older than `ancient`. Cells of one width nest in those of the next, so what is in one is
 * moved to a coarser one as a whole.
 */
#ifndef CELLS_H
#define CELLS_H

#include <stdbool.h>
#include <stdint.h>

enum { CELL_WIDTHS = 4, CELL_NS = 250000000 };	/* a fine one */

struct cells {
	uint64_t limits[CELL_WIDTHS];	/* what ends at or before limits[i] is too old for width i */
	uint64_t ancient;
};

struct cell {
	uint64_t begin, end;		/* ns */
};

/* True: some cells are coarser now. Never to an earlier "now". */
bool cells_advance(struct cells *cells, uint64_t now);

struct cell cells_at(const struct cells *cells, uint64_t time);

#endif
