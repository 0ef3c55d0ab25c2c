/* SPDX-License-Identifier: MIT */
/*
 * Cuts time into cells: fine ones near "now", coarser ones before, and a single one, from 0, for all that
 * is older than `ancient`. Cells of one width nest in those of the next. So a cell that grows old moves
 * into a coarser one as a whole.
 */
#ifndef CELLS_H
#define CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/util.h"

enum { CELL_WIDTHS = 4 };
#define CELL_NS (20 * NS_PER_MS)	/* the width of a fine cell */

struct cells {
	uint64_t fine_from;		/* ns: before it there are no fine cells, however near it is; see cells_press */
	uint64_t limits[CELL_WIDTHS];	/* a time before limits[i] is too old for width i */
	uint64_t ancient;		/* ns: all before it is one cell */
};

struct cell {
	uint64_t begin, end;		/* ns */
};

/* Moves "now", in ns; the caller never moves it back. True: some cells have become coarser. */
bool cells_advance(struct cells *cells, uint64_t now);

/* Gives up the fine cells of a second, that of this time; and of those before. True: some have become coarser. */
bool cells_press(struct cells *cells, uint64_t time);

/* The cell that a time belongs to. */
struct cell cells_at(const struct cells *cells, uint64_t time);

#endif
