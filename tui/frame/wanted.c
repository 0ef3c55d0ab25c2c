/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "list.h"
#include "wanted.h"

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
