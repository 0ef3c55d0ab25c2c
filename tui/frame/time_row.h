/* SPDX-License-Identifier: MIT */
/*
 * The time line at the foot of each view: a column for each slot, as high as the share of busy CPUs, or of the function
 * that was chosen; the window stands in brackets. The mouse chooses a window on it.
 */
#ifndef TIME_ROW_H
#define TIME_ROW_H

#include <stddef.h>
#include <stdint.h>

struct canvas;
struct place;
struct scope;
struct time_line;

size_t time_row_slots(int columns);	/* as many as a row of so many columns has room for; 0: none */

/* `line`: NULL: there is none yet. */
void time_row_draw(struct canvas *canvas, struct place place, const struct time_line *line, const struct scope *scope);

struct time_slot {			/* guest ns; end 0: there is none */
	uint64_t begin, end;
};

/* The slot at a column of the row; before the first and behind the last slot it is the nearest one. */
struct time_slot time_row_at(struct place place, const struct time_line *line, int column);

#endif
