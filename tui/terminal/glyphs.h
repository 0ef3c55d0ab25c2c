/* SPDX-License-Identifier: MIT */
/* Bars, histograms and marks: block elements where the canvas may hold them, else ASCII. */
#ifndef GLYPHS_H
#define GLYPHS_H

#include <stddef.h>
#include <stdint.h>

struct canvas;
struct place;

enum glyph { GLYPH_ON, GLYPH_PAUSED, GLYPH_OFF, GLYPH_DOWN, GLYPH_UP, GLYPH_WALL, GLYPHS };

/* UTF-8, or ASCII, as the canvas can show; one column each. */
const char *glyphs_text(const struct canvas *canvas, enum glyph glyph);

/* A bar from the left, `share` (0 to 1) of the place's width long, to an eighth of a column. */
void glyphs_bar(struct canvas *canvas, struct place place, uint8_t style, double share);

/* One column of a histogram, `level` 0 to 1; anything below 0 is left blank: nothing is known. */
void glyphs_column(struct canvas *canvas, struct place place, uint8_t style, double level);

/*
 * Adds neighbours up until `columns` values are left; the newest stay at the right. When `columns`
 * does not divide `count`, only the newest count / columns * columns values are used.
 */
void glyphs_fold(const uint64_t *values, size_t count, uint64_t *folded, size_t columns);

#endif
