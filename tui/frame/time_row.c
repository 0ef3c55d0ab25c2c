/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/answers/time_line.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/glyphs.h"
#include "tui/terminal/theme.h"
#include "scope.h"
#include "time_row.h"

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
