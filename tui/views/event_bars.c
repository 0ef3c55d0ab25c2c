/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "agent/answers/event_table.h"
#include "agent/base/duration_text.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/glyphs.h"
#include "tui/terminal/theme.h"
#include "event_bars.h"

#define BY_DURATION " by duration, log"

enum {
	BAR_MOST = 4, BAR_OF_LINE = 2,	/* columns of a bar */
	BARS_MOST = 16,			/* rows of bars */
	LABEL = 8,			/* columns of a duration at an axis, and a space */
	OTHERS = 5,			/* rows of a panel that have no bars */
};

/* From the first bar that has spans to the last one. Where room is short, `group` of the answer's are one. */
struct bars {
	int first, group, count, each;	/* `each`: columns of one; count 0: there is none, or no room */
	uint64_t spans[EVENT_BARS], most;
};

static struct bars bars_of(const struct event_row *event, int width, int most)
{
	struct bars bars = { .first = 0 };
	int end = EVENT_BARS;

	while (end && !event->bars[end - 1])
		end--;
	while (bars.first < end && !event->bars[bars.first])
		bars.first++;
	if (bars.first == end || width < 1)
		return bars;
	bars.group = (end - bars.first + width - 1) / width;
	bars.count = (end - bars.first + bars.group - 1) / bars.group;
	bars.each = width / bars.count < most ? width / bars.count : most;
	for (int i = bars.first; i < end; i++)
		bars.spans[(i - bars.first) / bars.group] += event->bars[i];
	for (int i = 0; i < bars.count; i++)
		bars.most = bars.spans[i] > bars.most ? bars.spans[i] : bars.most;
	return bars;
}

/* The duration at which a bar begins. The answer's last bar has all that are longer. */
static const char *edge_text(const struct bars *bars, int bar, char text[DURATION_TEXT + 1])
{
	int power = bars->first + bar * bars->group, last = EVENT_BARS - 1;

	duration_text(UINT64_C(1) << (power < last ? power : last), 2, text);
	return power > last ? strcat(text, "+") : text;
}

/* The highest bar has all rows of the area; one that has any span is seen. */
static void draw_bars(struct canvas *canvas, struct area area, const struct bars *bars)
{
	for (int column = 0; column < bars->count * bars->each; column++) {
		uint64_t spans = bars->spans[column / bars->each];
		double level = (double)spans / (double)bars->most * area.rows;

		for (int i = 0; spans && i < area.rows && (i == 0 || i < level); i++)
			glyphs_column(canvas, (struct place) { area.row + area.rows - 1 - i, area.column + column, 1 },
				STYLE_KERNEL, level - i);
	}
}

/* Where some of the bars begin, the first one among them, and where the last one ends. */
static void draw_axis(struct canvas *canvas, struct place place, const struct bars *bars)
{
	int end = bars->count * bars->each, step = (LABEL + bars->each - 1) / bars->each;
	char text[DURATION_TEXT + 1];

	for (int i = 0; i == 0 || i * bars->each + LABEL <= end; i += step)
		canvas_text(canvas, (struct place) { place.row, place.column + i * bars->each, LABEL - 1 }, STYLE_DIM,
			edge_text(bars, i, text));
	canvas_text(canvas, (struct place) { place.row, place.column + (end < LABEL ? LABEL : end), LABEL }, STYLE_DIM,
		edge_text(bars, bars->count, text));
}

/* In which bar this percentile is. */
static void draw_percentile(struct canvas *canvas, struct place place, const struct bars *bars, uint64_t ns,
	const char *name)
{
	int power = ns ? 63 - __builtin_clzll(ns) : 0;
	int bar = power < bars->first ? 0 : (power - bars->first) / bars->group;

	place.column += (bar < bars->count ? bar : bars->count - 1) * bars->each;
	place.width = (int)strlen(name);
	canvas_text(canvas, place, STYLE_TITLE, name);
}

void event_bars_draw(struct canvas *canvas, struct area area, const struct event_row *event, const char *name)
{
	struct place at = { area.row, area.column + 3, area.columns - 4 };
	struct bars bars = bars_of(event, at.width - LABEL + 1, BAR_MOST);
	int rows = area.rows - OTHERS < BARS_MOST ? area.rows - OTHERS : BARS_MOST;

	for (int i = 0; i < area.rows; i++)
		canvas_text(canvas, (struct place) { area.row + i, area.column + 1, 1 }, STYLE_DIM,
			glyphs_text(canvas, GLYPH_WALL));
	canvas_format(canvas, at, STYLE_HEAD, "%s BY DURATION, LOG", name);
	if (!bars.count || rows < 1)
		return;
	at.row++;
	canvas_format(canvas, at, STYLE_DIM, "the highest bar is %llu", (unsigned long long)bars.most);
	draw_bars(canvas, (struct area) { at.row + 1, at.column, rows, at.width }, &bars);
	at.row += rows + 1;
	draw_axis(canvas, at, &bars);
	at.row++;
	draw_percentile(canvas, at, &bars, event->p50, "p50");
	at.row++;
	draw_percentile(canvas, at, &bars, event->p99, "p99");
}

void event_bars_line(struct canvas *canvas, struct place place, const struct event_row *event, const char *name)
{
	struct bars bars = bars_of(event, place.width - 2 * LABEL - 1, BAR_OF_LINE);
	int used = bars.count * bars.each + 1, end = place.column + place.width - 1;
	char text[DURATION_TEXT + 1];

	if (!bars.count)
		return;
	canvas_right(canvas, (struct place) { place.row, place.column, LABEL - 1 }, STYLE_DIM,
		edge_text(&bars, 0, text));
	place.column += LABEL;
	draw_bars(canvas, (struct area) { place.row, place.column, 1, used }, &bars);
	place.column += used;
	place.width -= LABEL + used + 1;
	place.column += canvas_text(canvas, place, STYLE_DIM, edge_text(&bars, bars.count, text)) + 2;
	place.width = end - place.column;
	if (place.width >= canvas_width(canvas, name) + (int)strlen(BY_DURATION))
		canvas_format(canvas, place, STYLE_DIM, "%s" BY_DURATION, name);
}
