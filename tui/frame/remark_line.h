/* SPDX-License-Identifier: MIT */
/*
 * The remarks of the vitals, one at a time and in turn. A long remark takes two rows, and is cut there. A remark that
 * was put away stays away while its words are the same, even if its numbers change.
 */
#ifndef REMARK_LINE_H
#define REMARK_LINE_H

#include <stdbool.h>

struct area;
struct away;
struct canvas;
struct vitals;
struct scope;

/* Returns the rows of the area that it used: as many as the longest remark needs, so that nothing moves. */
int remark_line_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

/* How many rows remark_line_draw will use. */
int remark_line_rows(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

bool remark_line_any(const struct vitals *vitals, const struct scope *scope);	/* there is a remark to show */

/* Adds all remarks of the vitals to `away`; with `before` not NULL, only those that are in it. */
void remark_line_put_away(const struct vitals *vitals, const struct away *before,
	struct away *away);

#endif
