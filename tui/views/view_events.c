/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/event_table.h"
#include "agent/answers/vitals.h"
#include "agent/base/change.h"
#include "agent/base/duration_text.h"
#include "agent/base/hash.h"
#include "agent/base/number_text.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/trace/span.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/scope.h"
#include "tui/frame/tab_row.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/hue.h"
#include "tui/views/table/sorted_table.h"
#include "config.h"
#include "slow_page.h"
#include "views.h"

enum {
	PAUSE_MS = 100,
	HEADS_FROM = 5, DETAIL_FROM = 6, LINE_FROM = 12,	/* rows from which there are heads and lines below */
	BESIDE_FROM = 120,		/* columns from which the histogram is beside the table, */
	BESIDE_LEAST = 44, BESIDE_MOST = 64,	/* and its own */
	NAME_OF_PART = 28,		/* columns of a name that has a part's, at least, */
	NAME_LONG = 21,			/* of one that says nothing when it is cut: "lock " and its address */
	NAME_MOST = 48,			/* of a thread's name and number, and an address */
	CODE_WIDE = 72,			/* columns of one with its code, before a trend gets more */
	NUMBER = NUMBER_TEXT, DETAIL = 1280, NOTES = 640,	/* bytes of texts */
	BAR_MOST = 4, BAR_OF_LINE = 2,	/* columns of a bar of the histogram */
	BARS_MOST = 16,			/* rows of its bars */
	LABEL = 8,			/* columns of a duration at its axis, and a space */
	OTHERS = 5,			/* its rows that have no bars */
	OVER_ROWS = 3, OVER_FROM = 12,	/* those of the spans over time, in a panel of so many */
};

#define BY_DURATION " by duration, log"

/* The columns from left to right; the heads name them. */
enum { AT_NAME, AT_COUNT, AT_RATE, AT_TOTAL, AT_CHANGE, AT_P50, AT_P99, AT_WAS, AT_MAX, AT_OPEN, AT_TREND, HEADS };

static const struct sorted_column columns[HEADS] = {
	[AT_NAME] = { "EVENT", 12, 0, true }, [AT_COUNT] = { "COUNT", 9, 7, false },
	[AT_RATE] = { "RATE", 7, 2, false }, [AT_TOTAL] = { "TOTAL%", 7, 4, false },
	[AT_CHANGE] = { "CHANGE", CHANGE_NUMBER, 5, false }, [AT_P50] = { "p50", 6, 3, false },
	[AT_P99] = { "p99", 6, 0, false }, [AT_WAS] = { "WAS", 6, 6, false }, [AT_MAX] = { "MAX", 6, 8, false },
	[AT_OPEN] = { "OPEN", 10, 9, false }, [AT_TREND] = { "TREND 60s", 10, 1, true },
};

static const struct sorted_kind kind = {
	.columns = columns, .count = HEADS, .name = AT_NAME, .trend = AT_TREND, .trend_most = EVENT_TREND,
	.trend_sorts = AT_COUNT,		/* of which the trend is */
};

struct rank {				/* where a row of the answer stands: the larger ones first, then by `row` */
	uint64_t key, second;
	uint32_t row;
};

struct event_view {
	const struct keys *keys;
	const struct vitals *vitals;	/* NULL: none yet */
	const struct event_table *table;	/* NULL: no answer yet */
	const struct scope *scope;
	struct event_request request;
	struct rank *order;		/* of all rows of the table */
	char *name;			/* EVENT_TEXT bytes: of the row that was named last */
	struct sorted_table sorted;
	struct slow_page page;		/* that of a row, if it is open */
	enum event_by by;
};

/* ---- rows ---- */

static const struct event_row *row_at(const struct event_view *self, size_t row)
{
	return &self->table->rows[self->order[row].row];
}

static uint64_t key_of(const void *context, size_t row)
{
	const struct event_row *event = row_at(context, row);

	return hash_mix(hash_mix(event->kind, event->number) ^ event->part, UINT64_C(0x9e3779b97f4a7c15));
}

static const char *name_of(const void *context, size_t row)
{
	const struct event_view *self = context;

	return event_row_text(row_at(self, row), self->table->by, self->name);
}

static struct list_rows rows_of(const struct event_view *self)
{
	return (struct list_rows) {
		.context = self, .count = self->table ? self->table->count : 0, .key = key_of, .name = name_of,
	};
}

/* The row under the cursor; NULL: there is none. */
static const struct event_row *selected(const struct event_view *self)
{
	const size_t cursor = self->sorted.list.cursor;

	return self->table && cursor < self->table->count ? row_at(self, cursor) : NULL;
}

/* A single event has no duration. */
static bool lasts(const struct event_row *event)
{
	return event->kind != SPAN_SINGLE;
}

/* A part of a range's length, of so many ns or spans; for each second of it. */
static double each_second(uint64_t from, uint64_t to, uint64_t part)
{
	return to > from ? (double)part / ((double)(to - from) / (double)NS_PER_SECOND) : 0;
}

/* Its part of the window's time. */
static double share_of(const struct event_table *table, const struct event_row *event)
{
	return each_second(table->from, table->to, event->total) / (double)NS_PER_SECOND;
}

/*
 * What has become of that since the baseline, on the machines that have one. Nothing is counted by samples, so nothing
 * is chance.
 */
static struct change change_since(const struct event_table *table, const struct event_row *event)
{
	double was = each_second(table->base_from, table->base_to, event->was.total) / (double)NS_PER_SECOND;
	struct event_row like = { .total = event->total, .count = event->count };

	for (uint32_t i = 0; i < table->machine_count && table->uncompared >> i; i++)
		if (table->uncompared >> i & 1) {
			like.total -= table->shares[event->shares + i].total;
			like.count -= table->shares[event->shares + i].count;
		}
	return (struct change) {
		.share = share_of(table, &like) - was,
		.appeared = !event->was.count && like.count, .gone = event->was.count && !like.count,
	};
}

static struct rank rank_of(const struct event_view *self, uint32_t row)
{
	const struct event_row *event = &self->table->rows[row];
	const int64_t change = (int64_t)(change_since(self->table, event).share * (double)NS_PER_SECOND);
	const uint64_t keys[HEADS] = {
		[AT_NAME] = SPAN_KINDS - event->kind, [AT_COUNT] = event->count, [AT_RATE] = event->count,
		[AT_TOTAL] = event->total, [AT_CHANGE] = (uint64_t)change + (UINT64_C(1) << 63), [AT_P50] = event->p50,
		[AT_P99] = event->p99, [AT_WAS] = event->was.p99, [AT_MAX] = event->max,
		[AT_OPEN] = event->oldest_ns,
	};
	bool numbered = self->sorted.sort == AT_NAME && !self->table->machine_count;
	struct rank rank = { keys[self->sorted.sort], numbered ? ~event->number : 0, row };

	return self->sorted.invert ? (struct rank) { ~rank.key, ~rank.second, row } : rank;
}

/* Machines have numbers of their own for a name: over many, names are in the order of their texts. */
static int larger_first(const void *left, const void *right, void *context)
{
	const struct event_view *self = context;
	const struct rank *a = left, *b = right;
	const struct event_row *one = &self->table->rows[a->row], *other = &self->table->rows[b->row];
	bool by_text = self->sorted.sort == AT_NAME && self->table->machine_count;
	int texts = by_text ? strverscmp(one->called, other->called) : 0;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	if (a->second != b->second)
		return a->second < b->second ? 1 : -1;
	if (texts)
		return self->sorted.invert ? -texts : texts;
	return (a->row > b->row) - (a->row < b->row);
}

static void sort_rows(struct event_view *self)
{
	struct list_rows rows = rows_of(self);

	for (uint32_t i = 0; i < rows.count; i++)
		self->order[i] = rank_of(self, i);
	if (rows.count)
		qsort_r(self->order, rows.count, sizeof(*self->order), larger_first, self);
	list_update(&self->sorted.list, &rows, self->sorted.list.height);
}

static void *events_new(const struct config *config)
{
	struct event_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	self->name = util_alloc(EVENT_TEXT);
	self->sorted.kind = &kind;
	self->sorted.sort = AT_TOTAL;
	return self;
}

static void events_free(void *context)
{
	struct event_view *self = context;

	free(self->order);
	free(self->name);
	free(self);
}

static void events_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	struct event_view *self = context;
	bool again = self->table == (const struct event_table *)answer;

	self->vitals = vitals;
	self->scope = scope;
	if (again)
		return;
	self->table = (const struct event_table *)answer;
	if (self->table)
		self->order = util_grow(self->order, self->table->count + 1, sizeof(*self->order));
	sort_rows(self);
}

/* ---- numbers ---- */

/* In full where that has room. */
static const char *count_text(uint64_t count, char text[NUMBER])
{
	return (int)strlen(number_whole(count, text)) <= columns[AT_COUNT].width ? text :
		number_text((double)count, 0, text);
}

static const char *rate_text(double rate, char text[NUMBER])
{
	char number[NUMBER];
	int decimals = rate <= 0 || rate >= 9.95 ? 0 : rate < 1 ? 2 : 1;

	return util_print(text, NUMBER, "%s/s", number_text(rate, decimals, number));
}

/* ---- columns ---- */

/* Something has begun, and has not ended. */
static bool has_open(const struct event_table *table)
{
	for (uint32_t i = 0; table && i < table->count; i++)
		if (table->rows[i].open)
			return true;
	return false;
}

/* A lock without a name stands there by its address, and a function by its name: cut, they say nothing. */
static bool has_long_names(const struct event_table *table)
{
	for (uint32_t i = 0; table && i < table->count; i++) {
		const struct event_row *row = &table->rows[i];
		bool lock = span_role(row->kind) == ROLE_LOCK_WAIT;

		if (lock ? row->number > UINT32_MAX && !row->called[0] : row->kind == SPAN_PAIR && row->called[0])
			return true;
	}
	return false;
}

static void lay_out(struct event_view *self)
{
	bool named = self->by == EVENT_BY_NAME, code = self->by == EVENT_BY_CODE;
	bool compared = self->table && self->table->compared;
	int least = !named ? NAME_OF_PART : has_long_names(self->table) ? NAME_LONG : columns[AT_NAME].width;

	sorted_lay_out(&self->sorted,
		(struct sorted_names) { least, code ? INT_MAX : NAME_MOST,
			code ? CODE_WIDE : named ? least : NAME_MOST },
		(has_open(self->table) ? 0 : 1u << AT_OPEN) | (compared ? 0 : 1u << AT_CHANGE | 1u << AT_WAS));
}

static const char *name_head(const struct event_view *self)
{
	static const char *const names[EVENT_BYS] = {
		[EVENT_BY_NAME] = "EVENT", [EVENT_BY_THREAD] = "THREAD: EVENT",
		[EVENT_BY_PROCESS] = "PROCESS: EVENT", [EVENT_BY_CPU] = "CPU: EVENT", [EVENT_BY_LOCK] = "LOCK",
		[EVENT_BY_CODE] = "EVENT < CODE",
	};

	return names[self->by];
}

static void draw_trend(struct canvas *canvas, struct place place, const struct event_row *event)
{
	uint64_t trend[EVENT_TREND];

	for (int i = 0; i < EVENT_TREND; i++)
		trend[i] = event->trend[i];
	glyphs_trend(canvas, place, STYLE_IDLE, trend, EVENT_TREND);
}

/* "2, 3.1s": how many have not ended, and how long the oldest has been. */
static const char *open_text(const struct event_row *event, char text[NUMBER])
{
	char number[NUMBER], took[DURATION_TEXT];

	return util_print(text, NUMBER, "%s, %s", number_text((double)event->open, 0, number),
		duration_text(event->oldest_ns, 2, took));
}

static void draw_numbers(const struct event_view *self, struct canvas *canvas, struct place place,
	const struct event_row *event)
{
	const struct event_table *table = self->table;
	const struct sorted_table *sorted = &self->sorted;
	const struct { int at; uint64_t ns; bool known; } times[] = {
		{ AT_P50, event->p50, event->count }, { AT_P99, event->p99, event->count },
		{ AT_WAS, event->was.p99, event->was.count }, { AT_MAX, event->max, event->count },
	};
	double share = share_of(table, event);
	uint8_t heat = share >= 0.05 ? STYLE_HOT : share >= 0.005 ? STYLE_WARM : STYLE_TEXT;
	struct change change = change_since(table, event);
	char text[NUMBER], points[CHANGE_TEXT];

	canvas_right(canvas, sorted_cell(sorted, place, AT_COUNT), STYLE_TEXT, count_text(event->count, text));
	canvas_right(canvas, sorted_cell(sorted, place, AT_RATE), STYLE_TEXT,
		rate_text(each_second(table->from, table->to, event->count), text));
	canvas_right(canvas, sorted_cell(sorted, place, AT_TOTAL), lasts(event) ? heat : STYLE_DIM,
		lasts(event) ? number_text(100 * share, 2, text) : "-");
	canvas_right(canvas, sorted_cell(sorted, place, AT_CHANGE), lasts(event) ? change_style(change) : STYLE_DIM,
		lasts(event) ? change_text(change, CHANGE_NUMBER, points) : "-");
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		canvas_right(canvas, sorted_cell(sorted, place, times[i].at),
			times[i].known && lasts(event) ? STYLE_TEXT : STYLE_DIM,
			times[i].known && lasts(event) ? duration_text(times[i].ns, 2, text) :
			times[i].at == AT_WAS && change.appeared ? "new" : "-");
	canvas_right(canvas, sorted_cell(sorted, place, AT_OPEN), event->open ? STYLE_WARM : STYLE_DIM,
		event->open ? open_text(event, text) : lasts(event) ? "0" : "-");
}

/* ---- the histogram of the row under the cursor ---- */

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

/* How many of the row's spans ended when in the range. */
static void draw_over_time(const struct event_table *table, struct canvas *canvas, struct place place,
	const struct event_row *event)
{
	uint32_t most = 0;
	char from[SCOPE_TIME], each[DURATION_TEXT];

	for (int i = 0; i < EVENT_OVER; i++)
		most = event->over[i] > most ? event->over[i] : most;
	if (!most)
		return;
	canvas_format(canvas, place, STYLE_DIM, "heat over time: %s, each %s",
		scope_time(uptime_shown(table->answer.zero, table->from), from),
		duration_text((table->to - table->from) / EVENT_OVER, 2, each));
	place.row++;
	for (int i = 0; i < EVENT_OVER && i < place.width; i++) {
		double level = (double)event->over[i] / most;
		struct place cell = { place.row, place.column + i, 1 };

		if (event->over[i])
			glyphs_column(canvas, cell,
				level < 0.34 ? STYLE_TEXT : level < 0.67 ? STYLE_WARM : STYLE_HOT, level);
		else if (canvas->unicode)	/* in ASCII it would look like few */
			canvas_text(canvas, cell, STYLE_DIM, glyphs_text(canvas, GLYPH_IDLE));
	}
}

/*
 * With a wall at its left, its axis below the bars, and where the median and the 99th percentile are. At the foot there
 * are the spans over time.
 */
static void draw_beside(const struct event_table *table, struct canvas *canvas, struct area area,
	const struct event_row *event, const char *name)
{
	struct place at = { area.row, area.column + 3, area.columns - 4 };
	struct bars bars = bars_of(event, at.width - LABEL + 1, BAR_MOST);
	int others = OTHERS + (area.rows >= OVER_FROM ? OVER_ROWS : 0);
	int rows = area.rows - others < BARS_MOST ? area.rows - others : BARS_MOST;

	for (int i = 0; i < area.rows; i++)
		canvas_text(canvas, (struct place) { area.row + i, area.column + 1, 1 }, STYLE_DIM,
			glyphs_text(canvas, GLYPH_WALL));
	canvas_format(canvas, at, STYLE_HEAD, lasts(event) ? "%s BY DURATION, LOG" : "%s HAS NO DURATION", name);
	if (others > OTHERS)
		draw_over_time(table, canvas, (struct place) { at.row + (bars.count ? OTHERS + rows + 1 : 2), at.column,
			at.width }, event);
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

/* The same in one row. */
static void draw_line(struct canvas *canvas, struct place place, const struct event_row *event, const char *name)
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

/* ---- what is told below ---- */

static bool has_code(const struct event_table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (table->rows[i].part != EVENT_NO_PART)
			return true;
	return !table->count;
}

/* What is missing from the rows, and what of the scope does not hold for them. */
static const char *write_notes(const struct event_view *self, char notes[NOTES])
{
	const struct event_table *table = self->table;
	const struct { uint64_t count; const char *what; } books[] = {
		{ table->lost, "trace {event was|events were} lost" },
		{ table->left_out, "{was|were} left out by the guest's filters" },
		{ table->unmatched, "{beginning or end has|beginnings or ends have} no partner" },
		{ table->late, "trace {event|events} came too late for {its|their} place" },
		{ table->refused, "{span|spans} found no room; give more by --memory" },
	};
	char note[NUMBER + NOTES / 8], form[NUMBER + NOTES / 8], time[SCOPE_TIME];

	notes[0] = '\0';
	for (size_t i = 0; i < sizeof(books) / sizeof(*books); i++) {
		util_print(form, sizeof(form), "%llu %s", (unsigned long long)books[i].count, books[i].what);
		util_count(note, sizeof(note), books[i].count, form);
		if (books[i].count)
			sorted_note(notes, NOTES, note);
	}
	if (table->filters[0]) {
		sorted_note(notes, NOTES, "of these events only some are traced now");
		util_print(notes + strlen(notes), NOTES - strlen(notes), ": %s", table->filters);
	}
	if (self->page.open && table->slow_forgot)
		sorted_note(notes, NOTES, util_print(note, sizeof(note), "since %s, older spans were forgotten",
			scope_time(uptime_shown(table->answer.zero, table->slow_from), time)));
	if (self->page.open && table->slow_from < table->exact_from)
		sorted_note(notes, NOTES,
			util_print(note, sizeof(note), "before %s, only the longest of each minute are known",
			scope_time(uptime_shown(table->answer.zero, table->exact_from), time)));
	if (!self->page.open && table->forgot)
		sorted_note(notes, NOTES, util_print(note, sizeof(note), "since %s, older spans were forgotten",
			scope_time(uptime_shown(table->answer.zero, table->kept_from), time)));
	if (!self->page.open && table->from < table->exact_from)
		sorted_note(notes, NOTES,
			util_print(note, sizeof(note), "before %s, times are rounded to whole seconds or more",
			scope_time(uptime_shown(table->answer.zero, table->exact_from), time)));
	if (self->page.open && table->slow_more)
		sorted_note(notes, NOTES, util_print(note, sizeof(note), "%u more of this name are not looked at",
			(unsigned)table->slow_more));
	if (self->page.open && self->scope->base.until_ns)
		sorted_note(notes, NOTES, "this view shows no change since the baseline");
	if (!self->page.open && table->base_forgot)
		sorted_note(notes, NOTES, table->compared ? "the baseline's beginning was forgotten" :
			"the baseline was forgotten");
	else if (!self->page.open && table->compared && table->base_from < table->exact_from)
		sorted_note(notes, NOTES, "the baseline is rounded to whole seconds or more");
	if (!self->page.open && !table->open_known)
		sorted_note(notes, NOTES, "what had not ended at the end of this window is not known any more");
	if (table->answer.partial)
		sorted_note(notes, NOTES, "more events of this time are still to come");
	if (table->by == EVENT_BY_CODE && !has_code(table))
		sorted_note(notes, NOTES,
			"no event of these tells its code: `ktop ctl events +NAME:stack` has them do so");
	if (table->by == EVENT_BY_LOCK && !table->count)
		sorted_note(notes, NOTES, "no lock is told of: `ktop ctl events +lock` has the guest do so");
	for (uint32_t i = 0; i < table->machine_count && i < self->vitals->machine_count; i++) {
		const char *name = self->vitals->machines[i].name;

		if (table->traced && table->untraced >> i & 1)
			sorted_note(notes, NOTES, util_print(note, sizeof(note), "%s: nothing is traced", name));
		if (!self->page.open && table->compared && table->uncompared >> i & 1)
			sorted_note(notes, NOTES,
				util_print(note, sizeof(note), "%s: no baseline, so no change tells of it",
				name));
	}
	if (event_filter_ignores(&self->scope->filter, true))
		sorted_note(notes, NOTES, "of the filter only its names, CPUs, threads and processes count here");
	return notes;
}

/* "; 1 web: 1,100, p99 64ms; 2 db: 104, p99 2.1ms" */
static void write_machines(const struct event_view *self, const struct event_row *event, char text[DETAIL])
{
	const struct event_table *table = self->table;
	char number[NUMBER], took[NUMBER];

	for (uint32_t i = 0; i < table->machine_count && i < self->vitals->machine_count; i++) {
		const struct event_share *share = &table->shares[event->shares + i];
		size_t used = strlen(text);

		if (share->count)
			util_print(text + used, DETAIL - used, "; %s: %s%s%s", self->vitals->machines[i].name,
				number_whole(share->count, number), lasts(event) ? ", p99 " : "",
				lasts(event) ? duration_text(share->p99, 2, took) : "");
	}
}

/* "syscall 98: 1,204 and 12 whose end was lost, 2 open for 3.1s, total 3.0s, p50 250us, p99 64ms, max 128ms" */
static const char *write_detail(const struct event_view *self, char text[DETAIL])
{
	const struct event_row *event = selected(self);
	const struct { const char *name; uint64_t ns; } times[] = {
		{ "total", event->total }, { "p50", event->p50 }, { "p99", event->p99 }, { "max", event->max },
	};
	char number[NUMBER], took[NUMBER];
	size_t used;

	util_print(text, DETAIL, "%s: %s", name_of(self, self->sorted.list.cursor), number_whole(event->count, number));
	used = strlen(text);
	if (event->lost)
		util_print(text + used, DETAIL - used, " and %s whose end was lost", number_whole(event->lost, number));
	used = strlen(text);
	if (event->open)
		util_print(text + used, DETAIL - used, ", %s open for %s",
			number_whole(event->open, number), duration_text(event->oldest_ns, 2, took));
	for (size_t i = 0; event->count && lasts(event) && i < sizeof(times) / sizeof(*times); i++) {
		used = strlen(text);
		util_print(text + used, DETAIL - used, ", %s %s", times[i].name, duration_text(times[i].ns, 2, number));
	}
	write_machines(self, event, text);
	used = strlen(text);
	if (self->table->compared)
		util_print(text + used, DETAIL - used, "; before: %s (%s)", number_whole(event->was.count, number),
			rate_text(each_second(self->table->base_from, self->table->base_to, event->was.count), took));
	used = strlen(text);
	if (event->was.count && lasts(event))
		util_print(text + used, DETAIL - used, ", p50 %s, p99 %s", duration_text(event->was.p50, 2, took),
			duration_text(event->was.p99, 2, number));
	return text;
}

/* ---- why there is nothing ---- */

static struct emptiness of_range(const struct scope *scope)
{
	static const char why[] = "Nothing that is traced has happened in this window.";

	if (scope->moved)
		return (struct emptiness) { why, "{live} goes back to now; {window-back} and {window-on} move it." };
	if (scope->until_ns)
		return (struct emptiness) { why, "{freeze} goes back to now." };
	if (scope->zero_ns)
		return (struct emptiness) { why, "{back} counts all again." };
	return (struct emptiness) { why, "If this lasts, {window} takes a longer window." };
}

static struct emptiness why_empty(const struct event_view *self)
{
	const struct event_table *table = self->table;
	const struct filter *filter = &self->scope->filter;
	struct emptiness news = emptiness_of_news(self->vitals);

	if (table && table->now && self->page.open)
		return slow_page_empty(&self->page, table);
	if (table && table->count)
		return (struct emptiness) { NULL, NULL };
	if (table && table->now && table->events && filter->count > event_filter_ignores(filter, true))
		return (struct emptiness) { "Nothing that the filter lets pass has ended in this window.",
			"{filter} changes the filter, an empty one shows all." };
	if (news.why && !self->scope->until_ns)
		return news;
	if (!table)
		return (struct emptiness) { "The first answer is being made.", "This takes a moment." };
	if (!table->now)
		return (struct emptiness) { "The guest has not told of itself.", "Wait for its first data." };
	return !table->traced && !(table->events && self->scope->until_ns) ? emptiness_of_traces(self->vitals) :
		of_range(self->scope);
}

/* ---- the whole ---- */

/* Takes the last row off the area. `width` 0: if there is no room for it. */
static struct place take_row(struct area *area, bool room)
{
	area->rows -= room;
	return (struct place) { area->row + area->rows, area->column, room ? area->columns : 0 };
}

static void draw_table(struct event_view *self, struct canvas *canvas)
{
	struct sorted_table *sorted = &self->sorted;
	struct list_rows rows = rows_of(self);
	struct place at = { 0, sorted->area.column, sorted->area.columns };

	lay_out(self);
	list_update(&sorted->list, &rows, (size_t)sorted->rows.rows);
	if (sorted->rows.row > sorted->area.row)
		sorted_draw_heads(sorted, canvas, name_head(self));
	for (size_t i = sorted->list.top; i < rows.count && i < sorted->list.top + (size_t)sorted->rows.rows; i++) {
		at.row = sorted->rows.row + (int)(i - sorted->list.top);
		sorted_draw_name(canvas, sorted_cell(sorted, at, AT_NAME), name_of(self, i), self->scope->match);
		draw_numbers(self, canvas, at, row_at(self, i));
		if (sorted->width[AT_TREND])
			draw_trend(canvas, sorted_cell(sorted, at, AT_TREND), row_at(self, i));
		if (i == sorted->list.cursor)
			sorted_draw_cursor(canvas, at);
	}
}

static void events_draw(void *context, struct canvas *canvas, struct area area)
{
	struct event_view *self = context;
	bool heads = area.rows >= HEADS_FROM, line = area.rows >= LINE_FROM && area.columns < BESIDE_FROM;
	struct place detail_at, line_at;
	struct area beside;
	const char *name;
	char notes[NOTES], detail[DETAIL];

	self->sorted.area = area;
	self->sorted.rows = (struct area) { .rows = 0 };
	if (!self->vitals || area.rows < 1)
		return;
	if (why_empty(self).why) {
		if (self->table)
			sorted_draw_notes(canvas, &area, write_notes(self, notes));
		heads = heads && area.rows >= HEADS_FROM;
		emptiness_draw(why_empty(self), canvas,
			(struct area) { area.row + heads, area.column + 2, area.rows - heads, area.columns - 3 },
			self->keys);
		return;
	}
	if (self->page.open) {
		sorted_draw_notes(canvas, &area, write_notes(self, notes));
		slow_page_draw(&self->page, self->table, self->scope->match, canvas, area);
		return;
	}
	detail_at = take_row(&area, area.rows >= DETAIL_FROM);
	line_at = take_row(&area, line);
	sorted_draw_notes(canvas, &area, write_notes(self, notes));
	beside = sorted_take_beside(&area, BESIDE_FROM, BESIDE_LEAST, BESIDE_MOST);
	self->sorted.area = area;
	self->sorted.rows = (struct area) { area.row + heads, area.column, area.rows - heads, area.columns };
	draw_table(self, canvas);
	name = name_of(self, self->sorted.list.cursor);
	if (beside.rows)
		draw_beside(self->table, canvas, beside, selected(self), name);
	if (line_at.width)
		draw_line(canvas, line_at, selected(self), name);
	if (detail_at.width)
		sorted_draw_detail(&self->sorted, canvas, detail_at, write_detail(self, detail));
}

/* ---- what the user does ---- */

static bool events_act(void *context, enum action action)
{
	struct event_view *self = context;
	struct list_rows rows = rows_of(self);
	bool acted, sorts;

	if (self->page.open && action == ACTION_BACK) {
		self->page.open = false;
		return true;
	}
	if (self->page.open && action != ACTION_GROUP)		/* which is about the table */
		return slow_page_act(&self->page, self->table, action);
	self->page.open = false;
	switch (action) {
	case ACTION_OPEN:
		if (selected(self) && lasts(selected(self)))
			slow_page_open(&self->page, selected(self), self->table->by);
		return self->page.open;
	case ACTION_GROUP:
		self->by = (self->by + 1) % EVENT_BYS;
		return true;
	case ACTION_SORT_CPU:
		self->sorted.sort = AT_TOTAL;
		self->sorted.invert = false;
		sort_rows(self);
		return true;
	default:
		lay_out(self);
		acted = sorted_act(&self->sorted, &rows, action, &sorts);
		if (sorts)
			sort_rows(self);
		return acted;
	}
}

/*
 * The longest of the row's spans, and half as much before and behind it; or the last single event. Where none has
 * ended, the oldest of those that have not.
 */
static bool events_moment(const void *context, struct view_moment *moment)
{
	const struct event_view *self = context;
	const struct event_row *row = selected(self);
	uint64_t begin = row && row->longest > row->max ? row->longest - row->max : 0;
	uint64_t around = row && lasts(row) ? row->max / 2 : NS_PER_MS;

	if (self->page.open)
		return slow_page_moment(&self->page, self->table, moment);
	if (!row || (!row->count && !row->open))
		return false;
	if (!row->count) {
		*moment = (struct view_moment) {
			.from = row->oldest > row->oldest_ns / 2 ? row->oldest - row->oldest_ns / 2 : 0,
			.to = row->oldest + row->oldest_ns, .at = row->oldest + row->oldest_ns - !!row->oldest_ns,
			.thread = row->oldest_of, .cpu = row->oldest_on, .machine = row->oldest_in,
		};
		return true;
	}
	*moment = (struct view_moment) {
		.from = begin > around ? begin - around : 0, .to = row->longest + around + 1,
		.at = begin, .thread = row->longest_of, .cpu = row->longest_on, .machine = row->longest_in,
	};
	return true;
}

static void events_click(void *context, int row, int column)
{
	struct event_view *self = context;
	struct list_rows rows = rows_of(self);

	lay_out(self);
	if (self->page.open)
		slow_page_click(&self->page, self->table, row);
	else if (sorted_click(&self->sorted, &rows, row, column))
		sort_rows(self);
}

static bool events_search(void *context, const char *pattern, enum list_search where)
{
	struct event_view *self = context;
	struct list_rows rows = rows_of(self);

	if (self->page.open)
		return slow_page_search(&self->page, self->table, pattern, where);
	return list_search(&self->sorted.list, &rows, pattern, where);
}

static const struct request *events_ask(void *context, const struct scope *scope)
{
	struct event_view *self = context;
	struct request *request = &self->request.request;

	if (self->sorted.area.rows < 1 || !self->vitals)
		return NULL;
	memset(&self->request, 0, sizeof(self->request));	/* requests are compared as bytes */
	request->kind = &event_table_kind;
	request->pause_ms = PAUSE_MS;
	self->request.by = self->by;
	slow_page_ask(&self->page, &self->request);
	scope_excerpt(scope, &request->excerpt);
	return request;
}

static bool events_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)context;
	(void)scope;
	return answer->kind == &event_table_kind;
}

static struct view_told events_told(const void *context)
{
	const struct event_table *table = ((const struct event_view *)context)->table;

	return (struct view_told) {
		.known = table && table->now, .rows = table && table->count, .end = table ? table->to : 0,
	};
}

static void events_way(void *context, struct view_way *way)
{
	struct event_view *self = context;

	if (self->page.open)
		view_way_add(way, '>', self->page.name);
}

const struct view view_events = {
	.name = "Events",
	.new = events_new,
	.free = events_free,
	.ask = events_ask,
	.show = events_show,
	.draw = events_draw,
	.takes = events_takes,
	.told = events_told,
	.act = events_act,
	.click = events_click,
	.moment = events_moment,
	.search = events_search,
	.way = events_way,
};
