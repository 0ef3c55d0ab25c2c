/* SPDX-License-Identifier: MIT */
/*
 * The words at the top of the screen. If all fit in one line, they take one. If not, the machine's are on the first
 * line and the profile's from the second line on. When room is short, the least important are left out first. Items
 * that change by themselves always keep their place. So lines come and go only by what the user does, and by a remark.
 */
#ifndef TITLE_H
#define TITLE_H

#include <stdbool.h>

struct area;
struct away;
struct canvas;
struct filter;
struct keys;
struct vitals;
struct scope;

/*
 * The share, 0 to 1, of the missed periods in all time of the window: nobody knows what ran in them, since the host did
 * not run the guest, or the guest stood still. Of the filter, only its CPU counts.
 */
double title_missed(const struct vitals *vitals, const struct filter *filter);

int title_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope, const struct keys *keys);			/* returns the rows used */

/* ---- the remark ---- */

/*
 * The remarks of the vitals, one at a time and in turn. A long remark takes two rows, and is cut there. A remark that
 * was put away stays away while its words are the same, even if its numbers change.
 */

/* Returns the rows of the area that it used: as many as the longest remark needs, so that nothing moves. */
int remark_line_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

/* How many rows remark_line_draw will use. */
int remark_line_rows(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);

bool remark_line_any(const struct vitals *vitals, const struct scope *scope);	/* there is a remark to show */

/* Adds all remarks of the vitals to `away`; with `before` not NULL, only those that are in it. */
void remark_line_put_away(const struct vitals *vitals, const struct away *before, struct away *away);

#endif
