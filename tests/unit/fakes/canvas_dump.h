/* SPDX-License-Identifier: MIT */
#ifndef CANVAS_DUMP_H
#define CANVAS_DUMP_H

struct canvas;

/* All rows as text, blanks at their ends left off; to be freed by the caller. */
char *canvas_dump(const struct canvas *canvas);

#endif
