/* SPDX-License-Identifier: MIT */
/* Checks that a screen cannot harm the terminal that shows it. */
#ifndef SAFE_CANVAS_H
#define SAFE_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

struct canvas;

/* Control characters, and those that move, hide, turn round or join the characters beside them. */
bool safe_character(uint32_t code);

/* NULL, or what is wrong: a character, a sequence, a row that is not as wide as the screen. */
const char *safe_canvas(const struct canvas *canvas);

#endif
