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

/* ---- title ---- */

/*
 * The words at the top of the screen. If all fit in one line, they take one. If not, the machine's are on the first
 * line and the profile's from the second line on. When room is short, the least important are left out first. Items
 * that change by themselves always keep their place. So lines come and go only by what the user does, and by a remark.
 */

int title_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope, const struct keys *keys);			/* returns the rows used */

/* ---- the remark ---- */

/*
 * The remarks of the vitals, one at a time and in turn. A long remark takes two rows, and is cut there. A remark that
 * was put away stays away while its words are the same, even if its numbers change.
 */

bool remark_line_any(const struct vitals *vitals, const struct scope *scope);	/* there is a remark to show */

#endif
