/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/memory_table.h"
#include "agent/answers/vitals.h"
#include "agent/base/change.h"
#include "agent/base/duration_text.h"
#include "agent/base/hash.h"
#include "agent/base/number_text.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
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
#include "views.h"

enum {
	PAUSE_MS = 100,
	MARK = 2,			/* columns in front of a line */
	HEADS_FROM = 5, DETAIL_FROM = 6, TOTALS_FROM = 8,	/* rows from which there are these lines */
	BESIDE_FROM = 140,		/* columns from which the row's life is beside the table, */
	BESIDE_LEAST = 48, BESIDE_MOST = 66,	/* and its own */
	GRAPH_MOST = 12, GRAPH_FROM = 14,	/* rows of its graph; those of the area from which there is one */
	NAME_LEAST = 27,
	DETAIL = 768, NOTES = 768, TOTALS = 1024,	/* bytes of texts */
};

#define SWITCH_ON "`ktop ctl events +memory_free +memory_alloc:stack`"

/* The columns from left to right; the heads name them. */
enum { AT_LIVE, AT_CHANGE, AT_OBJECTS, AT_PEAK, AT_RATE, AT_FREED, AT_AGE, AT_TREND, AT_NAME, HEADS };

static const struct sorted_column columns[HEADS] = {
	[AT_LIVE] = { "LIVE", 6, 0, false }, [AT_CHANGE] = { "CHANGE", 7, 6, false },
	[AT_OBJECTS] = { "COUNT", 6, 5, false }, [AT_PEAK] = { "PEAK", 6, 2, false },
	[AT_RATE] = { "RATE", 7, 3, false }, [AT_FREED] = { "FREED%", 7, 4, false },
	[AT_AGE] = { "AGE", 6, 7, false }, [AT_TREND] = { "TREND 60s", 10, 1, true },
	[AT_NAME] = { "CALL SITE", 12, 0, true },
};

static const struct sorted_kind kind = {
	.columns = columns, .count = HEADS, .name = AT_NAME, .trend = AT_TREND, .trend_most = 30,
	.trend_sorts = AT_LIVE,
};

struct rank {				/* where a row of the answer stands: the larger ones first, then by `row` */
	uint64_t key;
	uint32_t row;
};

struct memory_view {
	const struct keys *keys;
	const struct vitals *vitals;	/* NULL: none yet */
	const struct memory_table *table;	/* NULL: no answer yet */
	const struct scope *scope;
	struct memory_request request;
	struct rank *order;		/* of all rows of the table */
	struct sorted_table sorted;
	enum memory_by by;
	bool open;			/* the stacks of a row fill the view: of this one */
	uint32_t allocator;
	uint64_t site;
	char opened[MEMORY_TEXT];	/* its name */
	int top, lines;			/* the first line of them that is shown; how many there are */
	bool beside;			/* in the last drawing: there was room beside the table */
	char name[MEMORY_TEXT];		/* of the row that was named last */
};

/* ---- rows ---- */

static const struct memory_row *row_at(const struct memory_view *self, size_t row)
{
	return &self->table->rows[self->order[row].row];
}

static uint64_t key_of(const void *context, size_t row)
{
	const struct memory_row *memory = row_at(context, row);

	return hash_mix(memory->site ^ memory->allocator, UINT64_C(0x9e3779b97f4a7c15));
}

static const char *name_of(const void *context, size_t row)
{
	const struct memory_view *self = context;

	return memory_row_text(row_at(self, row), ((struct memory_view *)context)->name);
}

static struct list_rows rows_of(const struct memory_view *self)
{
	return (struct list_rows) {
		.context = self, .count = self->table ? self->table->count : 0, .key = key_of, .name = name_of,
	};
}

/* The row under the cursor; NULL: there is none. */
static const struct memory_row *selected(const struct memory_view *self)
{
	const size_t cursor = self->sorted.list.cursor;

	return self->table && cursor < self->table->count ? row_at(self, cursor) : NULL;
}

static int64_t change_of_row(const struct memory_row *row)
{
	return (int64_t)(row->is.bytes - row->was.bytes);
}

/* Bytes that were given out in each second of the range. */
static double rate_of(const struct memory_table *table, const struct memory_row *row)
{
	double seconds = (double)(table->to - table->from) / (double)NS_PER_SECOND;

	return table->to > table->from ? (double)row->given_bytes / seconds : 0;
}

static double freed_of(const struct memory_row *row)
{
	return row->given ? 100 * (double)row->taken / (double)row->given : 0;
}

static uint64_t age_of(const struct memory_table *table, const struct memory_row *row)
{
	return row->oldest && table->to > row->oldest ? table->to - row->oldest : 0;
}

static struct rank rank_of(const struct memory_view *self, uint32_t at)
{
	const struct memory_row *row = &self->table->rows[at];
	const uint64_t keys[HEADS] = {
		[AT_LIVE] = row->is.bytes, [AT_CHANGE] = (uint64_t)change_of_row(row) + (UINT64_C(1) << 63),
		[AT_OBJECTS] = row->is.objects, [AT_PEAK] = row->peak, [AT_RATE] = row->given_bytes,
		[AT_FREED] = (uint64_t)(1e6 * freed_of(row)), [AT_AGE] = age_of(self->table, row),
	};

	return (struct rank) { self->sorted.invert ? ~keys[self->sorted.sort] : keys[self->sorted.sort], at };
}

static int larger_first(const void *left, const void *right, void *context)
{
	const struct memory_view *self = context;
	const struct rank *a = left, *b = right;
	char one[MEMORY_TEXT], other[MEMORY_TEXT];
	int texts = self->sorted.sort != AT_NAME ? 0 : strverscmp(memory_row_text(&self->table->rows[a->row], one),
		memory_row_text(&self->table->rows[b->row], other));

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	if (texts)
		return self->sorted.invert ? -texts : texts;
	return (a->row > b->row) - (a->row < b->row);
}

static void sort_rows(struct memory_view *self)
{
	struct list_rows rows = rows_of(self);

	for (uint32_t i = 0; i < rows.count; i++)
		self->order[i] = rank_of(self, i);
	if (rows.count)
		qsort_r(self->order, rows.count, sizeof(*self->order), larger_first, self);
	list_update(&self->sorted.list, &rows, self->sorted.list.height);
}

static void *memory_new(const struct config *config)
{
	struct memory_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	self->sorted.kind = &kind;
	self->sorted.sort = AT_LIVE;
	return self;
}

static void memory_end(void *context)
{
	struct memory_view *self = context;

	free(self->order);
	free(self);
}

static void memory_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	struct memory_view *self = context;
	bool again = self->table == (const struct memory_table *)answer;

	self->vitals = vitals;
	self->scope = scope;
	if (again)
		return;
	self->table = (const struct memory_table *)answer;
	if (self->table)
		self->order = util_grow(self->order, self->table->count + 1, sizeof(*self->order));
	sort_rows(self);
}

/* ---- columns ---- */

static const char *bytes_text(uint64_t bytes, char text[NUMBER_TEXT])
{
	return number_text((double)bytes, 0, text);
}

/* "+12.3k" */
static const char *signed_text(int64_t bytes, char text[NUMBER_TEXT])
{
	char number[NUMBER_TEXT];

	return util_print(text, NUMBER_TEXT, "%s%s", bytes > 0 ? "+" : bytes < 0 ? "-" : "",
		bytes_text(bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes, number));
}

static void lay_out(struct memory_view *self)
{
	const uint32_t change = self->table && self->table->compared ? 0 : 1u << AT_CHANGE;
	const uint32_t age = self->table && !self->table->ages ? 1u << AT_AGE : 0;

	sorted_lay_out(&self->sorted, (struct sorted_names) { NAME_LEAST, INT_MAX, 2 * NAME_LEAST }, change | age);
}

static void draw_name(const struct memory_view *self, struct canvas *canvas, struct place place, size_t row)
{
	int allocator = canvas_width(canvas, row_at(self, row)->called);
	const char *name = name_of(self, row);

	sorted_draw_name(canvas, place, name, self->scope->match);
	if (allocator < place.width && !list_match(name, self->scope->match))
		canvas_restyle(canvas, (struct place) { place.row, place.column, allocator }, STYLE_KERNEL);
}

static uint64_t total_of(const struct memory_table *table, uint32_t allocator)
{
	for (uint32_t i = 0; i < table->total_count; i++)
		if (table->totals[i].allocator == allocator)
			return table->totals[i].is.bytes;
	return 0;
}

static void draw_numbers(const struct memory_view *self, struct canvas *canvas, struct place place,
	const struct memory_row *row)
{
	const struct memory_table *table = self->table;
	const struct sorted_table *sorted = &self->sorted;
	uint64_t whole = total_of(table, row->allocator), age = age_of(table, row);
	double share = whole ? (double)row->is.bytes / (double)whole : 0;
	uint8_t heat = share >= 0.25 ? STYLE_HOT : share >= 0.05 ? STYLE_WARM : STYLE_TEXT;
	const struct change change = { .share = (double)change_of_row(row), .appeared = !row->was.objects,
		.gone = !row->is.objects };
	char text[NUMBER_TEXT], number[NUMBER_TEXT];

	canvas_right(canvas, sorted_cell(sorted, place, AT_LIVE), heat, bytes_text(row->is.bytes, text));
	canvas_right(canvas, sorted_cell(sorted, place, AT_CHANGE),
		change_of_row(row) ? change_style(change) : STYLE_DIM, signed_text(change_of_row(row), text));
	canvas_right(canvas, sorted_cell(sorted, place, AT_OBJECTS), STYLE_TEXT, bytes_text(row->is.objects, text));
	canvas_right(canvas, sorted_cell(sorted, place, AT_PEAK), STYLE_TEXT, bytes_text(row->peak, text));
	util_print(text, sizeof(text), "%s/s", number_text(rate_of(table, row), 0, number));
	canvas_right(canvas, sorted_cell(sorted, place, AT_RATE), row->given ? STYLE_TEXT : STYLE_DIM,
		row->given ? text : "-");
	canvas_right(canvas, sorted_cell(sorted, place, AT_FREED), row->given && !row->taken ? STYLE_WARM :
		row->given ? STYLE_TEXT : STYLE_DIM, row->given ? number_text(freed_of(row), 1, text) : "-");
	canvas_right(canvas, sorted_cell(sorted, place, AT_AGE), age ? STYLE_TEXT : STYLE_DIM,
		age ? duration_text(age, 2, text) : "-");
	if (sorted->width[AT_TREND])
		glyphs_trend(canvas, sorted_cell(sorted, place, AT_TREND), STYLE_IDLE, row->trend, MEMORY_TREND);
}

/* ---- stacks ---- */

/* Draws the functions of "f < g < ...", one in a line, from the first line that `skip` leaves. Returns the lines. */
static int draw_stack(struct canvas *canvas, struct area area, int skip, const char *text)
{
	int line = 0;

	for (const char *at = text; *at; line++) {
		const char *end = strstr(at, " < ");
		size_t size = end ? (size_t)(end - at) : strlen(at);

		if (line >= skip && line - skip < area.rows)
			canvas_format(canvas, (struct place) { area.row + line - skip, area.column, area.columns },
				line ? STYLE_TEXT : STYLE_DIM, "%.*s", (int)size, at);
		at += size + (end ? strlen(" < ") : 0);
	}
	return line;
}

static bool are_told(const struct memory_table *table, uint32_t allocator, uint64_t site)
{
	return table->stacks_told && table->stacks_allocator == allocator && table->stacks_site == site;
}

/* "12.3k in 204 objects" */
static const char *live_text(const struct memory_live *live, char text[3 * NUMBER_TEXT])
{
	char bytes[NUMBER_TEXT], objects[NUMBER_TEXT];

	return util_print(text, 3 * NUMBER_TEXT, "%s in %s object%s", bytes_text(live->bytes, bytes),
		number_whole(live->objects, objects), util_plural(live->objects));
}

/* The stacks of the row that was opened, each with what of it lives. */
static void draw_page(struct memory_view *self, struct canvas *canvas, struct area area)
{
	const struct memory_table *table = self->table;
	int line = 0;
	char text[3 * NUMBER_TEXT];

	canvas_format(canvas, (struct place) { area.row, area.column + MARK, area.columns - MARK }, STYLE_TITLE,
		"who has asked for what lives of %s", self->opened);
	area = (struct area) { area.row + 2, area.column + MARK, area.rows - 2, area.columns - MARK };
	self->top = self->top > self->lines - area.rows ? self->lines - area.rows : self->top;
	self->top = self->top < 0 ? 0 : self->top;
	for (uint32_t i = 0; i < table->stack_count; i++) {
		const struct memory_stack *stack = &table->stacks[i];
		int at = line - self->top, skip = at + 1 < 0 ? -at - 1 : 0;

		if (at >= 0 && at < area.rows)
			canvas_text(canvas, (struct place) { area.row + at, area.column, area.columns }, STYLE_WARM,
				live_text(&stack->is, text));
		at += 1 + skip;
		line += 2 + draw_stack(canvas, (struct area) { area.row + at, area.column + MARK,
			area.rows > at ? area.rows - at : 0, area.columns - MARK }, skip,
			*stack->text ? stack->text : "no stack was told");
	}
	if (table->stacks_left_out && line - self->top >= 0 && line - self->top < area.rows)
		canvas_format(canvas, (struct place) { area.row + line - self->top, area.column, area.columns },
			STYLE_DIM, "not shown, since they have less: %u", (unsigned)table->stacks_left_out);
	line += table->stacks_left_out != 0;
	self->lines = line;
}

/* What lived of the row in the last minute, the newest at the right. */
static void draw_graph(struct canvas *canvas, struct area area, const struct memory_row *row)
{
	uint64_t most = 0;
	int first = area.columns < MEMORY_TREND ? MEMORY_TREND - area.columns : 0;

	for (int i = first; i < MEMORY_TREND; i++)
		most = row->trend[i] > most ? row->trend[i] : most;
	for (int i = first; i < MEMORY_TREND && most; i++) {
		double level = (double)row->trend[i] / (double)most * area.rows;

		for (int k = 0; k < area.rows && row->trend[i] && (k == 0 || k < level); k++)
			glyphs_column(canvas, (struct place) { area.row + area.rows - 1 - k,
				area.column + i - first, 1 }, STYLE_KERNEL, level - k);
	}
}

/* The life of the row under the cursor, with a wall at its left: the last minute, and its heaviest stack. */
static void draw_beside(struct memory_view *self, struct canvas *canvas, struct area area)
{
	const struct memory_row *row = selected(self);
	struct place at = { area.row, area.column + 3, area.columns - 4 };
	int graph = area.rows / 2 < GRAPH_MOST ? area.rows / 2 : GRAPH_MOST;
	char text[3 * NUMBER_TEXT];

	for (int i = 0; i < area.rows; i++)
		canvas_text(canvas, (struct place) { area.row + i, area.column + 1, 1 }, STYLE_DIM,
			glyphs_text(canvas, GLYPH_WALL));
	if (area.rows >= GRAPH_FROM) {
		uint64_t most = 0;

		for (int i = 0; i < MEMORY_TREND; i++)
			most = row->trend[i] > most ? row->trend[i] : most;
		canvas_format(canvas, at, STYLE_HEAD, "LIVE IN THE LAST MINUTE, AT MOST %s", bytes_text(most, text));
		draw_graph(canvas, (struct area) { at.row + 1, at.column, graph, at.width }, row);
		at.row += graph + 2;
	}
	canvas_text(canvas, at, STYLE_HEAD, "THE STACK THAT HAS MOST OF IT");
	if (!are_told(self->table, row->allocator, row->site) || !self->table->stack_count)
		return;
	at.row++;
	canvas_text(canvas, at, STYLE_WARM, live_text(&self->table->stacks[0].is, text));
	at.row++;
	draw_stack(canvas, (struct area) { at.row, at.column, area.row + area.rows - at.row, at.width }, 0,
		*self->table->stacks[0].text ? self->table->stacks[0].text : "no stack was told");
}

/* ---- what is told above and below ---- */

/* "LIVE  slab 1.2M in 3,400 objects  pages 4.1M in 1,024 objects" */
static void draw_totals(const struct memory_table *table, struct canvas *canvas, struct place place)
{
	char text[3 * NUMBER_TEXT];
	int end = place.column + place.width;

	for (uint32_t i = 0; i < table->total_count && place.width > 0; i++) {
		place.column += canvas_text(canvas, place, STYLE_KERNEL, table->totals[i].called) + 1;
		place.width = end - place.column;
		place.column += canvas_text(canvas, place, STYLE_TEXT, live_text(&table->totals[i].is, text)) + 2;
		place.width = end - place.column;
	}
	if (table->total_count > 1 && place.width > 0)
		canvas_text(canvas, place, STYLE_DIM, "what one has from another is in both");
}

static uint64_t unsure_bytes(const struct memory_table *table)
{
	uint64_t unsure = 0;

	for (uint32_t i = 0; i < table->count; i++)
		unsure += table->rows[i].unsure;
	return unsure;
}

/* Words of the filter that say nothing about memory. */
static bool filter_ignored(const struct filter *filter)
{
	for (uint32_t i = 0; i < filter->count; i++)
		if (filter->terms[i].by != FILTER_FUNCTION && filter->terms[i].by != FILTER_MACHINE)
			return true;
	return false;
}

/* What is missing from the rows, and what of the scope does not hold for them. */
static const char *write_notes(const struct memory_view *self, char notes[NOTES])
{
	const struct memory_table *table = self->table;
	const struct { uint64_t count; const char *what; } books[] = {
		{ table->counts.unkept, "objects found no room, and are in no row; give more by --memory" },
		{ table->counts.reused, "objects never told their end, and their address came again" },
		{ table->counts.unmatched, "frees are of what was given out before, or unseen" },
		{ table->counts.merged, "stacks found no room; give more by --memory" },
		{ table->refused, "rows found no room; give more by --memory" },
	};
	char note[NOTES / 2], number[NUMBER_TEXT], time[SCOPE_TIME];

	notes[0] = '\0';
	if (!table->traced && table->count && !self->scope->until_ns && !self->vitals->play.there)
		sorted_note(notes, NOTES, "the allocators are not traced now: what lives is as it was last told");
	if (table->lost)
		sorted_note(notes, NOTES,
			util_print(note, sizeof(note), "%s trace events were lost: more or less may live",
			number_whole(table->lost, number)));
	if (table->ages && unsure_bytes(table))
		sorted_note(notes, NOTES,
			util_print(note, sizeof(note), "%s of what lives are from before %s, since when events "
			"were missing: they may be free", bytes_text(unsure_bytes(table), number),
			scope_time(uptime_shown(table->answer.zero, table->sure_from), time)));
	for (size_t i = 0; i < sizeof(books) / sizeof(*books); i++) {
		if (books[i].count)
			sorted_note(notes, NOTES,
				util_print(note, sizeof(note), "%s %s", number_whole(books[i].count, number),
				books[i].what));
	}
	if (table->totals_left_out)
		sorted_note(notes, NOTES, "not all allocators have their sum at the top");
	if (table->filters[0])
		sorted_note(notes, NOTES, util_print(note, sizeof(note), "of these events only some are traced now: %s",
			table->filters));
	if (table->forgot)
		sorted_note(notes, NOTES, util_print(note, sizeof(note), "since %s, older changes were forgotten",
			scope_time(uptime_shown(table->answer.zero, table->kept_from), time)));
	if (table->base_forgot)
		sorted_note(notes, NOTES, "the baseline was forgotten");
	if (!table->ages)
		sorted_note(notes, NOTES, "this window is past: it ends with a whole second, and ages are not known");
	if (table->answer.partial)
		sorted_note(notes, NOTES, "more events of this time are still to come");
	if (!table->located && self->by == MEMORY_BY_SITE)
		sorted_note(notes, NOTES, "no call site is told: " SWITCH_ON " has it told");
	for (uint32_t i = 0; i < table->machine_count && i < self->vitals->machine_count; i++)
		if (table->traced && table->untraced >> i & 1)
			sorted_note(notes, NOTES, util_print(note, sizeof(note), "%s: its allocators are not traced",
				self->vitals->machines[i].name));
	if (filter_ignored(&self->scope->filter))
		sorted_note(notes, NOTES, "memory is of no thread and no CPU: of the filter only its names count here");
	return notes;
}

/* "slab: node_new < tree_insert: 1,234,567 bytes live in 12 objects, peak ...; given out 3, freed 2" */
static const char *write_detail(const struct memory_view *self, char text[DETAIL])
{
	const struct memory_row *row = selected(self);
	char numbers[5][NUMBER_TEXT], took[DURATION_TEXT];
	size_t used;

	util_print(text, DETAIL, "%s: %s bytes live in %s object%s; peak %s; in the window %s given out, %s freed",
		name_of(self, self->sorted.list.cursor), number_whole(row->is.bytes, numbers[0]),
		number_whole(row->is.objects, numbers[1]), util_plural(row->is.objects),
		number_whole(row->peak, numbers[2]), number_whole(row->given, numbers[3]),
		number_whole(row->taken, numbers[4]));
	used = strlen(text);
	if (age_of(self->table, row))
		util_print(text + used, DETAIL - used, "; the oldest lives for %s",
			duration_text(age_of(self->table, row), 3, took));
	used = strlen(text);
	if (self->table->compared)
		util_print(text + used, DETAIL - used, "; before: %s bytes in %s object%s",
			number_whole(row->was.bytes, numbers[0]), number_whole(row->was.objects, numbers[1]),
			util_plural(row->was.objects));
	used = strlen(text);
	if (row->unsure)
		util_print(text + used, DETAIL - used, "; %s bytes may be free", number_whole(row->unsure, numbers[0]));
	return text;
}

/* ---- why there is nothing ---- */

static struct emptiness of_untraced(const struct vitals *vitals)
{
	if (vitals->play.there)
		return (struct emptiness) { "In this recording, no allocator was traced up to here.",
			SWITCH_ON " traces them; then record anew." };
	if (sampler_is_outside(vitals->sampler))
		return (struct emptiness) { "What samples from outside the guest sees no allocations.",
			"A hook in the guest tells them." };
	return (struct emptiness) { "The guest's allocators are not traced.",
		SWITCH_ON " has them tell what they give out and take back, and who has asked." };
}

static struct emptiness why_empty(const struct memory_view *self)
{
	const struct memory_table *table = self->table;
	struct emptiness news = emptiness_of_news(self->vitals);

	if (table && table->count)
		return (struct emptiness) { NULL, NULL };
	if (table && table->hidden)
		return (struct emptiness) { "No call site has the filter's name.",
			"{filter} changes the filter, an empty one shows all." };
	if (news.why && !self->scope->until_ns)
		return news;
	if (!table)
		return (struct emptiness) { "The first answer is being made.", "This takes a moment." };
	if (!table->now)
		return (struct emptiness) { "The guest has not told of itself.", "Wait for its first data." };
	if (!table->traced && !table->counts.given && !table->counts.unmatched)
		return of_untraced(self->vitals);
	return (struct emptiness) { "Nothing that was given out since tracing began lives in this window.",
		"If this lasts, does the guest allocate anything?" };
}

/* ---- the whole ---- */

/* Takes a row off the area: the first one, or the last. `width` 0: if there is no room for it. */
static struct place take_row(struct area *area, bool first, bool room)
{
	struct place place = { area->row, area->column, room ? area->columns : 0 };

	area->rows -= room;
	if (!first)
		place.row += area->rows;
	area->row += first && room;
	return place;
}

static void draw_table(struct memory_view *self, struct canvas *canvas)
{
	struct sorted_table *sorted = &self->sorted;
	struct list_rows rows = rows_of(self);
	struct place at = { 0, sorted->area.column, sorted->area.columns };

	lay_out(self);
	list_update(&sorted->list, &rows, (size_t)sorted->rows.rows);
	if (sorted->rows.row > sorted->area.row)
		sorted_draw_heads(sorted, canvas,
			self->by == MEMORY_BY_ALLOCATOR ? "ALLOCATOR" : columns[AT_NAME].head);
	for (size_t i = sorted->list.top; i < rows.count && i < sorted->list.top + (size_t)sorted->rows.rows; i++) {
		at.row = sorted->rows.row + (int)(i - sorted->list.top);
		draw_numbers(self, canvas, at, row_at(self, i));
		draw_name(self, canvas, sorted_cell(sorted, at, AT_NAME), i);
		if (i == sorted->list.cursor)
			sorted_draw_cursor(canvas, at);
	}
}

static void memory_draw(void *context, struct canvas *canvas, struct area area)
{
	struct memory_view *self = context;
	bool heads = area.rows >= HEADS_FROM;
	struct place detail_at, totals_at;
	struct area beside;
	char notes[NOTES], detail[DETAIL];

	self->sorted.area = area;
	self->beside = false;
	self->sorted.rows = (struct area) { .rows = 0 };
	if (!self->vitals || area.rows < 1)
		return;
	if (why_empty(self).why) {
		if (self->table && self->table->now)
			sorted_draw_notes(canvas, &area, write_notes(self, notes));
		heads = heads && area.rows >= HEADS_FROM;
		emptiness_draw(why_empty(self), canvas,
			(struct area) { area.row + heads, area.column + 2, area.rows - heads, area.columns - 3 },
			self->keys);
		return;
	}
	totals_at = take_row(&area, true, area.rows >= TOTALS_FROM && !self->open);
	detail_at = take_row(&area, false, area.rows >= DETAIL_FROM && !self->open);
	sorted_draw_notes(canvas, &area, write_notes(self, notes));
	if (self->open) {
		draw_page(self, canvas, area);
		return;
	}
	beside = sorted_take_beside(&area, BESIDE_FROM, BESIDE_LEAST, BESIDE_MOST);
	self->beside = beside.rows;
	self->sorted.area = area;
	self->sorted.rows = (struct area) { area.row + heads, area.column, area.rows - heads, area.columns };
	draw_table(self, canvas);
	if (totals_at.width)
		draw_totals(self->table, canvas, (struct place) { totals_at.row, totals_at.column + MARK,
			totals_at.width - MARK });
	if (beside.rows)
		draw_beside(self, canvas, beside);
	if (detail_at.width)
		sorted_draw_detail(&self->sorted, canvas, detail_at, write_detail(self, detail));
}

/* ---- what the user does ---- */

/* False: the action is none of the page's. Its lines have no cursor. */
static bool act_on_page(struct memory_view *self, enum action action)
{
	const int steps[] = { [ACTION_UP] = -1, [ACTION_DOWN] = 1, [ACTION_PAGE_UP] = -10, [ACTION_PAGE_DOWN] = 10 };

	switch (action) {
	case ACTION_UP: case ACTION_DOWN: case ACTION_PAGE_UP: case ACTION_PAGE_DOWN:
		self->top += steps[action];
		return true;
	case ACTION_TOP:
		self->top = 0;
		return true;
	case ACTION_BOTTOM:
		self->top = self->lines;
		return true;
	case ACTION_BACK:
		self->open = false;
		return true;
	default:
		return false;
	}
}

static bool open_row(struct memory_view *self)
{
	const struct memory_row *row = selected(self);

	if (!row)
		return false;
	self->open = true;
	self->allocator = row->allocator;
	self->site = row->site;
	self->top = self->lines = 0;
	memory_row_text(row, self->opened);
	return true;
}

static bool memory_act(void *context, enum action action)
{
	struct memory_view *self = context;
	struct list_rows rows = rows_of(self);
	bool acted, sorts;

	if (self->open && action != ACTION_GROUP)		/* which is about the table */
		return act_on_page(self, action);
	self->open = false;
	switch (action) {
	case ACTION_OPEN:
		return open_row(self);
	case ACTION_GROUP:
		self->by = (self->by + 1) % MEMORY_BYS;
		return true;
	case ACTION_SORT_CPU:
	case ACTION_SORT_TIME:
		self->sorted.sort = action == ACTION_SORT_CPU ? AT_LIVE : AT_AGE;
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

static void memory_click(void *context, int row, int column)
{
	struct memory_view *self = context;
	struct list_rows rows = rows_of(self);

	lay_out(self);
	if (!self->open && sorted_click(&self->sorted, &rows, row, column))
		sort_rows(self);
}

static bool memory_search(void *context, const char *pattern, enum list_search where)
{
	struct memory_view *self = context;
	struct list_rows rows = rows_of(self);

	return !self->open && list_search(&self->sorted.list, &rows, pattern, where);
}

/* The stacks of the open row, or of the one beside which they are drawn. */
static const struct request *memory_ask(void *context, const struct scope *scope)
{
	struct memory_view *self = context;
	struct request *request = &self->request.request;
	const struct memory_row *row = self->beside ? selected(self) : NULL;

	if (self->sorted.area.rows < 1 || !self->vitals)
		return NULL;
	memset(&self->request, 0, sizeof(self->request));	/* requests are compared as bytes */
	request->kind = &memory_table_kind;
	request->pause_ms = PAUSE_MS;
	self->request.by = self->by;
	self->request.stacks = self->open || row;
	self->request.allocator = self->open ? self->allocator : row ? row->allocator : 0;
	self->request.site = self->open ? self->site : row ? row->site : 0;
	scope_excerpt(scope, &request->excerpt);
	return request;
}

static void memory_forget_details(struct request *request)
{
	struct memory_request *of = (struct memory_request *)request;

	of->stacks = of->allocator = of->site = 0;
}

static bool memory_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)context;
	(void)scope;
	return answer->kind == &memory_table_kind;
}

static struct view_told memory_told(const void *context)
{
	const struct memory_table *table = ((const struct memory_view *)context)->table;

	return (struct view_told) {
		.known = table && table->now, .rows = table && table->count, .end = table ? table->to : 0,
	};
}

static void memory_way(void *context, struct view_way *way)
{
	struct memory_view *self = context;

	if (self->open)
		view_way_add(way, '>', self->opened);
}

const struct view view_memory = {
	.name = "Memory",
	.new = memory_new,
	.free = memory_end,
	.ask = memory_ask,
	.forget_details = memory_forget_details,
	.show = memory_show,
	.draw = memory_draw,
	.takes = memory_takes,
	.told = memory_told,
	.act = memory_act,
	.click = memory_click,
	.search = memory_search,
	.way = memory_way,
};
