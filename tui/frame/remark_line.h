/* SPDX-License-Identifier: MIT */
/*
 * The remarks of a picture, each in its turn, whole: a long one takes two rows, and is cut behind
 * them. Those that were put away stay so while they say the same, whatever their numbers.
 */
#ifndef REMARK_LINE_H
#define REMARK_LINE_H

#include <stdbool.h>

struct area;
struct canvas;
struct vitals;
struct scope;

/* Returns the rows used, of those of the area: as many as the longest of the remarks takes. */
int remark_line_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

/* How many rows that will be. */
int remark_line_rows(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

/* Puts all of the picture's remarks away. False: there are none to be seen. */
bool remark_line_dismiss(const struct vitals *vitals, struct scope *scope);

#endif
