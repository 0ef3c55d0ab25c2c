/* SPDX-License-Identifier: MIT */
/*
 * The top of every screen: what am I looking at, is it live, can I trust it; and a bar and a
 * histogram per CPU, which fold into a summary when all would take more than a third of the rows.
 */
#ifndef HEADER_H
#define HEADER_H

#include <stdbool.h>

#include "agent/answers/vitals.h"

struct area;
struct canvas;
struct keys;
struct scope;

/* Draws at the top of the area, at most a third of its rows, or one; returns the rows used. */
int header_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

/* How much of the CPUs is to be asked for, in so many rows: where their lines have no room, no trends. */
enum vitals_cpus header_cpus(int rows);

/*
 * For the status line while there is nothing else to say: why what is shown stands, or its limits. `rows`: the
 * view has some.
 */
enum { HEADER_REMARK = 200 };
const char *header_remark(const struct vitals *vitals, const struct scope *scope, bool rows,
	const struct keys *keys, char text[HEADER_REMARK]);

/* Puts all remarks away, those of the note as well, until they say something else. False: none is to be seen. */
bool header_dismiss(const struct vitals *vitals, struct scope *scope, bool rows,
	const struct keys *keys);

/* To be called with all that is new: what was away and no longer holds is shown when it comes again. */
void header_settle(const struct vitals *vitals, struct scope *scope, const struct keys *keys);

#endif
