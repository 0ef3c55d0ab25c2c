/* SPDX-License-Identifier: MIT */
/*
 * A screen as cells in memory. Everything is drawn here; term.c alone brings it to a terminal, and
 * tests read it back. Drawing is clipped, so that nothing can be drawn outside, at any size.
 * Texts may come from the guest: whatever they hold, a cell holds only what util_printable keeps,
 * and '?' for each other character and bad byte.
 */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CELL_BYTES = 5 };

struct cell {
	uint32_t code;			/* Unicode; 0: the right half of the wide one before */
	uint8_t style;			/* enum style of theme.h, perhaps with STYLE_CURSOR */
};

struct canvas {
	int rows, columns;
	bool unicode;			/* false: ASCII only, all else is drawn as '?' */
	struct cell *cells;		/* row by row */
};

struct area {
	int row, column, rows, columns;
};

struct place {				/* on one row; width is the most that may be used */
	int row, column, width;
};

struct canvas *canvas_new(int rows, int columns, bool unicode);	/* blank */
void canvas_free(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/* NULL outside of the canvas. */
const struct cell *canvas_cell(const struct canvas *canvas, int row, int column);
void canvas_put(struct canvas *canvas, struct place place, uint8_t style, uint32_t code);
void canvas_blank(struct canvas *canvas, struct place place);

/*
 * UTF-8 text; what does not fit is cut at the right, or in the middle, with a mark there.
 * Returns the columns used.
 */
int canvas_text(struct canvas *canvas, struct place place, uint8_t style, const char *text);
int canvas_middle(struct canvas *canvas, struct place place, uint8_t style, const char *text);
int canvas_right(struct canvas *canvas, struct place place, uint8_t style, const char *text);
int canvas_format(struct canvas *canvas, struct place place, uint8_t style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Text over several rows, broken at spaces; the last row of the area is cut. Returns the rows used;
 * canvas_rows tells how many it would take.
 */
int canvas_wrap(struct canvas *canvas, struct area area, uint8_t style, const char *text);
int canvas_rows(const struct canvas *canvas, const char *text, int width);
const char *canvas_next_row(const struct canvas *canvas, const char *text, int width);

/* The columns that a text takes when nothing is cut. */
int canvas_width(const struct canvas *canvas, const char *text);

/* The rest of a text behind its first columns, "" when there is none. */
const char *canvas_skip(const struct canvas *canvas, const char *text, int columns);

/* Gives cells a style, or adds STYLE_CURSOR to the one they have, without touching the text. */
void canvas_restyle(struct canvas *canvas, struct place place, uint8_t style);

/* A cell as terminated UTF-8; "" for the right half of a wide character. Returns `bytes`. */
const char *canvas_utf8(const struct cell *cell, char bytes[CELL_BYTES]);

#endif
