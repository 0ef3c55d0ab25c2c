/* SPDX-License-Identifier: MIT */
/*
 * The top of every screen. It says what is shown, whether it is live, and how far it can be trusted. Below that, each
 * CPU has a line of bars and a histogram. If all of that took more than a third of the rows, one line sums them up, and
 * below it a strip has a column for each CPU.
 */
#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/answers/vitals.h"
#include "scope.h"

struct area;
struct canvas;
struct keys;

/* Draws at the top of the area, in at most a third of its rows, but at least one. Returns the rows used. */
int header_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope, const struct keys *keys);

/* What to ask about the CPUs for a screen with so many rows: trends only if their lines have room. */
enum vitals_cpus header_cpus(int rows);

/*
 * The remark for the status line while it has no message: why nothing new comes, or what the numbers cannot show. ""
 * if there is none. `rows`: the view shows rows. Returns `text`.
 */
enum { HEADER_REMARK = 200 };
const char *header_remark(const struct vitals *vitals, const struct scope *scope, bool rows,
	const struct keys *keys, char text[HEADER_REMARK]);

/* Puts away all remarks, also those of vitals->note, until their words change. False: none was shown. */
bool header_dismiss(const struct vitals *vitals, struct scope *scope, bool rows,
	const struct keys *keys);

/* Call it with new vitals. It forgets remarks that were put away and no longer apply, so that they can come again. */
void header_settle(const struct vitals *vitals, struct scope *scope, const struct keys *keys);

/* ---- the row of time ---- */

/*
 * The time line at the foot of each view: a column for each slot, as high as the share of busy CPUs, or of the function
 * that was chosen; the window stands in brackets. The mouse chooses a window on it.
 */

struct place;
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
