/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "config.h"
#include "views.h"

/* Columns of the marks of the cursor and of the last format; of names. Rows from which all is explained. */
enum { MARKS = 4, NAMES = 13, EXPLAINED_ROWS = 4 };

struct format_list {
	const struct keys *keys;
	struct list list;
	struct area drawn;		/* where the rows were drawn last */
	size_t last;			/* the format of the last time */
	bool taken;			/* the one under the cursor was chosen */
};

static uint64_t key_of(const void *context, size_t row)
{
	(void)context;
	return row;
}

static const char *name_of(const void *context, size_t row)
{
	(void)context;
	return save_format_at(row).name;
}

static struct list_rows rows_of(void)
{
	struct list_rows rows = { .key = key_of, .name = name_of };

	while (save_format_at(rows.count).name)
		rows.count++;
	return rows;
}

static void *formats_new(const struct config *config)
{
	struct format_list *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	return self;
}

void view_formats_begin(void *context, size_t last)
{
	struct format_list *self = context;
	struct list_rows rows = rows_of();

	self->last = last;
	self->taken = false;
	list_select(&self->list, &rows, last);
}

bool view_formats_taken(void *context, size_t *format)
{
	struct format_list *self = context;
	bool taken = self->taken;

	self->taken = false;
	*format = self->list.cursor;
	return taken;
}

static void draw_row(const struct format_list *self, struct canvas *canvas, struct place place, size_t number)
{
	struct save_format format = save_format_at(number);
	struct place name = { place.row, place.column + MARKS, place.width - MARKS };
	struct place about = { place.row, name.column + NAMES, name.width - NAMES };

	if (number == self->last)
		canvas_put(canvas, (struct place) { place.row, place.column + 2, 1 }, STYLE_TITLE, '*');
	canvas_text(canvas, name, STYLE_KEY, format.name);
	canvas_text(canvas, about, STYLE_TEXT, format.about);
	if (number == self->list.cursor) {
		canvas_put(canvas, place, STYLE_TITLE, '>');
		canvas_restyle(canvas, place, STYLE_CURSOR);
	}
}

/* The heading and the keys, around the rows. */
static struct area explain(const struct format_list *self, struct canvas *canvas, struct area area, size_t count)
{
	struct place place = { area.row, area.column + 2, area.columns - 3 };
	char text[KEYS_TEXT];

	canvas_text(canvas, place, STYLE_TITLE, "Save in which format? *: the last one");
	place.row += area.rows - 1 > (int)count + 1 ? (int)count + 1 : area.rows - 1;
	canvas_text(canvas, place, STYLE_DIM, keys_text(self->keys, "{open} or {save-as} saves, {back} leaves", text));
	return (struct area) { area.row + 1, area.column, area.rows - 2, area.columns };
}

static void formats_draw(void *context, struct canvas *canvas, struct area area)
{
	struct format_list *self = context;
	struct list_rows rows = rows_of();

	if (area.rows >= EXPLAINED_ROWS)
		area = explain(self, canvas, area, rows.count);
	self->drawn = area;
	list_update(&self->list, &rows, area.rows > 0 ? (size_t)area.rows : 0);
	for (int i = 0; i < area.rows && self->list.top + (size_t)i < rows.count; i++)
		draw_row(self, canvas, (struct place) { area.row + i, area.column, area.columns },
			self->list.top + (size_t)i);
}

/* Either key of snapshots chooses, too: two presses of one key save in the format of the last time. */
static bool formats_act(void *context, enum action action)
{
	struct format_list *self = context;
	struct list_rows rows = rows_of();

	self->taken = action == ACTION_OPEN || action == ACTION_SNAPSHOT || action == ACTION_SAVE_AS;
	return self->taken || list_act(&self->list, &rows, action);
}

/* A click puts the cursor on a format; a click on the cursor's chooses it. */
static void formats_click(void *context, int row, int column)
{
	struct format_list *self = context;
	struct list_rows rows = rows_of();
	size_t at = self->list.top + (size_t)(row - self->drawn.row);

	(void)column;
	if (row < self->drawn.row || row >= self->drawn.row + self->drawn.rows || at >= rows.count)
		return;
	self->taken = at == self->list.cursor;
	list_select(&self->list, &rows, at);
}

const struct view view_formats = {
	.name = "Formats",
	.new = formats_new,
	.free = free,
	.draw = formats_draw,
	.act = formats_act,
	.click = formats_click,
};
