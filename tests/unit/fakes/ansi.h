/* SPDX-License-Identifier: MIT */
/* A canvas as a terminal would be told of it, for golden files and for what is to be searched in a screen. */
#ifndef ANSI_H
#define ANSI_H

#include "tui/terminal/theme.h"

struct canvas;

/* Text with SGR sequences (ECMA-48, 8.3.117), in the standard theme; to be freed. */
char *ansi_text(const struct canvas *canvas, enum depth depth);

#endif
