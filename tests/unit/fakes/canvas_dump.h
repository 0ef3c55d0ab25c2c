/* SPDX-License-Identifier: MIT */
#ifndef CANVAS_DUMP_H
#define CANVAS_DUMP_H

struct canvas;

/* All rows as text, without the blanks at their ends. The caller frees it. */
char *canvas_dump(const struct canvas *canvas);

#endif
