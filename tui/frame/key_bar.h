/* SPDX-License-Identifier: MIT */
/* The last line of the screen: as many keys with their labels as fit. Labels can be clicked. */
#ifndef KEY_BAR_H
#define KEY_BAR_H

#include "tui/terminal/keys.h"

struct canvas;
struct place;

void key_bar_draw(const struct keys *keys, struct canvas *canvas, struct place place);

/* The action of a click on `column`, in a bar of so many columns; ACTION_NONE: there is no label. */
enum action key_bar_action(const struct keys *keys, int columns, int column);

/* A bar of other keys, while those of the table do not count. The labels end with one that is NULL, and all fit. */
enum { KEY_LABELS = 4 };
struct key_label {
	uint32_t code;
	const char *label;
};
void key_bar_draw_own(const struct key_label *labels, struct canvas *canvas, struct place place);
uint32_t key_bar_own_key(const struct key_label *labels, int column);	/* of a click; 0: there is no label */

#endif
