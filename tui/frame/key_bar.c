/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/answers/time_line.h"
#include "agent/base/util.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "key_bar.h"
#include "scope.h"

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

/* ---- the status ---- */

static const uint64_t shown_ns = 3 * NS_PER_SECOND;
enum { ROWS_MOST = 3 };

bool status_say(struct status_line *line, bool failed, const char *text, uint64_t now)
{
	if (line->failed && !failed)
		return false;
	util_print(line->text, sizeof(line->text), "%s", text);
	line->failed = failed;
	line->profiler = line->view = false;
	line->until = now + shown_ns;
	return true;
}

void status_explain(struct status_line *line, const char *text, uint64_t now)
{
	line->view = status_say(line, false, text, now) || line->view;
}

void status_view_left(struct status_line *line)
{
	if (line->view)
		*line = (struct status_line) { .failed = false };
}

void status_seen(struct status_line *line)
{
	if (line->failed)
		*line = (struct status_line) { .failed = false };
}

void status_profiler(struct status_line *line)
{
	if (line->profiler && line->failed)
		*line = (struct status_line) { .failed = false };
}

bool status_expire(struct status_line *line, uint64_t now)
{
	if (line->text[0] == '\0' || line->failed || now < line->until)
		return false;
	line->text[0] = '\0';
	return true;
}

void status_draw(const struct status_line *line, struct canvas *canvas, struct place place,
	const char *remark)
{
	struct area area = { place.row, place.column + 1, 1, place.width - 2 };
	int needed = canvas_rows(canvas, line->text, area.columns);

	if (line->text[0] == '\0') {
		if (*remark)
			canvas_blank(canvas, place);
		canvas_text(canvas, (struct place) { area.row, area.column, area.columns },
			STYLE_DIM, remark);
		return;
	}
	area.rows = needed < ROWS_MOST ? needed : ROWS_MOST;
	area.row -= area.rows - 1;
	for (place.row = area.row; place.row < area.row + area.rows; place.row++)
		canvas_blank(canvas, place);
	canvas_wrap(canvas, area, line->failed ? STYLE_BAD : STYLE_GOOD, line->text);
}

void status_ask(struct canvas *canvas, struct place place, const char *question)
{
	canvas_blank(canvas, place);
	place.column++;
	place.width--;
	canvas_text(canvas, place, STYLE_WARN, question);
}

/* ---- the prompt ---- */

void prompt_open(struct prompt *prompt, const char *label, const char *hint, const char *text)
{
	*prompt = (struct prompt) { .label = label };
	snprintf(prompt->hint, sizeof(prompt->hint), "%s", hint);
	snprintf(prompt->text, sizeof(prompt->text), "%s", text);
	prompt->size = strlen(prompt->text);
}

/* Removes the last character: its continuation bytes, and the byte before them. */
static void erase(struct prompt *prompt)
{
	while (prompt->size > 0 && ((unsigned char)prompt->text[--prompt->size] >> 6) == 2)
		;
	prompt->text[prompt->size] = '\0';
}

static enum prompt_event add(struct prompt *prompt, uint32_t code)
{
	struct cell cell = { .code = code };
	char bytes[CELL_BYTES];
	size_t size = strlen(canvas_utf8(&cell, bytes));

	if (code < ' ' || code >= KEYS_UP || prompt->size + size >= sizeof(prompt->text))
		return PROMPT_SAME;
	strcpy(prompt->text + prompt->size, bytes);
	prompt->size += size;
	return PROMPT_CHANGED;
}

bool prompt_takes(uint32_t code)
{
	return code == KEYS_ESCAPE || code == KEYS_ENTER || code == KEYS_CTRL('U') ||
		(code >= ' ' && code < KEYS_UP);
}

enum prompt_event prompt_key(struct prompt *prompt, uint32_t code)
{
	bool leave = code == KEYS_ESCAPE || (code == KEYS_BACKSPACE && prompt->size == 0);

	if (leave || code == KEYS_ENTER) {
		prompt->label = NULL;
		return leave ? PROMPT_LEFT : PROMPT_DONE;
	}
	if (code == KEYS_CTRL('U')) {
		prompt->size = 0;
		prompt->text[0] = '\0';
		return PROMPT_CHANGED;
	}
	if (code == KEYS_BACKSPACE) {
		erase(prompt);
		return PROMPT_CHANGED;
	}
	return add(prompt, code);
}

void prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct place place,
	const char *bad)
{
	int end = place.column + place.width, room;
	const char *text = prompt->text;

	canvas_blank(canvas, place);
	place.column += canvas_text(canvas, place, STYLE_PROMPT, prompt->label);
	canvas_put(canvas, (struct place) { place.row, place.column++, 1 }, STYLE_PROMPT, ' ');
	room = end - place.column - 1;
	text = canvas_skip(canvas, text, canvas_width(canvas, text) - room);
	place.width = room;
	place.column += canvas_text(canvas, place, STYLE_TEXT, text);
	canvas_put(canvas, (struct place) { place.row, place.column, 1 }, STYLE_TEXT | STYLE_CURSOR,
		' ');
	place.column += 3;
	place.width = end - place.column;
	if (bad || canvas_width(canvas, prompt->hint) <= place.width)
		canvas_text(canvas, place, bad ? STYLE_WARN : STYLE_DIM, bad ? bad : prompt->hint);
}

/* ---- the row of time ---- */

enum { LEFT = 10, RIGHT = 6, LEAST = 8 };	/* columns for the first time and the last; the fewest slots */

size_t time_row_slots(int columns)
{
	int slots = columns - LEFT - RIGHT;

	return slots < LEAST ? 0 : slots < SERIES_SLOTS ? (size_t)slots : SERIES_SLOTS;
}

/* The column of the first slot: the last one stands at the right. */
static int first_column(struct place place, const struct time_line *line)
{
	return place.column + LEFT + (int)time_row_slots(place.width) - (int)line->series.count;
}

static void draw_slot(struct canvas *canvas, struct place place, const struct series_slot *slot, bool function)
{
	uint64_t kernel = slot->mode[MODE_KERNEL], user = slot->mode[MODE_USER];
	uint64_t busy = function ? slot->part : kernel + user;
	uint8_t style = function ? STYLE_HOT : kernel >= user ? STYLE_KERNEL : STYLE_USER;

	if (slot->whole)
		glyphs_column(canvas, place, busy ? style : STYLE_IDLE, (double)busy / (double)slot->whole);
}

/* The slots of the window, first <= i < end. */
struct slots {
	size_t first, end;
};

static struct slots slots_of(const struct time_line *line, const struct scope *scope)
{
	const struct series *series = &line->series;
	uint64_t last = series->begin + series->count * series->width;
	uint64_t to = scope->until_ns ? scope_until(scope) : line->now;
	uint64_t from = scope->window_ns && scope->window_ns < to ? to - scope->window_ns : 0;
	struct slots slots = { 0, series->count };

	if (!scope->moved && scope->zero_ns > from && scope->zero_ns < to)
		from = scope->zero_ns;
	if (to > last)
		to = last;
	if (to <= series->begin)
		to = series->begin + 1;
	if (from >= to)
		from = to - 1;
	if (from > series->begin)
		slots.first = (size_t)((from - series->begin) / series->width);
	slots.end = (size_t)((to - series->begin + series->width - 1) / series->width);
	return slots;
}

/* The brackets stand on the columns beside the window; there is one at each side of the line. */
static void draw_window(struct canvas *canvas, struct place place, const struct time_line *line,
	const struct scope *scope)
{
	struct slots slots = slots_of(line, scope);
	int first = first_column(place, line) + (int)slots.first, end = first + (int)(slots.end - slots.first);

	canvas_put(canvas, (struct place) { place.row, first - 1, 1 }, STYLE_TITLE, '[');
	canvas_put(canvas, (struct place) { place.row, end, 1 }, STYLE_TITLE, ']');
}

void time_row_draw(struct canvas *canvas, struct place place, const struct time_line *line, const struct scope *scope)
{
	char time[SCOPE_TIME];
	int column;

	if (!line || !line->series.count || line->series.count > time_row_slots(place.width))
		return;
	column = first_column(place, line);
	canvas_text(canvas, (struct place) { place.row, column - LEFT, LEFT - 2 }, STYLE_DIM,
		scope_time(uptime_shown(line->answer.zero, line->series.begin), time));
	for (size_t i = 0; i < line->series.count; i++)
		draw_slot(canvas, (struct place) { place.row, column + (int)i, 1 }, &line->series.slots[i], line->of);
	column += (int)line->series.count;
	canvas_text(canvas, (struct place) { place.row, column + 2, RIGHT - 2 }, STYLE_DIM, "now");
	draw_window(canvas, place, line, scope);
}

struct time_slot time_row_at(struct place place, const struct time_line *line, int column)
{
	int slot = line ? column - first_column(place, line) : 0, count = line ? (int)line->series.count : 0;
	uint64_t begin;

	if (count == 0)
		return (struct time_slot) { .end = 0 };
	slot = slot < 0 ? 0 : slot < count ? slot : count - 1;
	begin = line->series.begin + (uint64_t)slot * line->series.width;
	return (struct time_slot) { begin, begin + line->series.width };
}
