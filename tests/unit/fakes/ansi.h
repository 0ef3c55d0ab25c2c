/* SPDX-License-Identifier: MIT */
/* A canvas as bytes for a terminal: for golden files, and for tests that search a screen. */
#ifndef ANSI_H
#define ANSI_H

#include "tui/terminal/theme.h"

struct canvas;

/* Text with SGR sequences (ECMA-48, 8.3.117), in the standard theme. The caller frees it. */
char *ansi_text(const struct canvas *canvas, enum depth depth);

#endif
