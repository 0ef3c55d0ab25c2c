/* SPDX-License-Identifier: MIT */
/* Is a screen harmless to the terminal that it goes to? */
#ifndef SAFE_CANVAS_H
#define SAFE_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

struct canvas;

/* Controls, and what moves, hides, turns round or joins with what stands beside it. */
bool safe_character(uint32_t code);

/* NULL, or what is wrong: a character, a row that is not as wide as the screen, a sequence. */
const char *safe_canvas(const struct canvas *canvas);

#endif
