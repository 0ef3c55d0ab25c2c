/* SPDX-License-Identifier: MIT */
/*
 * What a thing on the screen means, and how that looks with 256, 16, 8 or no colours. Colour is a
 * second channel: whatever a style says is also said by a word, a place or a glyph.
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
	STYLES,
	STYLE_CURSOR = 0x80,				/* added to one of the above */
};

enum depth { DEPTH_NONE, DEPTH_8, DEPTH_16, DEPTH_256 };

enum { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8 };

struct look {
	int fore, back;		/* of the 256-colour palette; -1: the terminal's own */
	unsigned attributes;	/* LOOK_... */
};

struct theme_entry {
	const char *name;
	struct look rich;		/* with 256 colours */
	struct look base;		/* with 16; with 8, a bright colour becomes a bold one */
	unsigned mono;			/* attributes alone */
};

struct theme {
	struct theme_entry entries[STYLES];
};

extern const struct theme theme_standard;

/*
 * The look of the style with this name: "209 bold / red on black" with 256 colours, and with fewer;
 * where one look is enough for both, it stands alone. The last word is NULL. False with "why; what
 * to do" in `error`, and nothing changed.
 */
bool theme_set(struct theme *theme, const char *name, char *const *words, char **error);
void theme_write(const struct theme_entry *entry, FILE *to);	/* such words, behind spaces */

struct look theme_look(const struct theme *theme, enum depth depth, uint8_t style);

#endif
