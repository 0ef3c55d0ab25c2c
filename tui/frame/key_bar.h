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

#endif
