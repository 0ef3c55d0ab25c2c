#include <stddef.h>

#include "grid.h"
#include "store.h"

#define SECOND 1000000000ull

static const struct {
	uint64_t width;
	uint64_t reach;			/* from now into the past */
} widths[GRID_WIDTHS] = {
	{ STORE_SLICE_NS, 120 * SECOND },
	{ SECOND, 600 * SECOND },
	{ 10 * SECOND, 7200 * SECOND },
	{ 60 * SECOND, 86400 * SECOND },
};

static uint64_t align_down(uint64_t time, uint64_t width)
{
	return time - time % width;
}

/* The limits lie on the next width's lines, so that a cell grows old as a whole. */
bool grid_advance(struct grid *grid, uint64_t now)
{
	uint64_t newest = grid->limits[0];

	for (size_t i = 0; i < GRID_WIDTHS; i++) {
		uint64_t old = now > widths[i].reach ? now - widths[i].reach : 0;

		grid->limits[i] = align_down(old, widths[i + 1 < GRID_WIDTHS ? i + 1 : i].width);
	}
	if (grid->limits[GRID_WIDTHS - 1] > grid->ancient)
		grid->ancient = grid->limits[GRID_WIDTHS - 1];
	return grid->limits[0] != newest;
}

struct cell grid_cell(const struct grid *grid, uint64_t time)
{
	struct cell cell = { 0, grid->ancient };
	size_t i = 0;

	if (time < grid->ancient)
		return cell;
	while (i < GRID_WIDTHS - 1 && time < grid->limits[i])
		i++;
	cell.begin = align_down(time, widths[i].width);
	cell.end = cell.begin + widths[i].width;
	if (cell.begin < grid->ancient)
		cell.begin = grid->ancient;
	return cell;
}
