/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "agent/base/util.h"
#include "cells.h"

static const struct {
	uint64_t width;
	uint64_t reach;			/* from now into the past */
} widths[CELL_WIDTHS] = {
	{ CELL_NS, 160 * NS_PER_SECOND },
	{ NS_PER_SECOND, 600 * NS_PER_SECOND },
	{ 10 * NS_PER_SECOND, 7200 * NS_PER_SECOND },
	{ 60 * NS_PER_SECOND, 86400 * NS_PER_SECOND },
};

static uint64_t align_down(uint64_t time, uint64_t width)
{
	return time - time % width;
}

/* Each limit is a multiple of the next larger width, so that a cell grows old as a whole. */
bool cells_advance(struct cells *cells, uint64_t now)
{
	const struct cells before = *cells;

	for (size_t i = 0; i < CELL_WIDTHS; i++) {
		uint64_t old = now > widths[i].reach ? now - widths[i].reach : 0;

		cells->limits[i] = align_down(old, widths[i + 1 < CELL_WIDTHS ? i + 1 : i].width);
	}
	if (cells->limits[0] < cells->fine_from)
		cells->limits[0] = cells->fine_from;
	if (cells->limits[CELL_WIDTHS - 1] > cells->ancient)
		cells->ancient = cells->limits[CELL_WIDTHS - 1];
	return memcmp(&before, cells, sizeof(before)) != 0;
}

bool cells_press(struct cells *cells, uint64_t time)
{
	uint64_t from = align_down(time, widths[1].width) + widths[1].width;

	if (from <= cells->limits[0])
		return false;
	cells->fine_from = cells->limits[0] = from;
	return true;
}

struct cell cells_at(const struct cells *cells, uint64_t time)
{
	struct cell cell = { 0, cells->ancient };
	size_t i = 0;

	if (time < cells->ancient)
		return cell;
	while (i < CELL_WIDTHS - 1 && time < cells->limits[i])
		i++;
	cell.begin = align_down(time, widths[i].width);
	cell.end = cell.begin + widths[i].width;
	if (cell.begin < cells->ancient)
		cell.begin = cells->ancient;
	return cell;
}
