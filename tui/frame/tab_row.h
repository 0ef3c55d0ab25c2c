/* SPDX-License-Identifier: MIT */
/*
 * The first line of a screen with many machines: a tab for each; the current one is reversed. When room is short, the
 * states' words are left out first, then the counts, and then names are cut. In the end only numbers are shown, as many
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
	const char *name;		/* "1 web"; when room is short, only its first word is shown */
	enum glyph mark;
	const char *state;		/* the mark's meaning in a word */
	uint8_t style;			/* of mark and state */
	uint64_t lost;			/* samples lost */
};

/* Returns the columns used. */
int tab_row_draw(struct canvas *canvas, struct place place, const struct tab *tabs, size_t count,
	size_t current);

/* The tab at a column of the row; `count`: there is none. */
size_t tab_row_at(const struct canvas *canvas, struct place place, const struct tab *tabs,
	size_t count, size_t current, int column);

#endif
