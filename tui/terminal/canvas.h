/* SPDX-License-Identifier: MIT */
/*
 * A screen as cells in memory. Everything is drawn here. term.c alone brings a canvas to a terminal; tests read it
 * back. Drawing is clipped to the canvas, at any size. Texts may come from the guest and hold anything: a cell holds
 * only characters that util_printable keeps, and a '?' for each other character and bad byte.
 */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CELL_BYTES = 5 };

struct cell {
	uint32_t code;			/* Unicode; 0: the right half of the wide character before */
	uint8_t style;			/* enum style of theme.h, perhaps with STYLE_CURSOR */
	uint8_t right;			/* with `halves`: the style of the right half; `style` is the left one's */
	bool halves;			/* each half has the background of its style: see canvas_half */
};

struct canvas {
	int rows, columns;
	bool unicode;			/* false: only ASCII is drawn, and '?' for all else */
	bool halves;			/* half a cell may have a background of its own: canvas_half may be called */
	struct cell *cells;		/* row by row */
};

struct area {
	int row, column, rows, columns;
};

struct place {				/* a part of one row; nothing is drawn beyond its `width` columns */
	int row, column, width;
};

struct canvas *canvas_new(int rows, int columns, bool unicode);	/* blank */
void canvas_free(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* NULL outside the canvas. */
const struct cell *canvas_cell(const struct canvas *canvas, int row, int column);
/* Draws one character at the beginning of the place. */
void canvas_put(struct canvas *canvas, struct place place, uint8_t style, uint32_t code);

/*
 * Gives the right or the left half of a cell the background of this style, whatever is drawn there; the other half
 * keeps what this call gave it before. Where both are of one style, a line stands between them.
 */
void canvas_half(struct canvas *canvas, struct place place, bool right, uint8_t style);
void canvas_blank(struct canvas *canvas, struct place place);	/* draws spaces over the whole place */

/*
 * Draw UTF-8 text. If it does not fit, it is cut at the end, or by canvas_middle in the middle, and a mark shows where.
 * canvas_right aligns it to the right. Return the columns used.
 */
int canvas_text(struct canvas *canvas, struct place place, uint8_t style, const char *text);
int canvas_middle(struct canvas *canvas, struct place place, uint8_t style, const char *text);
int canvas_right(struct canvas *canvas, struct place place, uint8_t style, const char *text);
int canvas_format(struct canvas *canvas, struct place place, uint8_t style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * canvas_wrap draws text over several rows, broken at spaces; what the last row of the area cannot hold is cut. It
 * returns the rows used. canvas_rows: how many rows the text needs. canvas_next_row: the text from the next row on.
 */
int canvas_wrap(struct canvas *canvas, struct area area, uint8_t style, const char *text);
int canvas_rows(const struct canvas *canvas, const char *text, int width);
const char *canvas_next_row(const struct canvas *canvas, const char *text, int width);

const char *canvas_mark(const struct canvas *canvas);	/* that shows where something is cut */

/* The columns that a text takes if nothing is cut. */
int canvas_width(const struct canvas *canvas, const char *text);

/* The rest of a text behind its first columns; "": there is none. */
const char *canvas_skip(const struct canvas *canvas, const char *text, int columns);

/* Sets the style of cells, or adds STYLE_CURSOR to their styles. The text stays. */
void canvas_restyle(struct canvas *canvas, struct place place, uint8_t style);

/* A cell as terminated UTF-8; "" for the right half of a wide character. Returns `bytes`. */
const char *canvas_utf8(const struct cell *cell, char bytes[CELL_BYTES]);

/* ---- glyphs ---- */

/* Bars, histograms and marks: Unicode's block elements if the canvas takes them, else ASCII. */

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
