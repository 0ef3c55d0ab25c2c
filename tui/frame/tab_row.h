/* SPDX-License-Identifier: MIT */
/*
 * The first line of a screen with many machines: a tab for each; the current one is reversed. When room is short, the
 * states' words are left out first, then the counts, and then names are cut. In the end only numbers are shown, as many
 * as fit, the current one among them.
 */
#ifndef TAB_ROW_H
#define TAB_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/terminal/canvas.h"

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

/* ---- the row of views ---- */

/*
 * A row with the names of the views and their keys; the current one is marked. At its right is the way to where one is:
 * "Threads > thread:5 > main > page_alloc". Names can be clicked.
 */

struct view_name {
	const char *key, *name;		/* "1", "Functions"; the key may be "" */
};

/*
 * The way, the innermost step first. Names are borrowed. A step is one deeper than the step around it ('>'), such as
 * what it calls; or its caller ('<').
 */
enum { VIEW_WAY = 24 };
struct view_way {			/* starts as { 0 } */
	struct { const char *name; char sign; } steps[VIEW_WAY];
	size_t count;
	bool longer;			/* further steps around these found no room */
};

void view_way_add(struct view_way *way, char sign, const char *name);	/* the next step around the others */

/* Of a way that is too long, the innermost steps are drawn, behind a mark. */
void view_row_draw(struct canvas *canvas, struct place place, const struct view_name *names, size_t count,
	size_t current, const struct view_way *way);

/* The view at a column of the row; `count`: there is none. `way`: a way has been drawn, too. */
size_t view_row_at(const struct canvas *canvas, struct place place, const struct view_name *names, size_t count,
	bool way, int column);

#endif
