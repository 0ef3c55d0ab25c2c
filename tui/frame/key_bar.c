/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "key_bar.h"

static bool on_bar(const struct keys *keys, const struct key *key)
{
	return key->bar && key->codes[0] && keys_shown(keys, key);
}

static int item_width(const struct key *key)
{
	char name[KEYS_NAME];

	return (int)(strlen(keys_name(key->codes[0], name)) + 1 + strlen(key->bar));
}

/* The gap between two labels: two columns if all labels fit then, else one. */
static int bar_gap(const struct keys *keys, int columns)
{
	int all = 1;

	for (size_t i = 0; i < KEYS_ROWS; i++)
		if (on_bar(keys, &keys->rows[i]))
			all += item_width(&keys->rows[i]) + 2;
	return all <= columns ? 2 : 1;
}

/* Columns to keep free for the quit label behind row `row`: even the shortest bar shows how to quit. */
static int kept_free(const struct keys *keys, size_t row, int gap)
{
	while (++row < KEYS_ROWS)
		if (keys->rows[row].action == ACTION_QUIT && on_bar(keys, &keys->rows[row]))
			return gap + item_width(&keys->rows[row]);
	return 0;
}

/* The label at or after `*next` that still fits from `column` on; NULL when none is left. */
static const struct key *next_label(const struct keys *keys, size_t *next, int column,
	int columns)
{
	int gap = bar_gap(keys, columns);

	for (; *next < KEYS_ROWS; (*next)++) {
		const struct key *key = &keys->rows[*next];

		if (on_bar(keys, key) &&
			column + item_width(key) + kept_free(keys, *next, gap) <= columns) {
			(*next)++;
			return key;
		}
	}
	return NULL;
}

void key_bar_draw(const struct keys *keys, struct canvas *canvas, struct place place)
{
	int column = 1, gap = bar_gap(keys, place.width);
	const struct key *key;
	char name[KEYS_NAME];

	for (size_t next = 0; (key = next_label(keys, &next, column, place.width));
			column += item_width(key) + gap) {
		struct place at = { place.row, place.column + column, item_width(key) };
		int used = canvas_text(canvas, at, STYLE_KEY, keys_name(key->codes[0], name));

		at.column += used + 1;
		at.width -= used + 1;
		canvas_text(canvas, at, STYLE_LABEL, key->bar);
	}
}

enum action key_bar_action(const struct keys *keys, int columns, int column)
{
	int left = 1, gap = bar_gap(keys, columns);
	const struct key *key;

	for (size_t next = 0; (key = next_label(keys, &next, left, columns));
			left += item_width(key) + gap)
		if (column >= left && column < left + item_width(key))
			return key->action;
	return ACTION_NONE;
}
