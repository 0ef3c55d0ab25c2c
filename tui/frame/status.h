/* SPDX-License-Identifier: MIT */
/*
 * The status line: what a command did, for 3 s; what failed, until a key is pressed; and else a
 * standing remark. Times are those of util_now, given by the caller.
 */
#ifndef STATUS_H
#define STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct canvas;
struct place;

struct status_line {			/* starts as { 0 } */
	char text[512];			/* "": nothing to say */
	bool failed;
	bool profiler;			/* of starting or stopping: a failure is over when it happens */
	uint64_t until;
};

/* False: a success does not push aside a failure that nobody has seen. */
bool status_say(struct status_line *line, bool failed, const char *text, uint64_t now);

void status_seen(struct status_line *line);			/* a key was pressed, or a click made */
void status_profiler(struct status_line *line);			/* it was started or stopped */
bool status_expire(struct status_line *line, uint64_t now);	/* true: the line changed */

/* Draws the line, which grows upward, to three rows at most, when a text needs them. */
void status_draw(const struct status_line *line, struct canvas *canvas, struct place place,
	const char *remark);

#endif
