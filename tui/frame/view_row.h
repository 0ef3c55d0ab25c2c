/* SPDX-License-Identifier: MIT */
/*
 * A row with the names of the views and their keys; the current one is marked. At its right is the path: the steps that
 * led to what is shown. Names can be clicked.
 */
#ifndef VIEW_ROW_H
#define VIEW_ROW_H

#include <stddef.h>

struct canvas;
struct place;

struct view_name {
	const char *key, *name;		/* "1", "Functions"; the key may be "" */
};

void view_row_draw(struct canvas *canvas, struct place place, const struct view_name *names, size_t count,
	size_t current, const char *path);

/* The view at a column of the row; `count`: there is none. */
size_t view_row_at(const struct canvas *canvas, struct place place, const struct view_name *names, size_t count,
	int column);

#endif
