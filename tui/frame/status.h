/* SPDX-License-Identifier: MIT */
/*
 * The status line. It shows what an action did for 3 s, and what failed until a key is pressed. With nothing to say it
 * shows a remark. Times are those of util_now, given by the caller.
 */
#ifndef STATUS_H
#define STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct canvas;
struct place;

struct status_line {			/* starts as { 0 } */
	char text[512];			/* the message; "": none */
	bool failed;			/* it tells a failure */
	bool profiler;			/* it is about starting or stopping the profiler: see status_profiler */
	bool view;			/* it explains the view that is shown: see status_view_left */
	uint64_t until;			/* when a message that is no failure goes */
};

/* Shows a message. False: the line keeps a failure that nobody has seen, and the message is no failure. */
bool status_say(struct status_line *line, bool failed, const char *text, uint64_t now);

/* Shows a message that explains a view. It goes with the view. */
void status_explain(struct status_line *line, const char *text, uint64_t now);
void status_view_left(struct status_line *line);

void status_seen(struct status_line *line);			/* a key or click came: a failure goes */
void status_profiler(struct status_line *line);			/* the profiler started or stopped: its failure goes */
bool status_expire(struct status_line *line, uint64_t now);	/* true: a message has gone */

/* Draws the message, or else `remark`. A long message grows upward, to at most three rows. */
void status_draw(const struct status_line *line, struct canvas *canvas, struct place place,
	const char *remark);

/* Draws a question in its place: it stays until the user has answered. */
void status_ask(struct canvas *canvas, struct place place, const char *question);

#endif
