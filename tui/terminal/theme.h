/* SPDX-License-Identifier: MIT */
/*
 * Styles: what something on the screen means, and how that looks with 256, 16, 8 or no colours. Colour never says
 * anything alone: a word, a place or a glyph says the same.
 */
#ifndef THEME_H
#define THEME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum style {
	STYLE_TEXT, STYLE_DIM, STYLE_TITLE, STYLE_GOOD, STYLE_WARN, STYLE_BAD,
	STYLE_KERNEL, STYLE_USER, STYLE_IDLE,		/* modes: bars, histograms, objects */
	STYLE_HOT, STYLE_WARM,				/* shares: large, middling */
	STYLE_HEAD, STYLE_SORTED, STYLE_MATCH,
	STYLE_KEY, STYLE_LABEL, STYLE_PROMPT,
	STYLE_FLAME_KERNEL,				/* cells of a flame: FLAME_KERNELS of them, and so on */
	STYLE_FLAME_MODULE = STYLE_FLAME_KERNEL + 5,
	STYLE_FLAME_PROGRAM = STYLE_FLAME_MODULE + 3,
	STYLE_MORE = STYLE_FLAME_PROGRAM + 4, STYLE_LESS,	/* changes since the baseline */
	STYLE_FLAME_MORE, STYLE_FLAME_MUCH_MORE, STYLE_FLAME_LESS, STYLE_FLAME_MUCH_LESS, STYLE_FLAME_SAME,
	STYLE_FLAME_CURSOR,				/* the cell under the cursor */
	STYLES,
	STYLE_NAME = 0x40,				/* added to a style of flames: a name in the cell's colour */
	STYLE_CURSOR = 0x80,				/* added to one of the above */
	STYLE_BYTES = 0x100,				/* how many there are with these two */
};

_Static_assert(STYLES <= STYLE_NAME, "the two bits stand apart");

enum {
	FLAME_KERNELS = STYLE_FLAME_MODULE - STYLE_FLAME_KERNEL,
	FLAME_MODULES = STYLE_FLAME_PROGRAM - STYLE_FLAME_MODULE,
	FLAME_PROGRAMS = STYLE_MORE - STYLE_FLAME_PROGRAM,
};

enum depth { DEPTH_NONE, DEPTH_8, DEPTH_16, DEPTH_256 };

enum { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8 };

struct look {
	int fore, back;		/* colours of the 256-colour palette; -1: the terminal's own */
	unsigned attributes;	/* LOOK_... */
};

struct theme_entry {
	const char *name;
	struct look rich;		/* with 256 colours */
	struct look base;		/* with 16 colours; with 8, a bright colour becomes bold */
	unsigned mono;			/* without colours: attributes alone */
};

struct theme {
	struct theme_entry entries[STYLES];
};

extern const struct theme theme_standard;

/*
 * Sets the look of the style with this name. `words`: "209 bold / red on black" is a look with 256 colours, and one
 * with fewer; a look of the 16 colours alone counts for both. They end with NULL. False with "why; what to do" in
 * `error`; then nothing has changed.
 */
bool theme_set(struct theme *theme, const char *name, char *const *words, char **error);
void theme_write(const struct theme_entry *entry, FILE *to);	/* writes these words, each behind a space */

/* The look of a style, perhaps with STYLE_CURSOR, on a terminal with so many colours. */
struct look theme_look(const struct theme *theme, enum depth depth, uint8_t style);
/* That of a cell with 256 colours whose halves have the backgrounds of these styles; one may be STYLE_TEXT. */
struct look theme_halves(const struct theme *theme, uint8_t left, uint8_t right);

#endif
