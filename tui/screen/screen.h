/* SPDX-License-Identifier: MIT */
/*
 * The whole screen without a terminal. Input, and the answers and messages of a feed, go in; a canvas comes out. Times
 * are those of util_now, given by the caller. The screen's thread makes all calls.
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

/* The configuration and the feed's `self` must outlive the screen. */
struct screen *screen_new(struct feed feed, const struct config *config);
void screen_free(struct screen *screen);

/* Takes the feed's answers and messages. True: there is something new to draw. */
bool screen_step(struct screen *screen, uint64_t now);

/* True: the newest answer to the current view has rows. */
bool screen_has_table(const struct screen *screen);

/* What the caller of an input function has to do besides drawing. SCREEN_REDRAW: send every cell to the terminal. */
enum screen_act {
	SCREEN_NOTHING, SCREEN_REDRAW, SCREEN_SUSPEND, SCREEN_QUIT, SCREEN_NEXT_TAB, SCREEN_PREVIOUS_TAB,
};
enum screen_act screen_input(struct screen *screen, const struct input *input, uint64_t now);

/* Draws the whole canvas, and asks the feed for exactly what was drawn: nothing else is computed. */
void screen_draw(struct screen *screen, struct canvas *canvas);

#endif
