/* SPDX-License-Identifier: MIT */
/*
 * The remarks of a picture, each in its turn, whole: a long one takes two rows, and is cut behind
 * them. Those that were put away stay so while they say the same, whatever their numbers.
 */
#ifndef REMARK_LINE_H
#define REMARK_LINE_H

#include <stdbool.h>

struct area;
struct away;
struct canvas;
struct vitals;
struct scope;

/* Returns the rows used, of those of the area: as many as the longest of the remarks takes. */
int remark_line_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

/* How many rows that will be. */
int remark_line_rows(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

bool remark_line_any(const struct vitals *vitals, const struct scope *scope);	/* to be seen */

/* Puts all of these remarks away, or those alone that were so before, unless that is NULL. */
void remark_line_put_away(const struct vitals *vitals, const struct away *before,
	struct away *away);

#endif
