/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/event_table.h"
#include "agent/answers/timeline.h"
#include "agent/answers/vitals.h"
#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/trace/span.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/sorted_table.h"
#include "config.h"
#include "views.h"

enum {
	PAUSE_MS = 100,
	MARK = 2,			/* columns for the cursor's '>' and a space */
	NAME_LEAST = 12, NAME_MOST = 28,	/* columns of a row's name, and */
	NAME_PART = 6, NAME_PART_MANY = 4,	/* its part of all columns; over many machines */
	LEAST = 8,			/* columns of time, below which there are none */
	TICK = 12,			/* columns from one mark of the ruler to the next */
	DETAIL_FROM = 4, LEGEND_FROM = 12, NOTES_FROM = 8,	/* rows from which there are such lines below, */
	DETAILS_FROM = 14, DETAIL_COLUMNS = 130,	/* and the first is two, if there are fewer columns; */
	DETAILS_MOST = 4,		/* or as many as its text takes */
	ROWS_AROUND = 3,		/* others than those of CPUs and threads: the ruler, the legend, the notes */
	CHAIN = 64,			/* threads of a chain that are remembered */
	CLOCK = 48, DETAIL = 1024, NOTES = 512,	/* bytes of texts */
};

#define FINE_NS (250 * NS_PER_MS)	/* the screen's keys make no live window narrower */
#define NARROWEST_NS UINT64_C(1000)
#define CPU_KEY (UINT64_C(1) << 32)	/* the key of a row: a thread's number, or this and that of a CPU; and */
#define MACHINE_SHIFT 33		/* from this bit on its machine's */

struct timeline_view {
	const struct keys *keys;
	const struct vitals *vitals;	/* NULL: none yet */
	const struct timeline *timeline;	/* NULL: no answer yet */
	const struct scope *scope;
	struct timeline_request request;
	struct list list;
	bool placed;			/* the cursor was put on the time `at`; if not, it is on the newest one */
	uint64_t at;			/* guest ns, as all times here */
	uint64_t focus;			/* the rows are those that matter to this thread's; EVENT_NONE: to none */
	uint64_t chain[CHAIN];		/* threads' rows from which ACTION_WAKER went on, `chained` of them */
	int chained;
	bool begun, pressed;		/* `begin` is the other end of a range; or where the mouse was pressed */
	uint64_t begin;
	bool ranges;			/* this is to become the window */
	uint64_t from, to;
	enum action wish;		/* waits for the answer about the cursor; ACTION_NONE: none does */
	const char *said;		/* why a key did nothing, or what it has found; NULL: nothing is to be said */
	char name[2 * TIMELINE_TITLE];	/* of the row that was named last */
	struct area grid;		/* the cells, as drawn last; rows 0: none */
	int columns, rows;		/* those of time for which there is room; at least so many */
};

/* ---- rows ---- */

static uint64_t key(uint64_t machine, bool is_cpu, uint64_t number)
{
	return machine << MACHINE_SHIFT | (is_cpu ? CPU_KEY : 0) | number;
}

static uint64_t key_of(const void *context, size_t row)
{
	const struct timeline_row *is = &((const struct timeline_view *)context)->timeline->rows[row];

	return key(is->machine, is->is_cpu, is->number);
}

/* "cpu0", "main/4", "1 web main/4" */
static const char *row_name(struct timeline_view *self, uint64_t machine, bool is_cpu, uint32_t number)
{
	bool many = self->vitals && machine < self->vitals->machine_count;
	const char *name = many ? self->vitals->machines[machine].name : "", *space = many ? " " : "";

	if (is_cpu)
		return util_print(self->name, sizeof(self->name), "%s%scpu%u", name, space, number);
	return util_print(self->name, sizeof(self->name), "%s%s%s", name, space,
		timeline_title(self->timeline, machine, number));
}

static const char *name_of(const void *context, size_t row)
{
	struct timeline_view *self = (struct timeline_view *)context;
	const struct timeline_row *is = &self->timeline->rows[row];

	return row_name(self, is->machine, is->is_cpu, is->number);
}

static struct list_rows rows_of(const struct timeline_view *self)
{
	return (struct list_rows) {
		.context = self, .count = self->timeline ? self->timeline->count : 0, .key = key_of, .name = name_of,
	};
}

/* The row of which the line below tells: that of the cursor, even while it is not among the rows. */
static uint64_t row_key(const struct timeline_view *self)
{
	if (self->list.follow)
		return self->list.key;
	return self->timeline && self->list.cursor < self->timeline->count ? key_of(self, self->list.cursor) : CPU_KEY;
}

static void *timeline_new(const struct config *config)
{
	struct timeline_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	self->focus = EVENT_NONE;
	return self;
}

/* ---- times ---- */

static bool has_grid(const struct timeline_view *self)
{
	return self->timeline && self->timeline->count && self->timeline->to > self->timeline->from &&
		self->grid.rows > 0;
}

static uint64_t within(const struct timeline *timeline, uint64_t time)
{
	return time < timeline->from ? timeline->from : time < timeline->to ? time : timeline->to - 1;
}

/* The time under the cursor, which stays in the window. */
static uint64_t cursor_of(const struct timeline_view *self)
{
	return within(self->timeline, self->placed ? self->at : UINT64_MAX);
}

static int column_of(const struct timeline_view *self, uint64_t time)
{
	return (int)((within(self->timeline, time) - self->timeline->from) / self->timeline->each);
}

/* "00:12:40.120034"; as many digits as a column's width needs. */
static const char *clock_text(const struct timeline *timeline, uint64_t time, uint64_t exact, char text[CLOCK])
{
	uint64_t shown = uptime_shown(timeline->answer.zero, time), ns = shown % NS_PER_SECOND;
	int digits = exact < 1000 ? 9 : exact < NS_PER_MS ? 6 : 3;
	char whole[SCOPE_TIME], part[16];

	snprintf(part, sizeof(part), "%09u", (unsigned)ns);
	return util_print(text, CLOCK, "%s.%.*s", scope_time(shown, whole), digits, part);
}

static void put(struct timeline_view *self, uint64_t time)
{
	self->placed = true;
	self->at = time;
}

static void want_range(struct timeline_view *self, uint64_t from, uint64_t width)
{
	self->ranges = true;
	self->from = from;
	self->to = from + width;
}

/* Puts the cursor on a time that may be outside of the window, which then comes along. */
static void go_to(struct timeline_view *self, uint64_t time)
{
	uint64_t width = self->timeline->to - self->timeline->from;

	put(self, time);
	if (time < self->timeline->from || time >= self->timeline->to)
		want_range(self, time > width / 2 ? time - width / 2 : 0, width);
}

void view_timeline_go(void *context, const struct view_moment *moment)
{
	struct timeline_view *self = context;

	self->chained = 0;
	self->begun = false;
	self->said = NULL;
	self->wish = ACTION_NONE;
	if (moment->to)
		put(self, moment->at);
	if (moment->thread != EVENT_NONE)
		self->focus = key(moment->machine, false, moment->thread);
	if (moment->thread != EVENT_NONE)
		list_follow(&self->list, self->focus);
	else if (moment->cpu != EVENT_NONE)
		list_follow(&self->list, key(moment->machine, true, moment->cpu));
}

/* ---- drawing ---- */

static enum glyph glyph_of(const struct timeline_row *row, const struct timeline_cell *cell)
{
	static const enum glyph glyphs[TIMELINE_STATES] = {
		[TIMELINE_RUN] = GLYPH_RUN, [TIMELINE_INTERRUPT] = GLYPH_INTERRUPT, [TIMELINE_IDLE] = GLYPH_IDLE,
		[TIMELINE_READY] = GLYPH_READY, [TIMELINE_SLEEP] = GLYPH_SLEEP, [TIMELINE_BLOCKED] = GLYPH_BLOCKED,
		[TIMELINE_LOCK] = GLYPH_LOCK,
	};

	return !row->is_cpu && cell->name && cell->state == TIMELINE_RUN ? GLYPH_CALL : glyphs[cell->state];
}

static uint8_t style_of(enum glyph glyph)
{
	static const uint8_t styles[GLYPHS] = {
		[GLYPH_RUN] = STYLE_USER, [GLYPH_CALL] = STYLE_KERNEL, [GLYPH_INTERRUPT] = STYLE_HOT,
		[GLYPH_IDLE] = STYLE_DIM, [GLYPH_READY] = STYLE_WARN, [GLYPH_SLEEP] = STYLE_DIM,
		[GLYPH_BLOCKED] = STYLE_IDLE, [GLYPH_LOCK] = STYLE_HOT,
	};

	return styles[glyph];
}

/* What these cells have in common, as a word; "": there is none. */
static const char *label_of(const struct timeline *timeline, const struct timeline_row *row,
	const struct timeline_cell *cell)
{
	if (row->is_cpu && cell->state == TIMELINE_RUN)
		return timeline_title(timeline, row->machine, cell->who);
	return timeline->names[cell->name];
}

static bool is_alike(const struct timeline_row *row, const struct timeline_cell *one, const struct timeline_cell *other)
{
	return one->state == other->state && one->name == other->name && (!row->is_cpu || one->who == other->who);
}

/* Cells that are alike, and their label where it has room. */
static void draw_cells(const struct timeline_view *self, struct canvas *canvas, struct place place,
	const struct timeline_row *row)
{
	const struct timeline *timeline = self->timeline;
	int count = (int)timeline->columns < place.width ? (int)timeline->columns : place.width;

	for (int from = 0, to; from < count; from = to) {
		const struct timeline_cell *cell = &row->cells[from];
		const char *label = label_of(timeline, row, cell);
		enum glyph glyph = glyph_of(row, cell);
		int width = canvas_width(canvas, label);

		for (to = from; to < count && is_alike(row, cell, &row->cells[to]); to++)
			if (cell->state)
				canvas_text(canvas, (struct place) { place.row, place.column + to, 1 },
					style_of(glyph), glyphs_text(canvas, glyph));
		if (cell->state && width && width + 2 <= to - from)
			canvas_text(canvas, (struct place) { place.row, place.column + from + 1, width },
				style_of(glyph), label);
	}
}

static void draw_ruler(const struct timeline_view *self, struct canvas *canvas, struct place place)
{
	const struct timeline *timeline = self->timeline;
	char clock[CLOCK], offset[DURATION_TEXT];
	int used = canvas_text(canvas, place, STYLE_HEAD, clock_text(timeline, timeline->from, timeline->each, clock));

	for (int column = (used / TICK + 1) * TICK; column + TICK <= place.width; column += TICK) {
		struct place tick = { place.row, place.column + column, TICK - 1 };

		duration_text((uint64_t)column * timeline->each, 2, offset);
		canvas_format(canvas, tick, STYLE_DIM, "%s+%s", glyphs_text(canvas, GLYPH_WALL), offset);
	}
}

static void draw_legend(struct canvas *canvas, struct place place)
{
	static const struct { enum glyph glyph; const char *what; } legend[] = {
		{ GLYPH_RUN, "runs" }, { GLYPH_CALL, "in a call" }, { GLYPH_READY, "waits for a CPU" },
		{ GLYPH_LOCK, "for a lock" }, { GLYPH_SLEEP, "sleeps" }, { GLYPH_BLOCKED, "blocked" },
		{ GLYPH_INTERRUPT, "interrupt" }, { GLYPH_IDLE, "idle" },
	};

	for (size_t i = 0; i < sizeof(legend) / sizeof(*legend) && place.width > 2; i++) {
		uint8_t style = style_of(legend[i].glyph);
		int used = canvas_text(canvas, place, style, glyphs_text(canvas, legend[i].glyph)) + 1;

		place.column += used;
		place.width -= used;
		used = canvas_text(canvas, place, STYLE_DIM, legend[i].what) + 1;
		place.column += used;
		place.width -= used;
	}
}

static void draw_rows(struct timeline_view *self, struct canvas *canvas)
{
	struct list_rows rows = rows_of(self);
	int cursor = column_of(self, cursor_of(self)), begin = self->begun ? column_of(self, self->begin) : cursor;
	int left = begin < cursor ? begin : cursor, right = begin < cursor ? cursor : begin;
	struct place at = { self->grid.row, 0, 0 };

	list_update(&self->list, &rows, (size_t)self->grid.rows);
	for (size_t i = self->list.top; i < rows.count && i < self->list.top + (size_t)self->grid.rows; i++, at.row++) {
		struct place cells = { at.row, self->grid.column, self->grid.columns };
		struct place name = { at.row, 0, self->grid.column - 1 };
		const char *text = name_of(self, i), *match = list_match(text, self->scope->match);
		bool is_here = i == self->list.cursor;

		canvas_text(canvas, (struct place) { at.row, MARK, name.width - MARK },
			match ? STYLE_MATCH : STYLE_TEXT, text);
		draw_cells(self, canvas, cells, &self->timeline->rows[i]);
		if (is_here)
			canvas_put(canvas, name, STYLE_TITLE, '>');
		if (is_here)
			canvas_restyle(canvas, name, STYLE_CURSOR);
		if (is_here || self->begun)
			canvas_restyle(canvas, (struct place) { at.row, self->grid.column + left, right - left + 1 },
				STYLE_CURSOR);
	}
}

/* The row of this key, from the grid's first one on; it may be outside of the grid. False: there is none. */
static bool find_row(const struct timeline_view *self, uint64_t key, int *row)
{
	for (size_t i = 0; i < self->timeline->count; i++)
		if (key_of(self, i) == key) {
			*row = (int)i - (int)self->list.top;
			return true;
		}
	return false;
}

/* Of the row of which the answer tells a moment. */
static uint64_t moment_key(const struct timeline_moment *moment)
{
	return key(moment->machine, moment->of_cpu, moment->of);
}

/* From who woke the cursor's thread to that, when it did: the wake of which the line below tells. */
static void draw_arrow(const struct timeline_view *self, struct canvas *canvas)
{
	const struct timeline *timeline = self->timeline;
	const struct timeline_moment *moment = &timeline->moment;
	uint64_t waker = key(moment->machine, moment->wake.interrupt, moment->wake.waker);
	uint64_t time = moment->wake.begin;
	int from, to, column = column_of(self, time);

	if (moment->of_cpu || !moment->woken || moment_key(moment) != row_key(self) || time < timeline->from ||
			time >= timeline->to || column >= self->grid.columns || !find_row(self, waker, &from) ||
			!find_row(self, moment_key(moment), &to) || from == to)
		return;
	for (int row = from; row != to + (from < to ? 1 : -1); row += from < to ? 1 : -1) {
		struct place cell = { self->grid.row + row, self->grid.column + column, 1 };
		enum glyph glyph = row == from ? GLYPH_ON : row != to ? GLYPH_WALL : from < to ? GLYPH_DOWN : GLYPH_UP;

		if (row < 0 || row >= self->grid.rows)
			continue;
		canvas_text(canvas, cell, STYLE_TITLE, glyphs_text(canvas, glyph));
		if (row == to && column == column_of(self, cursor_of(self)))
			canvas_restyle(canvas, cell, STYLE_CURSOR);
	}
}

/* ---- the line below ---- */

static void add(char text[DETAIL], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char text[DETAIL], const char *format, ...)
{
	size_t used = strlen(text);
	va_list values;

	va_start(values, format);
	vsnprintf(text + used, DETAIL - used, format, values);
	va_end(values);
}

static const char *lasts(const struct timeline_span *span, char text[DURATION_TEXT])
{
	return duration_text(span->end - span->begin, 3, text);
}

static void add_place(const char *place, char text[DETAIL])
{
	if (*place)
		add(text, ", at %s", place);
}

static void add_state(const struct timeline *timeline, const struct timeline_moment *moment, char text[DETAIL])
{
	static const char *const words[SPAN_KINDS] = {
		[SPAN_THREAD] = "runs", [SPAN_SLEEP] = "sleeps", [SPAN_READY] = "waits for a CPU",
	};
	const struct timeline_span *now = &moment->now;
	char time[CLOCK], ns[DURATION_TEXT];

	if (!moment->is_known) {
		add(text, "not known");
		return;
	}
	if (moment->of_cpu && now->thread == EVENT_NONE)
		add(text, "idle");
	else if (moment->of_cpu)
		add(text, "runs %s", timeline_title(timeline, moment->machine, now->thread));
	else
		add(text, "%s", now->kind == SPAN_SLEEP && strcmp(timeline->names[now->name], "sleep") != 0 ?
			"is blocked" : words[now->kind]);
	if (!moment->of_cpu && now->kind == SPAN_THREAD)
		add(text, " on cpu%u", now->cpu);
	if (now->kind == SPAN_READY)
		add(text, " (%s)", timeline->names[now->name]);
	add(text, " from %s for %s%s", clock_text(timeline, now->begin, 1000, time), lasts(now, ns),
		now->open ? " so far" : now->lost ? ", then not known" : "");
	add_place(moment->left_at, text);
}

/* "; waits for lock inode for 2.31ms, held by writer/17"; "; holds lock disk for 1.2ms and 2 more" */
static void add_locks(const struct timeline *timeline, const struct timeline_moment *moment, char text[DETAIL])
{
	char ns[DURATION_TEXT];

	if (moment->waits) {
		add(text, "; waits for %s", timeline->names[moment->lock.name]);
		add_place(moment->waits_at, text);
		add(text, "%s for %s%s, %sheld by %s", *moment->waits_at ? "," : "", lasts(&moment->lock, ns),
			moment->lock.open ? " so far" : "", moment->held_last ? "last " : "",
			moment->lock.waker == EVENT_NONE ? "an unknown thread" :
			timeline_title(timeline, moment->machine, moment->lock.waker));
	}
	if (moment->holds)
		add(text, "; holds lock %s for %s%s", timeline->names[moment->hold.name] + strlen("hold "),
			lasts(&moment->hold, ns), moment->hold.open ? " so far" : "");
	if (*moment->took_at)
		add(text, ", taken at %s", moment->took_at);
	if (moment->holds > 1)
		add(text, " and %u more", moment->holds - 1);
}

/* "main/4: sleeps in syscall read from 00:12:40.120034 for 2.31ms; woken by writer/17 at 00:12:40.122344" */
static void write_detail(struct timeline_view *self, char text[DETAIL])
{
	const struct timeline *timeline = self->timeline;
	const struct timeline_moment *moment = &timeline->moment;
	char time[CLOCK], ns[DURATION_TEXT];

	text[0] = '\0';
	if (!moment->of_cpu && moment->of == EVENT_NONE)	/* no row's is told yet */
		return;
	add(text, "%s ", row_name(self, moment->machine, moment->of_cpu, (uint32_t)moment->of));
	add_state(timeline, moment, text);
	if (moment->is_inside)
		add(text, "; in %s%s for %s%s", moment->inside.kind == SPAN_CALL ? "call " : "",
			timeline->names[moment->inside.name], lasts(&moment->inside, ns),
			moment->inside.open ? " so far" : "");
	if (moment->is_in_pair)
		add(text, "; in %s for %s%s", timeline->names[moment->pair.name], lasts(&moment->pair, ns),
			moment->pair.open ? " so far" : "");
	add_locks(timeline, moment, text);
	if (moment->woken && moment->wake.interrupt)
		add(text, "; woken by %s on cpu%u", moment->wake.handler ? timeline->names[moment->wake.handler] :
			"an interrupt", moment->wake.waker);
	else if (moment->woken)
		add(text, "; woken by %s", timeline_title(timeline, moment->machine, moment->wake.waker));
	if (moment->woken)
		add(text, " at %s", clock_text(timeline, moment->wake.begin, 1000, time));
	add_place(moment->woken_at, text);
}

static void draw_detail(struct timeline_view *self, struct canvas *canvas, struct area area)
{
	char text[DETAIL], hint[KEYS_TEXT];

	area.column++;
	area.columns--;
	write_detail(self, text);
	canvas_wrap(canvas, area, self->said ? STYLE_WARN : STYLE_TITLE,
		self->said ? keys_text(self->keys, self->said, hint) : text);
}

/* What is missing from the rows. */
static void write_notes(struct timeline_view *self, char notes[NOTES])
{
	const struct timeline *timeline = self->timeline;
	const struct { uint64_t count; const char *what; } books[] = {
		{ timeline->lost, "trace {event was|events were} lost in all" },
		{ timeline->unmatched, "{beginning or end has|beginnings or ends have} no partner" },
		{ timeline->late, "trace {event|events} came too late for {its|their} place" },
		{ timeline->refused, "{span|spans} found no room; give more by --memory" },
		{ timeline->cpus_more, "more {CPU has|CPUs have} no row" },
		{ timeline->threads_more, "more {thread has|threads have} no row" },
	};
	char note[NOTES / 4], form[NOTES / 4], time[SCOPE_TIME];
	int row;

	notes[0] = '\0';
	if (timeline->stateless && !timeline->machine_count)
		sorted_note(notes, NOTES, "states are not known: no switch is traced; `ktop ctl events +sched`");
	if (self->focus != EVENT_NONE && !find_row(self, self->focus, &row))
		sorted_note(notes, NOTES,
			util_print(note, sizeof(note), "%s has no row: nothing tells of it here, or the filter "
			"hides it", row_name(self, self->focus >> MACHINE_SHIFT, false, (uint32_t)self->focus)));
	for (uint32_t i = 0; i < timeline->machine_count && i < self->vitals->machine_count; i++) {
		const char *name = self->vitals->machines[i].name;

		if (timeline->traced && timeline->untraced >> i & 1)
			sorted_note(notes, NOTES, util_print(note, sizeof(note), "%s: nothing is traced", name));
		else if (timeline->stateless >> i & 1)
			sorted_note(notes, NOTES,
				util_print(note, sizeof(note), "%s: states are not known: no switch is traced",
				name));
	}
	for (size_t i = 0; i < sizeof(books) / sizeof(*books); i++) {
		util_print(form, sizeof(form), "%llu %s", (unsigned long long)books[i].count, books[i].what);
		util_count(note, sizeof(note), books[i].count, form);
		if (books[i].count)
			sorted_note(notes, NOTES, note);
	}
	if (timeline->kept_from > timeline->from)
		sorted_note(notes, NOTES, util_print(note, sizeof(note), "since %s, older spans were forgotten",
			scope_time(uptime_shown(timeline->answer.zero, timeline->kept_from), time)));
	if (timeline->exact_from > timeline->from)
		sorted_note(notes, NOTES,
			util_print(note, sizeof(note), "before %s, only sums of a second or more are known",
			scope_time(uptime_shown(timeline->answer.zero, timeline->exact_from), time)));
	if (timeline->answer.partial)
		sorted_note(notes, NOTES, "more events of this time are still to come");
	if (self->scope->base.until_ns)
		sorted_note(notes, NOTES, "this view shows no change since the baseline");
	if (event_filter_ignores(&self->scope->filter, false))
		sorted_note(notes, NOTES, "of the filter only its CPUs, threads and processes count here");
}

/* ---- why there is nothing ---- */

static struct emptiness why_empty(const struct timeline_view *self)
{
	const struct timeline *timeline = self->timeline;
	struct emptiness news = emptiness_of_news(self->vitals);

	if (timeline && timeline->count)
		return (struct emptiness) { NULL, NULL };
	if (news.why && !self->scope->until_ns)
		return news;
	if (!timeline)
		return (struct emptiness) { "The first answer is being made.", "This takes a moment." };
	if (!timeline->now)
		return (struct emptiness) { "The guest has not told of itself.", "Wait for its first data." };
	if (!timeline->traced && !(timeline->events && self->scope->until_ns))
		return emptiness_of_traces(self->vitals);
	if (self->scope->filter.count > event_filter_ignores(&self->scope->filter, false))
		return (struct emptiness) { "No trace event tells of a CPU or thread that the filter lets pass.",
			"{filter} changes the filter, an empty one shows all." };
	return (struct emptiness) { "No trace event tells of a CPU or thread in this window.",
		"{window-back} and {window-on} move it; `ktop ctl events +sched` adds threads." };
}

/* ---- the whole ---- */

static struct place take_row(struct area *area, bool room)
{
	area->rows -= room;
	return (struct place) { area->row + area->rows, area->column, room ? area->columns : 0 };
}

static int detail_rows(struct timeline_view *self, const struct canvas *canvas, struct area area)
{
	int least = area.rows < DETAIL_FROM ? 0 : area.rows < DETAILS_FROM || area.columns >= DETAIL_COLUMNS ? 1 : 2;
	int rows;
	char text[DETAIL];

	if (area.rows < DETAILS_FROM)
		return least;
	write_detail(self, text);
	rows = canvas_rows(canvas, text, area.columns - 1);
	return rows < least ? least : rows < DETAILS_MOST ? rows : DETAILS_MOST;
}

static void timeline_draw(void *context, struct canvas *canvas, struct area area)
{
	struct timeline_view *self = context;
	int part = self->vitals && self->vitals->machines ? NAME_PART_MANY : NAME_PART;
	int name = area.columns / part < NAME_LEAST ? NAME_LEAST : area.columns / part;
	struct area detail = area;
	struct place legend, notes_at = { .width = 0 };
	char notes[NOTES] = "";

	name = MARK + (name < NAME_MOST ? name : NAME_MOST) + 1;
	self->grid = (struct area) { .rows = 0 };
	self->columns = area.columns - name - 1;
	self->rows = area.rows > DETAILS_MOST + ROWS_AROUND ? area.rows - DETAILS_MOST - ROWS_AROUND : 1;
	if (!self->vitals || area.rows < 1)
		return;
	if (why_empty(self).why) {
		emptiness_draw(why_empty(self), canvas,
			(struct area) { area.row + (area.rows > 3), area.column + 2, area.rows - (area.rows > 3),
			area.columns - 3 }, self->keys);
		return;
	}
	write_notes(self, notes);
	detail.rows = detail_rows(self, canvas, area);
	area.rows -= detail.rows;
	detail.row = area.row + area.rows;
	if (notes[0])
		notes_at = take_row(&area, area.rows >= NOTES_FROM);
	legend = take_row(&area, area.rows >= LEGEND_FROM);
	if (self->columns < LEAST || area.rows < 2 || self->timeline->to <= self->timeline->from)
		return;
	self->grid = (struct area) { area.row + 1, area.column + name, area.rows - 1, self->columns };
	if (self->grid.columns > (int)self->timeline->columns)
		self->grid.columns = (int)self->timeline->columns;
	draw_ruler(self, canvas, (struct place) { area.row, self->grid.column, self->columns });
	draw_rows(self, canvas);
	if (!self->begun)		/* a range would hide it, and be hidden */
		draw_arrow(self, canvas);
	if (legend.width)
		draw_legend(canvas, (struct place) { legend.row, area.column + 1, area.columns - 1 });
	if (notes_at.width)
		canvas_text(canvas, (struct place) { notes_at.row, 1, notes_at.width - 1 }, STYLE_WARN, notes);
	if (detail.rows)
		draw_detail(self, canvas, detail);
}

/* ---- what the user does ---- */

static void move(struct timeline_view *self, int64_t columns)
{
	const struct timeline *timeline = self->timeline;
	int64_t column = column_of(self, cursor_of(self)) + columns;

	column = column < 0 ? 0 : column;
	put(self, within(timeline, timeline->from + (uint64_t)column * timeline->each));
}

/* The moment is that of the cursor: the answer to the last key has come. */
static bool is_of_cursor(const struct timeline_view *self)
{
	const struct timeline_moment *moment = &self->timeline->moment;

	return row_key(self) == moment_key(moment) && moment->time == cursor_of(self);
}

static void go_to_event(struct timeline_view *self, bool on)
{
	const struct timeline_moment *moment = &self->timeline->moment;
	uint64_t time = on ? moment->after : moment->before;

	if (time)
		go_to(self, time);
	else
		self->said = on ? "no later event of this row is known" : "no earlier event of this row is kept";
}

static bool was_in_chain(const struct timeline_view *self, uint64_t thread)
{
	for (int i = 0; i < self->chained; i++)
		if (self->chain[i] == thread)
			return true;
	return false;
}

/* To who holds the lock for which the thread waits, at the same time; else to who woke it, and when. */
static void go_to_waker(struct timeline_view *self)
{
	const struct timeline_moment *moment = &self->timeline->moment;
	const struct timeline_span *wake = &moment->wake;
	bool locked = !moment->of_cpu && moment->waits && moment->lock.waker != EVENT_NONE;
	bool interrupt = !locked && wake->interrupt;
	uint64_t to = key(moment->machine, interrupt, locked ? moment->lock.waker : wake->waker);

	if (moment->of_cpu || (!locked && !moment->woken)) {
		self->said = moment->of_cpu ? "the cursor is on a CPU; put it on a thread to see who woke that" :
			"who woke this thread is not known: no wake of it is kept";
		return;
	}
	if (self->chained < CHAIN)
		self->chain[self->chained++] = moment_key(moment);
	if (!interrupt && was_in_chain(self, to))
		self->said = locked ? "a circle: each of them waits for a lock that the next one holds" :
			"a circle: this thread was in the chain of wakers before; {waker} goes on around it";
	if (!interrupt)
		self->focus = to;
	if (locked)
		put(self, moment->time);
	else
		go_to(self, wake->begin);
	list_follow(&self->list, to);
}

/* From what the answer tells of the cursor. If that is still to come, it acts then. */
static void act_on_moment(struct timeline_view *self, enum action action)
{
	bool waits = !is_of_cursor(self);

	self->wish = waits ? action : ACTION_NONE;
	self->said = waits ? "the answer about this is still to come: the key acts then" : NULL;
	if (!waits && action == ACTION_WAKER)
		go_to_waker(self);
	else if (!waits)
		go_to_event(self, action == ACTION_NEXT);
}

struct reach {
	uint64_t from, width;
};

/* The window that was asked for last: its answer may still be to come when the next key acts. */
static struct reach reach_of(const struct timeline_view *self)
{
	const struct scope *scope = self->scope;
	uint64_t to = scope->until_ns - (uint64_t)scope->back_ns;

	if (self->ranges)
		return (struct reach) { self->from, self->to - self->from };
	if (scope->moved && scope->until_ns && scope->window_ns && scope->window_ns <= to)
		return (struct reach) { to - scope->window_ns, scope->window_ns };
	return (struct reach) { self->timeline->from, self->timeline->to - self->timeline->from };
}

/* Around the cursor. False: it is for the screen, which has other steps. */
static bool zoom(struct timeline_view *self, bool wider)
{
	struct reach is = reach_of(self);
	uint64_t other = wider ? 2 * is.width : is.width / 2 > NARROWEST_NS ? is.width / 2 : NARROWEST_NS;
	uint64_t cursor = cursor_of(self), left;

	if (wider ? !self->scope->moved || is.width >= FINE_NS :
			!self->placed && !self->scope->moved && is.width > FINE_NS)
		return false;
	cursor = cursor < is.from ? is.from : cursor < is.from + is.width ? cursor : is.from + is.width - 1;
	left = (uint64_t)((double)(cursor - is.from) / (double)is.width * (double)other);
	want_range(self, cursor > left ? cursor - left : 0, other);
	return true;
}

static bool pan(struct timeline_view *self, bool on)
{
	struct reach is = reach_of(self);
	uint64_t step = is.width / 2;

	if (!self->scope->moved || is.width >= FINE_NS || (on && is.from + is.width + step >= self->timeline->now))
		return false;
	want_range(self, on ? is.from + step : is.from > step ? is.from - step : 0, is.width);
	return true;
}

/* The first time a range begins at the cursor. The second time it is chosen, with the columns of both its ends. */
static void begin_range(struct timeline_view *self)
{
	uint64_t cursor = cursor_of(self), from = self->begin < cursor ? self->begin : cursor;

	if (self->begun)
		want_range(self, from, (self->begin < cursor ? cursor : self->begin) - from + self->timeline->each);
	self->begun = !self->begun;
	self->begin = cursor;
	put(self, cursor);
}

static bool go_back(struct timeline_view *self)
{
	bool took = self->begun || self->focus != EVENT_NONE;

	if (!self->begun)
		self->focus = EVENT_NONE;
	self->begun = false;
	return took;
}

static bool act_on_time(struct timeline_view *self, enum action action)
{
	switch (action) {
	case ACTION_LEFT:
	case ACTION_RIGHT:
		move(self, action == ACTION_LEFT ? -1 : 1);
		return true;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		if (self->scope->match[0])
			return false;
		act_on_moment(self, action);
		return true;
	case ACTION_WAKER:
		act_on_moment(self, action);
		return true;
	case ACTION_NARROW:
	case ACTION_WIDEN:
		return zoom(self, action == ACTION_WIDEN);
	case ACTION_BEFORE:
	case ACTION_AFTER:
		return pan(self, action == ACTION_AFTER);
	case ACTION_OPEN:
		begin_range(self);
		return true;
	default:
		return false;
	}
}

static bool timeline_act(void *context, enum action action)
{
	struct timeline_view *self = context;
	struct list_rows rows = rows_of(self);

	self->said = NULL;
	self->wish = ACTION_NONE;
	if (action != ACTION_WAKER)
		self->chained = 0;
	if (action == ACTION_LIVE)
		self->placed = self->begun = false;
	if (action == ACTION_BACK)
		return go_back(self);
	return (has_grid(self) && act_on_time(self, action)) || list_act(&self->list, &rows, action);
}

static void timeline_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	struct timeline_view *self = context;
	const struct timeline *timeline = (const struct timeline *)answer;
	struct list_rows rows;

	if (timeline && self->timeline && timeline->answer.boot != self->timeline->answer.boot) {
		self->placed = self->begun = self->pressed = self->ranges = false;	/* times of another boot */
		self->wish = ACTION_NONE;
		self->focus = EVENT_NONE;
	}
	self->vitals = vitals;
	self->scope = scope;
	self->timeline = timeline;
	rows = rows_of(self);
	list_update(&self->list, &rows, self->list.height);
	if (self->wish && has_grid(self) && is_of_cursor(self))
		act_on_moment(self, self->wish);
}

static bool timeline_range(void *context, uint64_t *from, uint64_t *to)
{
	struct timeline_view *self = context;
	bool ranges = self->ranges;

	*from = self->from;
	*to = self->to;
	self->ranges = false;
	return ranges;
}

/* The nearest column's time. */
static uint64_t time_at(const struct timeline_view *self, int column)
{
	int at = column - self->grid.column;

	return within(self->timeline, self->timeline->from + (uint64_t)(at < 0 ? 0 : at) * self->timeline->each);
}

static void timeline_click(void *context, int row, int column)
{
	struct timeline_view *self = context;
	struct list_rows rows = rows_of(self);
	size_t line = self->list.top + (size_t)(row - self->grid.row);

	self->pressed = false;
	if (!has_grid(self) || row < self->grid.row || row >= self->grid.row + self->grid.rows)
		return;
	self->said = NULL;
	self->wish = ACTION_NONE;
	self->chained = 0;
	if (line < rows.count)
		list_select(&self->list, &rows, line);
	self->pressed = column >= self->grid.column && column < self->grid.column + self->grid.columns;
	if (!self->pressed)
		return;
	self->begun = false;
	self->begin = time_at(self, column);
	put(self, self->begin);
}

static void timeline_release(void *context, int row, int column)
{
	struct timeline_view *self = context;

	(void)row;
	if (self->pressed && has_grid(self)) {
		put(self, time_at(self, column));
		self->begun = self->at != self->begin;
	}
	self->pressed = false;
}

static bool timeline_search(void *context, const char *pattern, enum list_search where)
{
	struct timeline_view *self = context;
	struct list_rows rows = rows_of(self);

	return list_search(&self->list, &rows, pattern, where);
}

/* Many machines share the room for rows. */
static const struct request *timeline_ask(void *context, const struct scope *scope)
{
	struct timeline_view *self = context;
	struct timeline_request *request = &self->request;
	uint64_t of = row_key(self);

	if (self->columns < LEAST || !self->vitals)
		return NULL;
	memset(request, 0, sizeof(*request));		/* requests are compared as bytes */
	request->request.kind = &timeline_kind;
	request->request.pause_ms = PAUSE_MS;
	scope_excerpt(scope, &request->request.excerpt);
	request->columns = (uint64_t)self->columns;
	request->rows = self->vitals->machines ? (uint64_t)self->rows : 0;
	request->focus = self->focus & (CPU_KEY - 1);
	request->focus_machine = self->focus >> MACHINE_SHIFT;
	request->of_cpu = (of & CPU_KEY) != 0;
	request->of = of & (CPU_KEY - 1);
	request->machine = of >> MACHINE_SHIFT;
	request->at = self->placed ? self->at : 0;
	return &request->request;
}

static bool timeline_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)context;
	(void)scope;
	return answer->kind == &timeline_kind;
}

static struct view_told timeline_told(const void *context)
{
	const struct timeline *timeline = ((const struct timeline_view *)context)->timeline;

	return (struct view_told) {
		.known = timeline && timeline->now, .rows = timeline && timeline->count,
		.end = timeline ? timeline->to : 0,
	};
}

const struct view view_timeline = {
	.name = "Timeline",
	.new = timeline_new,
	.free = free,
	.ask = timeline_ask,
	.show = timeline_show,
	.draw = timeline_draw,
	.takes = timeline_takes,
	.told = timeline_told,
	.act = timeline_act,
	.click = timeline_click,
	.release = timeline_release,
	.range = timeline_range,
	.search = timeline_search,
};
