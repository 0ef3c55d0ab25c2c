/* SPDX-License-Identifier: MIT */
/*
 * The words at the top of the screen. They flow over as few lines as they need: one when all fit,
 * else the machine's on the first and the profile's from the second on. Where room is short, the
 * least important go first. What comes and goes by itself has its place at all times: lines are
 * added by what the user does, and by a note, and nothing moves otherwise.
 */
#ifndef TITLE_H
#define TITLE_H

struct area;
struct canvas;
struct filter;
struct vitals;
struct scope;

/*
 * Ticks that came too late to be charged to anything: the guest had no time, or stood still. Their
 * share of all time of the CPUs looked at, whatever else the filter says.
 */
double title_missed(const struct vitals *vitals, const struct filter *filter);

int title_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope);			/* returns the rows used */

#endif
