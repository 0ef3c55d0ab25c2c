/* SPDX-License-Identifier: MIT */
/*
 * The top of every screen. It says what is shown, whether it is live, and how far it can be trusted. Below that, each
 * CPU has a line of bars and a histogram. If all of that took more than a third of the rows, one line sums them up, and
 * below it a strip has a column for each CPU.
 */
#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>

#include "agent/answers/vitals.h"

struct area;
struct canvas;
struct keys;
struct scope;

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

#endif
