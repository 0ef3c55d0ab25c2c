/* SPDX-License-Identifier: MIT */
/* Bars, histograms and marks: Unicode's block elements if the canvas takes them, else ASCII. */
#ifndef GLYPHS_H
#define GLYPHS_H

#include <stddef.h>
#include <stdint.h>

struct canvas;
struct place;

enum glyph { GLYPH_ON, GLYPH_PAUSED, GLYPH_OFF, GLYPH_DOWN, GLYPH_UP, GLYPH_WALL,
	GLYPH_RUN, GLYPH_CALL, GLYPH_INTERRUPT, GLYPH_IDLE, GLYPH_READY, GLYPH_SLEEP, GLYPH_BLOCKED, GLYPH_LOCK,
	GLYPHS };

/* The glyph as UTF-8 or ASCII, as the canvas takes; one column wide. */
const char *glyphs_text(const struct canvas *canvas, enum glyph glyph);

/* Draws a bar from the left, `share` (0 to 1) of the place's width long, exact to an eighth of a column. */
void glyphs_bar(struct canvas *canvas, struct place place, uint8_t style, double share);

/* Draws one column of a histogram, `level` 0 to 1. Below 0 nothing is known, and the column stays blank. */
void glyphs_column(struct canvas *canvas, struct place place, uint8_t style, double level);

/*
 * Draws the newest of these values as a histogram as wide as the place, scaled to its own highest column; a column
 * without anything stays blank.
 */
void glyphs_trend(struct canvas *canvas, struct place place, uint8_t style, const uint64_t *values, size_t count);

/*
 * Sums up groups of neighbours, so that `columns` values are left, the newest last. If `columns` does not divide
 * `count`, only the newest count / columns * columns values are used.
 */
void glyphs_fold(const uint64_t *values, size_t count, uint64_t *folded, size_t columns);

#endif
