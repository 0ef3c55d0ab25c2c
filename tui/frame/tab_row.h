/* SPDX-License-Identifier: MIT */
/*
 * The first line of a screen with many machines: a tab for each, the current one reversed. Where
 * room is short, words go first, then counts, then names are cut; at last as many numbers are shown
 * as fit, the current one among them.
 */
#ifndef TAB_ROW_H
#define TAB_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "tui/terminal/glyphs.h"

struct canvas;
struct place;

struct tab {
	const char *name;		/* "1 web": where room is short, its first word */
	enum glyph mark;
	const char *state;		/* what the mark says, in a word */
	uint8_t style;			/* of both */
	uint64_t lost;			/* samples */
};

/* Returns the columns used. */
int tab_row_draw(struct canvas *canvas, struct place place, const struct tab *tabs, size_t count,
	size_t current);

/* The tab at a column of such a row; `count`: none. */
size_t tab_row_at(const struct canvas *canvas, struct place place, const struct tab *tabs,
	size_t count, size_t current, int column);

#endif
