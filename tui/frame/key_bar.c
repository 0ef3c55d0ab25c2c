/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "key_bar.h"

/*
 * The places of labels, from 0 on; some have no label. The table of keys is gone through twice: the labels that come
 * first (is_first) have places in the first half, all others in the second.
 */
enum { ORDER = 2 * KEYS_ROWS };

/* In a recording, the keys of its player come first: with few columns, they are what is there. */
static bool is_first(const struct keys *keys, const struct key *key)
{
	return keys->replay && (key->action == ACTION_HELP || key->action == ACTION_RUN || keys_of_replay(key));
}

static const struct key *at_place(const struct keys *keys, size_t number)
{
	const struct key *key = &keys->rows[number % KEYS_ROWS];
	bool shown = key->bar && key->codes[0] && keys_shown(keys, key);

	return shown && is_first(keys, key) == (number < KEYS_ROWS) ? key : NULL;
}

static const char *label_of(const struct keys *keys, const struct key *key)
{
	return keys->replay && key->action == ACTION_RUN ? "Pause" : key->bar;
}

static int item_width(const struct keys *keys, const struct key *key)
{
	char name[KEYS_NAME];

	return (int)(strlen(keys_name(key->codes[0], name)) + 1 + strlen(label_of(keys, key)));
}

/* The gap between two labels: two columns if all labels fit then, else one. */
static int bar_gap(const struct keys *keys, int columns)
{
	int all = 1;

	for (size_t i = 0; i < ORDER; i++)
		if (at_place(keys, i))
			all += item_width(keys, at_place(keys, i)) + 2;
	return all <= columns ? 2 : 1;
}

/* Columns to keep free for the quit label behind this number: even the shortest bar shows how to quit. */
static int kept_free(const struct keys *keys, size_t number, int gap)
{
	while (++number < ORDER) {
		const struct key *key = at_place(keys, number);

		if (key && key->action == ACTION_QUIT)
			return gap + item_width(keys, key);
	}
	return 0;
}

/* The label at or after `*next` that still fits from `column` on; NULL when none is left. */
static const struct key *next_label(const struct keys *keys, size_t *next, int column,
	int columns)
{
	int gap = bar_gap(keys, columns);

	for (; *next < ORDER; (*next)++) {
		const struct key *key = at_place(keys, *next);

		if (key && column + item_width(keys, key) + kept_free(keys, *next, gap) <= columns) {
			(*next)++;
			return key;
		}
	}
	return NULL;
}

/* Returns the columns used. */
static int draw_label(struct canvas *canvas, struct place place, uint32_t code, const char *label)
{
	char name[KEYS_NAME];
	int used = canvas_text(canvas, place, STYLE_KEY, keys_name(code, name)) + 1;

	place.column += used;
	place.width -= used;
	return used + canvas_text(canvas, place, STYLE_LABEL, label);
}

void key_bar_draw(const struct keys *keys, struct canvas *canvas, struct place place)
{
	int column = 1, gap = bar_gap(keys, place.width);
	const struct key *key;

	for (size_t next = 0; (key = next_label(keys, &next, column, place.width));
			column += item_width(keys, key) + gap)
		draw_label(canvas, (struct place) { place.row, place.column + column, item_width(keys, key) },
			key->codes[0], label_of(keys, key));
}

enum action key_bar_action(const struct keys *keys, int columns, int column)
{
	int left = 1, gap = bar_gap(keys, columns);
	const struct key *key;

	for (size_t next = 0; (key = next_label(keys, &next, left, columns));
			left += item_width(keys, key) + gap)
		if (column >= left && column < left + item_width(keys, key))
			return key->action;
	return ACTION_NONE;
}

void key_bar_draw_own(const struct key_label *labels, struct canvas *canvas, struct place place)
{
	place.column++;
	place.width--;
	for (; labels->label; labels++) {
		int used = draw_label(canvas, place, labels->code, labels->label) + 2;

		place.column += used;
		place.width -= used;
	}
}

uint32_t key_bar_own_key(const struct key_label *labels, int column)
{
	char name[KEYS_NAME];

	for (int left = 1; labels->label; labels++) {
		int width = (int)(strlen(keys_name(labels->code, name)) + 1 + strlen(labels->label));

		if (column >= left && column < left + width)
			return labels->code;
		left += width + 2;
	}
	return 0;
}
