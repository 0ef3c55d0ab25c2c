/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "agent/base/util.h"
#include "list.h"

/* Scrolls from `home` as little as the cursor needs, and not beyond the last row. */
static void keep_in_sight(struct list *list, size_t count)
{
	size_t height = list->height ? list->height : 1;

	list->top = list->home;
	if (list->top + height > count)
		list->top = count > height ? count - height : 0;
	if (list->cursor < list->top)
		list->top = list->cursor;
	if (list->cursor >= list->top + height)
		list->top = list->cursor - height + 1;
}

/* The present index of the row that the cursor was put on; rows->count: it is gone. */
static size_t row_of_key(const struct list *list, const struct list_rows *rows)
{
	size_t row = 0;

	while (row < rows->count && rows->key(rows->context, row) != list->key)
		row++;
	return row;
}

void list_update(struct list *list, const struct list_rows *rows, size_t height)
{
	size_t row;

	list->height = height;
	if (!list->follow)
		list->cursor = 0;
	else if ((row = row_of_key(list, rows)) < rows->count)
		list->cursor = row;
	if (list->cursor >= rows->count)
		list->cursor = 0;
	keep_in_sight(list, rows->count);
}

void list_rewind(struct list *list)
{
	*list = (struct list) { .height = list->height };
}

void list_follow(struct list *list, uint64_t key)
{
	list->key = key;
	list->follow = true;
}

void list_select(struct list *list, const struct list_rows *rows, size_t row)
{
	if (rows->count == 0)
		return;
	list->cursor = row < rows->count ? row : rows->count - 1;
	list->key = rows->key(rows->context, list->cursor);
	list->follow = true;
	keep_in_sight(list, rows->count);
	list->home = list->top;
}

static size_t minus(size_t from, size_t step)
{
	return from > step ? from - step : 0;
}

bool list_act(struct list *list, const struct list_rows *rows, enum action action)
{
	size_t page = list->height > 1 ? list->height - 1 : 1;

	switch (action) {
	case ACTION_UP:
		list_select(list, rows, minus(list->cursor, 1));
		return true;
	case ACTION_DOWN:
		list_select(list, rows, list->cursor + 1);
		return true;
	case ACTION_PAGE_UP:
		list_select(list, rows, minus(list->cursor, page));
		return true;
	case ACTION_PAGE_DOWN:
		list_select(list, rows, list->cursor + page);
		return true;
	case ACTION_TOP:
		list_select(list, rows, 0);
		list->follow = false;
		return true;
	case ACTION_BOTTOM:
		list_select(list, rows, rows->count);
		return true;
	default:
		return false;
	}
}

bool list_search(struct list *list, const struct list_rows *rows, const char *pattern,
	enum list_search where)
{
	size_t step = where == LIST_PREVIOUS ? rows->count - 1 : 1;
	size_t row = where == LIST_HERE ? list->cursor : list->cursor + step;

	for (size_t i = 0; i < rows->count; i++, row += step) {
		if (list_match(rows->name(rows->context, row % rows->count), pattern)) {
			list_select(list, rows, row % rows->count);
			return true;
		}
	}
	return false;
}

const char *list_match(const char *name, const char *pattern)
{
	return *pattern == '\0' ? NULL : pattern_find(name, pattern);
}

/* ---- wanted ---- */

enum { FEW_SCREENS = 3 };		/* so many are few rows: all of them are asked for */

static bool is_among(const struct wanted *wanted, uint64_t key)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->keys[i] == key)
			return true;
	return false;
}

static bool are_among(const struct wanted *wanted, const struct list *list, const struct list_rows *rows)
{
	for (size_t i = list->top; i < rows->count && i - list->top < list->height; i++)
		if (!is_among(wanted, rows->key(rows->context, i)))
			return false;
	return true;
}

void wanted_update(struct wanted *wanted, const struct list *list, const struct list_rows *rows)
{
	bool few = rows->count <= FEW_SCREENS * list->height && rows->count <= WANTED_ROWS;
	size_t margin = few ? rows->count : list->height / 2, end = list->top + list->height + margin;

	if (rows->count && wanted->count && are_among(wanted, list, rows))
		return;
	wanted->count = 0;
	for (size_t i = list->top > margin ? list->top - margin : 0;
			i < rows->count && i < end && wanted->count < WANTED_ROWS; i++)
		wanted->keys[wanted->count++] = rows->key(rows->context, i);
}
