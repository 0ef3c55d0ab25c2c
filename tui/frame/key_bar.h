/* SPDX-License-Identifier: MIT */
/* The last line of the screen: keys with their labels, as many as fit; each can be clicked. */
#ifndef KEY_BAR_H
#define KEY_BAR_H

#include "tui/terminal/keys.h"

struct canvas;
struct place;

void key_bar_draw(const struct keys *keys, struct canvas *canvas, struct place place);

/* What a click on a column means, in a bar of so many columns. */
enum action key_bar_action(const struct keys *keys, int columns, int column);

#endif
