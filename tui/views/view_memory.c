/* SPDX-License-Identifier: MIT */
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
#include "config.h"
#include "views.h"

enum {
	PAUSE_MS = 100,
	MARK = 2,			/* columns for the cursor's '>' and a space */
	DETAIL_STEP = 16,		/* columns by which a key moves the detail line */
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

static const struct {
	const char *head;
	int width;
	int keep;			/* when room is short, the column with the lowest one goes first; 0: it stays */
} columns[HEADS] = {
	[AT_LIVE] = { "LIVE", 6, 0 }, [AT_CHANGE] = { "CHANGE", 7, 6 }, [AT_OBJECTS] = { "COUNT", 6, 5 },
	[AT_PEAK] = { "PEAK", 6, 2 }, [AT_RATE] = { "RATE", 7, 3 }, [AT_FREED] = { "FREED%", 7, 4 },
	[AT_AGE] = { "AGE", 6, 7 }, [AT_TREND] = { "TREND 60s", 10, 1 }, [AT_NAME] = { "CALL SITE", 12, 0 },
};
enum { KEEPS = 8 };

struct layout {
	int from[HEADS], width[HEADS];	/* columns of the area; width 0: left out */
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
	struct list list;
	int sort;			/* a column */
	bool invert;
	enum memory_by by;
	int detail_from;		/* the first column of the detail line that is shown */
	bool open;			/* the stacks of a row fill the view: of this one */
	uint32_t allocator;
	uint64_t site;
	char opened[MEMORY_TEXT];	/* its name */
	int top, lines;			/* the first line of them that is shown; how many there are */
	struct area area, rows;		/* of the last drawing: the table with its heads; its rows */
	bool beside;			/* likewise: there was room beside the table */
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
	return self->table && self->list.cursor < self->table->count ? row_at(self, self->list.cursor) : NULL;
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

	return (struct rank) { self->invert ? ~keys[self->sort] : keys[self->sort], at };
}

static int larger_first(const void *left, const void *right, void *context)
{
	const struct memory_view *self = context;
	const struct rank *a = left, *b = right;
	char one[MEMORY_TEXT], other[MEMORY_TEXT];
	int texts = self->sort != AT_NAME ? 0 : strverscmp(memory_row_text(&self->table->rows[a->row], one),
		memory_row_text(&self->table->rows[b->row], other));

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	if (texts)
		return self->invert ? -texts : texts;
	return (a->row > b->row) - (a->row < b->row);
}

static void sort_rows(struct memory_view *self)
{
	struct list_rows rows = rows_of(self);

	for (uint32_t i = 0; i < rows.count; i++)
		self->order[i] = rank_of(self, i);
	if (rows.count)
		qsort_r(self->order, rows.count, sizeof(*self->order), larger_first, self);
	list_update(&self->list, &rows, self->list.height);
}

static void *memory_new(const struct config *config)
{
	struct memory_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	self->sort = AT_LIVE;
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

/* The columns that are left for the name, which is the last one. */
static int rest_of(const struct layout *layout, int width)
{
	width -= MARK;
	for (int i = 0; i < AT_NAME; i++)
		width -= layout->width[i] ? layout->width[i] + 1 : 0;
	return width - 1;
}

static struct layout layout_of(const struct memory_view *self, int width)
{
	static const int trends[] = { 20, 30 };
	struct layout layout;

	for (int i = 0; i < HEADS; i++)
		layout.width[i] = columns[i].width;
	if (!self->table || !self->table->compared)
		layout.width[AT_CHANGE] = 0;
	if (self->table && !self->table->ages)
		layout.width[AT_AGE] = 0;
	for (int keep = 1; keep < KEEPS && rest_of(&layout, width) < NAME_LEAST; keep++)
		for (int i = 0; i < AT_NAME; i++)
			if (columns[i].keep == keep)
				layout.width[i] = 0;
	for (size_t i = 0; i < sizeof(trends) / sizeof(*trends) && layout.width[AT_TREND]; i++)
		if (rest_of(&layout, width) + layout.width[AT_TREND] - trends[i] >= 2 * NAME_LEAST)
			layout.width[AT_TREND] = trends[i];
	layout.width[AT_NAME] = rest_of(&layout, width);
	for (int i = 0, at = MARK; i < HEADS; i++) {
		at += i == AT_NAME;
		layout.from[i] = at;
		at += layout.width[i] ? layout.width[i] + 1 : 0;
	}
	return layout;
}

static struct place cell_of(const struct layout *layout, struct place place, int column)
{
	return (struct place) { place.row, place.column + layout->from[column], layout->width[column] };
}

static void draw_heads(const struct memory_view *self, struct canvas *canvas, struct place place,
	const struct layout *layout)
{
	for (int i = 0; i < HEADS; i++) {
		bool sorted = i == self->sort, left = i >= AT_TREND;
		const char *head = i == AT_NAME && self->by == MEMORY_BY_ALLOCATOR ? "ALLOCATOR" : columns[i].head;
		char text[NUMBER_TEXT];

		util_print(text, sizeof(text), "%s%s", head,
			sorted ? glyphs_text(canvas, self->invert ? GLYPH_UP : GLYPH_DOWN) : "");
		(left ? canvas_text : canvas_right)(canvas, cell_of(layout, place, i),
			sorted ? STYLE_SORTED : STYLE_HEAD, text);
	}
}

static void draw_name(const struct memory_view *self, struct canvas *canvas, struct place place, size_t row)
{
	const char *name = name_of(self, row), *match = list_match(name, self->scope->match);
	int before = match ? (int)(match - name) : 0, length = canvas_width(canvas, self->scope->match);
	int allocator = canvas_width(canvas, row_at(self, row)->called);

	canvas_text(canvas, place, STYLE_TEXT, name);
	if (allocator < place.width)
		canvas_restyle(canvas, (struct place) { place.row, place.column, allocator }, STYLE_KERNEL);
	if (match && before + length <= place.width)
		canvas_restyle(canvas, (struct place) { place.row, place.column + before, length }, STYLE_MATCH);
}

static uint64_t total_of(const struct memory_table *table, uint32_t allocator)
{
	for (uint32_t i = 0; i < table->total_count; i++)
		if (table->totals[i].allocator == allocator)
			return table->totals[i].is.bytes;
	return 0;
}

static void draw_numbers(const struct memory_table *table, struct canvas *canvas, struct place place,
	const struct layout *layout, const struct memory_row *row)
{
	uint64_t whole = total_of(table, row->allocator), age = age_of(table, row);
	double share = whole ? (double)row->is.bytes / (double)whole : 0;
	uint8_t heat = share >= 0.25 ? STYLE_HOT : share >= 0.05 ? STYLE_WARM : STYLE_TEXT;
	const struct change change = { .share = (double)change_of_row(row), .appeared = !row->was.objects,
		.gone = !row->is.objects };
	char text[NUMBER_TEXT], number[NUMBER_TEXT];

	canvas_right(canvas, cell_of(layout, place, AT_LIVE), heat, bytes_text(row->is.bytes, text));
	canvas_right(canvas, cell_of(layout, place, AT_CHANGE), change_of_row(row) ? change_style(change) : STYLE_DIM,
		signed_text(change_of_row(row), text));
	canvas_right(canvas, cell_of(layout, place, AT_OBJECTS), STYLE_TEXT, bytes_text(row->is.objects, text));
	canvas_right(canvas, cell_of(layout, place, AT_PEAK), STYLE_TEXT, bytes_text(row->peak, text));
	util_print(text, sizeof(text), "%s/s", number_text(rate_of(table, row), 0, number));
	canvas_right(canvas, cell_of(layout, place, AT_RATE), row->given ? STYLE_TEXT : STYLE_DIM,
		row->given ? text : "-");
	canvas_right(canvas, cell_of(layout, place, AT_FREED), row->given && !row->taken ? STYLE_WARM :
		row->given ? STYLE_TEXT : STYLE_DIM, row->given ? number_text(freed_of(row), 1, text) : "-");
	canvas_right(canvas, cell_of(layout, place, AT_AGE), age ? STYLE_TEXT : STYLE_DIM,
		age ? duration_text(age, 2, text) : "-");
	if (layout->width[AT_TREND])
		glyphs_trend(canvas, cell_of(layout, place, AT_TREND), STYLE_IDLE, row->trend, MEMORY_TREND);
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

static void add_note(char notes[NOTES], const char *note)
{
	size_t used = strlen(notes);

	util_print(notes + used, NOTES - used, "%s%s", used ? "; " : "", note);
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
static void write_notes(const struct memory_view *self, char notes[NOTES])
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
		add_note(notes, "the allocators are not traced now: what lives is as it was last told");
	if (table->lost)
		add_note(notes, util_print(note, sizeof(note), "%s trace events were lost: more or less may live",
			number_whole(table->lost, number)));
	if (table->ages && unsure_bytes(table))
		add_note(notes, util_print(note, sizeof(note), "%s of what lives are from before %s, since when events "
			"were missing: they may be free", bytes_text(unsure_bytes(table), number),
			scope_time(uptime_shown(table->answer.zero, table->sure_from), time)));
	for (size_t i = 0; i < sizeof(books) / sizeof(*books); i++) {
		if (books[i].count)
			add_note(notes, util_print(note, sizeof(note), "%s %s", number_whole(books[i].count, number),
				books[i].what));
	}
	if (table->totals_left_out)
		add_note(notes, "not all allocators have their sum at the top");
	if (table->filters[0])
		add_note(notes, util_print(note, sizeof(note), "of these events only some are traced now: %s",
			table->filters));
	if (table->forgot)
		add_note(notes, util_print(note, sizeof(note), "since %s, older changes were forgotten",
			scope_time(uptime_shown(table->answer.zero, table->kept_from), time)));
	if (table->base_forgot)
		add_note(notes, "the baseline was forgotten");
	if (!table->ages)
		add_note(notes, "this window is past: it ends with a whole second, and ages are not known");
	if (table->answer.partial)
		add_note(notes, "more events of this time are still to come");
	if (!table->located && self->by == MEMORY_BY_SITE)
		add_note(notes, "no call site is told: " SWITCH_ON " has it told");
	for (uint32_t i = 0; i < table->machine_count && i < self->vitals->machine_count; i++)
		if (table->traced && table->untraced >> i & 1)
			add_note(notes, util_print(note, sizeof(note), "%s: its allocators are not traced",
				self->vitals->machines[i].name));
	if (filter_ignored(&self->scope->filter))
		add_note(notes, "memory is of no thread and no CPU: of the filter only its names count here");
}

/* "slab: node_new < tree_insert: 1,234,567 bytes live in 12 objects, peak ...; given out 3, freed 2" */
static void write_detail(const struct memory_view *self, char text[DETAIL])
{
	const struct memory_row *row = selected(self);
	char numbers[5][NUMBER_TEXT], took[DURATION_TEXT];
	size_t used;

	util_print(text, DETAIL, "%s: %s bytes live in %s object%s; peak %s; in the window %s given out, %s freed",
		name_of(self, self->list.cursor), number_whole(row->is.bytes, numbers[0]),
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
}

/* It moves to the left only until its end is in the middle. */
static void draw_detail(struct memory_view *self, struct canvas *canvas, struct place place)
{
	char text[DETAIL];

	write_detail(self, text);
	place.column++;
	place.width--;
	while (self->detail_from > 0 && canvas_width(canvas, text) - self->detail_from < place.width / 2)
		self->detail_from -= DETAIL_STEP;
	self->detail_from = self->detail_from < 0 ? 0 : self->detail_from;
	canvas_text(canvas, place, STYLE_TITLE, canvas_skip(canvas, text, self->detail_from));
}

/* At the foot of the area, which it makes smaller: by a third at most, but by a row at least. */
static void draw_notes(const struct memory_view *self, struct canvas *canvas, struct area *area)
{
	struct area at = { area->row, area->column + 1, 0, area->columns - 2 };
	char notes[NOTES];

	write_notes(self, notes);
	if (!notes[0] || area->rows < 2)
		return;
	at.rows = canvas_rows(canvas, notes, at.columns);
	at.rows = at.rows <= area->rows / 3 ? at.rows : area->rows < 6 ? 1 : area->rows / 3;
	area->rows -= at.rows;
	at.row += area->rows;
	canvas_wrap(canvas, at, STYLE_WARN, notes);
}

/* ---- why there is nothing ---- */

static struct emptiness of_untraced(const struct vitals *vitals)
{
	struct emptiness empty = emptiness_of_traces(vitals);

	if (vitals->play.there)
		return (struct emptiness) { "In this recording, no allocator was traced up to here.",
			SWITCH_ON " traces them; then record anew." };
	if (sampler_is_outside(vitals->sampler))
		return empty;
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

/* Takes the place of what is beside the table off the area. */
static struct area take_beside(struct area *area)
{
	int third = area->columns / 3, width = third < BESIDE_MOST ? third : BESIDE_MOST;
	struct area beside = *area;

	if (area->columns < BESIDE_FROM)
		return (struct area) { .rows = 0 };
	beside.columns = width < BESIDE_LEAST ? BESIDE_LEAST : width;
	area->columns -= beside.columns;
	beside.column += area->columns;
	return beside;
}

static void draw_table(struct memory_view *self, struct canvas *canvas)
{
	struct list_rows rows = rows_of(self);
	struct layout layout = layout_of(self, self->area.columns);
	struct place at = { self->area.row, self->area.column, self->area.columns };

	list_update(&self->list, &rows, (size_t)self->rows.rows);
	if (self->rows.row > at.row)
		draw_heads(self, canvas, at, &layout);
	for (size_t i = self->list.top; i < rows.count && i < self->list.top + (size_t)self->rows.rows; i++) {
		at.row = self->rows.row + (int)(i - self->list.top);
		draw_numbers(self->table, canvas, at, &layout, row_at(self, i));
		draw_name(self, canvas, cell_of(&layout, at, AT_NAME), i);
		if (i == self->list.cursor) {
			canvas_put(canvas, at, STYLE_TITLE, '>');
			canvas_restyle(canvas, at, STYLE_CURSOR);
		}
	}
}

static void memory_draw(void *context, struct canvas *canvas, struct area area)
{
	struct memory_view *self = context;
	bool heads = area.rows >= HEADS_FROM;
	struct place detail_at, totals_at;
	struct area beside;

	self->area = area;
	self->beside = false;
	self->rows = (struct area) { .rows = 0 };
	if (!self->vitals || area.rows < 1)
		return;
	if (why_empty(self).why) {
		if (self->table && self->table->now)
			draw_notes(self, canvas, &area);
		heads = heads && area.rows >= HEADS_FROM;
		emptiness_draw(why_empty(self), canvas,
			(struct area) { area.row + heads, area.column + 2, area.rows - heads, area.columns - 3 },
			self->keys);
		return;
	}
	totals_at = take_row(&area, true, area.rows >= TOTALS_FROM && !self->open);
	detail_at = take_row(&area, false, area.rows >= DETAIL_FROM && !self->open);
	draw_notes(self, canvas, &area);
	if (self->open) {
		draw_page(self, canvas, area);
		return;
	}
	beside = take_beside(&area);
	self->beside = beside.rows;
	self->area = area;
	self->rows = (struct area) { area.row + heads, area.column, area.rows - heads, area.columns };
	draw_table(self, canvas);
	if (totals_at.width)
		draw_totals(self->table, canvas, (struct place) { totals_at.row, totals_at.column + MARK,
			totals_at.width - MARK });
	if (beside.rows)
		draw_beside(self, canvas, beside);
	if (detail_at.width)
		draw_detail(self, canvas, detail_at);
}

/* ---- what the user does ---- */

static void sort_by(struct memory_view *self, int column)
{
	self->invert = self->sort == column && !self->invert;
	self->sort = column;
	sort_rows(self);
}

/* The next column that is shown and sorts, to the right (1) or left (-1), around the ends. */
static int next_column(const struct memory_view *self, int step)
{
	struct layout layout = layout_of(self, self->area.columns);
	int column = self->sort;

	do
		column = (column + step + HEADS) % HEADS;
	while (column == AT_TREND || !layout.width[column]);
	return column;
}

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

	if (self->open && action != ACTION_GROUP)		/* which is about the table */
		return act_on_page(self, action);
	self->open = false;
	switch (action) {
	case ACTION_OPEN:
		return open_row(self);
	case ACTION_SORT:
	case ACTION_SORT_RIGHT:
	case ACTION_SORT_LEFT:
		sort_by(self, next_column(self, action == ACTION_SORT_LEFT ? -1 : 1));
		return true;
	case ACTION_INVERT:
		sort_by(self, self->sort);
		return true;
	case ACTION_GROUP:
		self->by = (self->by + 1) % MEMORY_BYS;
		return true;
	case ACTION_SORT_CPU:
	case ACTION_SORT_TIME:
		self->sort = -1;
		sort_by(self, action == ACTION_SORT_CPU ? AT_LIVE : AT_AGE);
		return true;
	case ACTION_LEFT:
		self->detail_from = self->detail_from > DETAIL_STEP ? self->detail_from - DETAIL_STEP : 0;
		return true;
	case ACTION_RIGHT:
		self->detail_from += DETAIL_STEP;
		return true;
	default:
		return list_act(&self->list, &rows, action);
	}
}

static void memory_click(void *context, int row, int column)
{
	struct memory_view *self = context;
	struct layout layout = layout_of(self, self->area.columns);
	struct list_rows rows = rows_of(self);
	size_t line = self->list.top + (size_t)(row - self->rows.row);

	column -= self->area.column;
	if (self->open || column < 0 || column >= self->area.columns || !self->rows.rows)
		return;
	if (row >= self->rows.row && row < self->rows.row + self->rows.rows && line < rows.count)
		list_select(&self->list, &rows, line);
	for (int i = 0; row == self->area.row && row < self->rows.row && i < HEADS; i++)
		if (layout.width[i] && column >= layout.from[i] && column <= layout.from[i] + layout.width[i]) {
			sort_by(self, i == AT_TREND ? AT_LIVE : i);
			return;
		}
}

static bool memory_search(void *context, const char *pattern, enum list_search where)
{
	struct memory_view *self = context;
	struct list_rows rows = rows_of(self);

	return !self->open && list_search(&self->list, &rows, pattern, where);
}

/* The stacks of the open row, or of the one beside which they are drawn. */
static const struct request *memory_ask(void *context, const struct scope *scope)
{
	struct memory_view *self = context;
	struct request *request = &self->request.request;
	const struct memory_row *row = self->beside ? selected(self) : NULL;

	if (self->area.rows < 1 || !self->vitals)
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
