/* SPDX-License-Identifier: MIT */
/*
 * The whole screen without a terminal: answers and messages of a feed come in, input comes in,
 * a canvas goes out. Times are those of util_now, given by the caller.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "feed.h"

struct canvas;
struct config;
struct input;
struct screen;

enum { SCREEN_LEAST_ROWS = 4, SCREEN_LEAST_COLUMNS = 20 };

/* The configuration outlives it, and what the feed is of. */
struct screen *screen_new(struct feed feed, const struct config *config);
void screen_free(struct screen *screen);

/* Takes what the session has; true when there is something new to draw. */
bool screen_step(struct screen *screen, uint64_t now);

/* Of the answers taken last: is there a table with something in it? */
bool screen_has_table(const struct screen *screen);

enum screen_wish {
	SCREEN_NOTHING, SCREEN_REDRAW, SCREEN_SUSPEND, SCREEN_QUIT, SCREEN_NEXT_TAB, SCREEN_PREVIOUS_TAB,
};
enum screen_wish screen_input(struct screen *screen, const struct input *input, uint64_t now);

/* Draws all of it, and asks the feed for what was shown: nothing else is worth an answer. */
void screen_draw(struct screen *screen, struct canvas *canvas);

#endif
