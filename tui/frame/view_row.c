/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "view_row.h"

enum { GAP = 2, PATH_GAP = 3 };		/* columns between two names; before the path */

/* A name is its key, a space, and the name itself; where room is short, the key alone. */
static int name_width(const struct canvas *canvas, const struct view_name *name, bool whole)
{
	int key = canvas_width(canvas, name->key);

	return whole || key == 0 ? key + (key != 0) + canvas_width(canvas, name->name) : key;
}

static bool is_whole(const struct canvas *canvas, int columns, const struct view_name *names, size_t count)
{
	int all = 1;

	for (size_t i = 0; i < count; i++)
		all += name_width(canvas, &names[i], true) + GAP;
	return all <= columns;
}

/* Draws one name. Returns the column behind it. */
static int draw_name(struct canvas *canvas, struct place place, const struct view_name *name, bool whole, bool current)
{
	struct place at = { place.row, place.column, name_width(canvas, name, whole) };
	int key = canvas_text(canvas, at, STYLE_KEY, name->key);

	if (whole || key == 0)
		canvas_right(canvas, at, current ? STYLE_TITLE : STYLE_DIM, name->name);
	if (current)
		canvas_restyle(canvas, (struct place) { at.row, at.column - 1, at.width + 2 }, STYLE_SORTED);
	return at.column + at.width;
}

void view_row_draw(struct canvas *canvas, struct place place, const struct view_name *names, size_t count,
	size_t current, const char *path)
{
	bool whole = is_whole(canvas, place.width, names, count);
	int end = place.column + place.width, column = place.column + 1;

	for (size_t i = 0; i < count && column + name_width(canvas, &names[i], whole) < end; i++)
		column = GAP + draw_name(canvas, (struct place) { place.row, column, end - column }, &names[i], whole,
			i == current);
	place.column = column - GAP + PATH_GAP;
	place.width = end - 1 - place.column;
	if (place.width > 0)
		canvas_right(canvas, place, STYLE_TITLE,
			canvas_skip(canvas, path, canvas_width(canvas, path) - place.width));
}

size_t view_row_at(const struct canvas *canvas, struct place place, const struct view_name *names, size_t count,
	int column)
{
	bool whole = is_whole(canvas, place.width, names, count);
	int at = place.column + 1;

	for (size_t i = 0; i < count; i++) {
		int width = name_width(canvas, &names[i], whole);

		if (at + width >= place.column + place.width)
			break;
		if (column >= at - 1 && column <= at + width)
			return i;
		at += width + GAP;
	}
	return count;
}
