/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/answers/function_table.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/query/table.h"
#include "agent/query/tree/tree.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/list.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/column.h"
#include "config.h"
#include "views.h"

enum { DETAIL_STEP = 16 };		/* columns by which a key moves the detail line */
enum { HEADS_FROM = 5, DETAIL_FROM = 6, DETAILS_FROM = 12, LONG_FROM = 20 };	/* rows: heads, and details */
enum { PAUSE_MS = 100 };			/* between two answers */
enum { ROWS_MORE = 32 };			/* in order besides those in use, for the cursor's row to move */

struct function_view {
	const struct keys *keys;
	const struct columns *columns;
	struct column_needs needs;	/* of the rows drawn so far: they only grow, so that columns stand still */
	bool measures;			/* with the next drawing they are anew: it has other rows */
	const struct vitals *vitals;
	struct function_table *functions;	/* NULL: no answer yet */
	const struct scope *scope;
	struct function_request request;	/* the last one */
	uint64_t boot;			/* the boot of the list's rows */
	struct filter filter;		/* the filter of the list's rows */
	enum group_by by;		/* what they are */
	uint64_t filtered;		/* the scope's, when the list last had rows of its filter */
	struct row idle;		/* with `hidden`: the row of idle time, taken out of the answer's table */
	bool hidden;
	bool no_idle;			/* the scope's `no_idle` when `hidden` was last set */
	struct list list;
	struct wanted wanted;
	enum table_column sort;
	bool invert;
	enum table_column sorted;	/* the column by which the rows are sorted now, */
	size_t in_order;		/* so many of them; the others follow in no order */
	char words[FILTER_TEXT];	/* what `open` returned last */
	bool restores;			/* with the next answer, the cursor goes to this row: */
	uint64_t restored;
	struct view_chosen wish;	/* the cursor goes to this function once it has a row; `name` 0: it stays */
	bool goes_on, in_vain;		/* ACTION_WAKER waits for the answer about this row; or that knew no other: */
	uint32_t goes_from;
	int detail_from;		/* the first column of the detail line that is shown */
	struct area area, rows;		/* of the last drawing: the whole view; the rows of the table */
};

/* The answer's table; an empty one while there is none. */
static const struct table *table_of(const struct function_view *self)
{
	static const struct table none = { .count = 0 };

	return self->functions && self->functions->table ? self->functions->table : &none;
}

static uint64_t row_key(const void *context, size_t row)
{
	return table_of(context)->rows[row].function;
}

static const char *row_name(const void *context, size_t row)
{
	const struct function_view *self = context;

	return symbols_get(self->functions->answer.symbols, table_of(self)->rows[row].function)->name;
}

static struct list_rows rows_of(const struct function_view *self)
{
	return (struct list_rows) {
		.context = self, .count = table_of(self)->count, .key = row_key, .name = row_name,
	};
}

/* The row under the cursor; NULL: the table is empty. */
static const struct row *selected(const struct function_view *self)
{
	const struct table *table = table_of(self);

	return self->list.cursor < table->count ? &table->rows[self->list.cursor] : NULL;
}

/* All shows its change since the baseline. */
static bool compares(const struct function_view *self)
{
	return self->scope && self->scope->base.until_ns;
}

/* Without a baseline there is no change to sort by, and no wait where nothing tells what threads do. */
static enum table_column sorted_by(const struct function_view *self)
{
	bool tells = self->functions && self->functions->tells_now;

	return (self->sort == COLUMN_CHANGE && !compares(self)) || (self->sort == COLUMN_WAITS && !tells) ?
		COLUMN_SELF : self->sort;
}

static struct column_layout layout_of(const struct function_view *self, int columns)
{
	struct column_needs needs = self->needs;

	needs.waits = self->functions && self->functions->tells_now;
	return column_layout(self->columns, columns, compares(self), needs);
}

/* Puts so many of the first rows in order. */
static void sort_first(struct function_view *self, size_t count)
{
	struct list_rows rows = rows_of(self);

	self->in_order = 0;
	if (rows.count != 0)
		self->in_order = table_sort_first(self->functions->table, self->functions->answer.symbols,
			sorted_by(self), self->invert, count);
	self->sorted = sorted_by(self);
	list_update(&self->list, &rows, self->list.height);
}

/* For whoever looks at rows beyond those on the screen. */
static void sort_all(struct function_view *self)
{
	size_t count = table_of(self)->count;

	if (self->in_order < count)
		sort_first(self, count);
}

/* The last row on the screen, and those around it that are asked for. */
static size_t rows_in_use(const struct function_view *self)
{
	return self->list.top + 2 * self->list.height;
}

/* Those rows alone are in order that were on the screen. Where the cursor follows its row to others, all are, later. */
static void sort_rows(struct function_view *self)
{
	sort_first(self, rows_in_use(self) + ROWS_MORE);
}

static void *functions_new(const struct config *config)
{
	struct function_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	self->columns = &config->columns;
	self->sort = config->sort;
	return self;
}

static void *threads_new(const struct config *config)
{
	struct function_view *self = functions_new(config);

	self->columns = &columns_threads;
	self->sort = COLUMN_SELF;
	return self;
}

/* Takes the row of idle time out of the table, or puts it back, as the scope says. */
static void hide_idle(struct function_view *self)
{
	struct table *table = self->functions->table;
	size_t i = 0;

	if (!table)
		return;
	if (self->hidden)
		table->rows[table->count++] = self->idle;
	self->hidden = false;
	while (i < table->count && !deeper_is_idle(self->functions->answer.symbols, &table->rows[i]))
		i++;
	if (self->scope->no_idle && i < table->count) {
		self->idle = table->rows[i];
		self->hidden = true;
		table->rows[i] = table->rows[--table->count];
	}
}

/* Over all machines, threads of two may have the same name. */
static bool is_of_one_machine(const struct function_view *self, const struct row *row, const struct row *other)
{
	const struct symbols *symbols = self->functions->answer.symbols;

	return !self->functions->machines || strcmp(symbols_get(symbols, row->function)->object,
		symbols_get(symbols, other->function)->object) == 0;
}

/*
 * To the thread that holds the lock for which the selected one waits, or that woke it. The answer tells of the row
 * under the cursor. False: that thread has no row.
 */
static bool go_to_next(struct function_view *self)
{
	struct list_rows rows = rows_of(self);
	const struct row from = *selected(self);	/* sorting moves it */

	if (!self->functions->next[0])
		return false;
	sort_all(self);
	for (size_t i = 0; i < rows.count; i++)
		if (strcmp(row_name(self, i), self->functions->next) == 0 &&
				is_of_one_machine(self, &from, &table_of(self)->rows[i])) {
			list_select(&self->list, &rows, i);
			return true;
		}
	return false;
}

/* The answer tells of the row under the cursor. */
static bool tells_of_cursor(const struct function_view *self)
{
	return selected(self) && self->functions->tells_selected &&
		self->functions->selected == selected(self)->function;
}

/* Before the answer about the row has come, it goes on with that. Of a loss the line below the rows says more. */
static bool want_next(struct function_view *self)
{
	if (tells_of_cursor(self)) {
		self->in_vain = self->functions->lost;
		self->goes_from = selected(self)->function;
		return go_to_next(self) || self->in_vain;
	}
	self->goes_on = selected(self) && self->functions->by == GROUP_THREAD;
	self->goes_from = self->goes_on ? selected(self)->function : FUNCTION_NONE;
	return self->goes_on;
}

static bool is_where_it_goes_from(const struct function_view *self)
{
	return selected(self) && selected(self)->function == self->goes_from;
}

static void go_on(struct function_view *self)
{
	self->goes_on = self->goes_on && is_where_it_goes_from(self);
	if (!tells_of_cursor(self))
		return;
	self->in_vain = self->in_vain && !self->functions->next[0];
	if (!self->goes_on)
		return;
	self->goes_on = false;
	self->in_vain = !go_to_next(self);
}

/*
 * The cursor goes to the function that was chosen in another view, and follows it from then on, even if it is there
 * already. The function may have no row yet: that comes with an answer.
 */
static void grant(struct function_view *self)
{
	const struct table *table = table_of(self);
	const struct row *row = selected(self);
	struct list_rows rows = rows_of(self);
	bool there = row && deeper_name(self->functions, row) == self->wish.name;

	if (!self->wish.name || !self->functions || self->functions->by != GROUP_FUNCTION)
		return;
	if (!there)
		sort_all(self);
	for (size_t i = there ? self->list.cursor : 0; i < table->count && self->wish.name; i++)
		if (deeper_name(self->functions, &table->rows[i]) == self->wish.name) {
			list_select(&self->list, &rows, i);
			self->wish.name = 0;
		}
}

/* The scope had another filter meanwhile, whose rows never came, and has the one of these rows again. */
static bool was_filtered(const struct function_view *self)
{
	return self->functions && self->functions->table && self->filtered != self->scope->filtered &&
		filter_equal(&self->functions->filter, &self->scope->filter);
}

/*
 * The rows of another boot, another filter or another grouping are shown from the top: also of another filter whose
 * rows did not come before there was one more, so that keys typed fast end where slow ones do.
 */
static void rewind_list(struct function_view *self)
{
	const struct function_table *functions = self->functions;
	bool filtered = was_filtered(self);

	if (!functions->table)
		return;
	if (self->boot != functions->answer.boot || self->by != functions->by || filtered ||
			!filter_equal(&self->filter, &functions->filter)) {
		list_rewind(&self->list);
		self->measures = true;
		self->goes_on = self->in_vain = false;
	}
	if (self->restores)
		list_follow(&self->list, self->restored);
	self->restores = false;
	self->boot = functions->answer.boot;
	self->filter = functions->filter;
	self->by = functions->by;
	if (filtered)
		self->filtered = self->scope->filtered;
}

static struct view_chosen functions_chosen(void *context)
{
	const struct function_view *self = context;
	const struct row *row = selected(self);
	struct view_chosen chosen = { .name = 0 };

	if (!row || self->functions->by != GROUP_FUNCTION)
		return chosen;
	chosen = (struct view_chosen) { .name = deeper_name(self->functions, row), .put = self->list.follow,
		.in_kernel = function_in_kernel(symbols_get(self->functions->answer.symbols, row->function)) };
	util_print(chosen.text, sizeof(chosen.text), "%s", row_name(self, self->list.cursor));
	return chosen;
}

/* In another boot the rows have other keys: the cursor follows its function by name. */
static void follow_boot(struct function_view *self, const struct function_table *functions)
{
	struct view_chosen chosen = functions_chosen(self);

	if (chosen.put && !self->wish.name && functions->answer.boot != self->functions->answer.boot)
		self->wish = chosen;
}

static void functions_show(void *context, const struct vitals *vitals, struct answer *answer,
	const struct scope *scope)
{
	struct function_view *self = context;
	struct function_table *functions = (struct function_table *)answer;
	bool again = self->functions == functions;	/* the same answer: only vitals or scope are new */
	struct list_rows rows;

	if (functions && !again)
		follow_boot(self, functions);
	self->vitals = vitals;
	self->functions = functions;
	self->scope = scope;
	rows = rows_of(self);
	if (again && was_filtered(self)) {
		rewind_list(self);
		list_update(&self->list, &rows, self->list.height);
	}
	if (!functions || (again && self->no_idle == scope->no_idle))
		return;
	self->no_idle = scope->no_idle;
	self->hidden = again && self->hidden;
	hide_idle(self);
	if (!again)
		rewind_list(self);
	sort_rows(self);
	grant(self);
	if (!again)
		go_on(self);
}

static void put_in_order(struct function_view *self)
{
	struct list_rows rows = rows_of(self);

	list_update(&self->list, &rows, (size_t)self->rows.rows);
	if (rows_in_use(self) > self->in_order)
		sort_all(self);
}

static void need(int *columns, int wanted)
{
	*columns = wanted > *columns ? wanted : *columns;
}

/* Functions have names so long that a width of their own would not stand still. */
static void measure(struct function_view *self, const struct canvas *canvas)
{
	size_t end = self->list.top + (size_t)self->rows.rows;

	for (size_t i = self->list.top; self->columns->usage && i < end && i < table_of(self)->count; i++) {
		const struct function *function =
			symbols_get(self->functions->answer.symbols, table_of(self)->rows[i].function);

		need(&self->needs.name, canvas_width(canvas, function->name));
		need(&self->needs.object, canvas_width(canvas, function->object));
	}
}

static void draw_rows(struct function_view *self, struct canvas *canvas, struct area area,
	const struct column_layout *layout)
{
	struct list_rows rows = rows_of(self);

	for (int i = 0; i < area.rows && self->list.top + (size_t)i < rows.count; i++) {
		size_t index = self->list.top + (size_t)i;
		struct place place = { area.row + i, area.column, area.columns };
		struct row_drawn row = {
			.functions = self->functions,
			.row = &table_of(self)->rows[index],
			.match = self->scope->match,
		};

		column_row(canvas, place, layout, row);
		if (index == self->list.cursor) {
			canvas_put(canvas, place, STYLE_TITLE, '>');
			canvas_restyle(canvas, place, STYLE_CURSOR);
		}
	}
}

/* Says below the rows why the table shows nothing (emptiness.h), and what to do. */
static void draw_emptiness(const struct function_view *self, struct canvas *canvas,
	struct area area)
{
	struct emptiness empty = emptiness(self->vitals, self->functions->table, self->scope);
	char what_to_do[KEYS_TEXT];
	int taken = (int)table_of(self)->count, needed;
	struct area at = { area.row + taken, area.column + 2, area.rows - taken, area.columns - 3 };

	if (!empty.why)
		return;
	keys_text(self->keys, empty.what_to_do, what_to_do);
	needed = canvas_rows(canvas, empty.why, at.columns) +
		canvas_rows(canvas, what_to_do, at.columns);
	if (needed < at.rows) {
		at.row++;
		at.rows--;
	}
	emptiness_draw(empty, canvas, at, self->keys);
}

/* What ACTION_WAKER waits for, or has waited for in vain; NULL: nothing. */
static const char *said(const struct function_view *self)
{
	if (!is_where_it_goes_from(self))
		return NULL;
	if (self->goes_on)
		return "{waker} goes on once it is known for whom this thread waits: the answer is still to come";
	if (self->in_vain && self->functions->lost)
		return "not shown: trace events were lost, and with them for whom this thread waits; trace fewer "
			"kinds, or filter them";
	return self->in_vain ? "not shown: the thread is in no row, or nothing traced tells for whom this one waits" :
		NULL;
}

/* Draws the detail, a line or two. It moves to the left only until its end is in the middle of a line. */
static void draw_detail(struct function_view *self, struct canvas *canvas, struct area area)
{
	const struct row *row = selected(self);
	char text[DETAIL_TEXT], hint[KEYS_TEXT];

	if (!row)
		return;
	if (said(self)) {
		canvas_wrap(canvas, (struct area) { area.row, area.column + 1, area.rows, area.columns - 1 },
			STYLE_WARN, keys_text(self->keys, said(self), hint));
		return;
	}
	detail_write(self->functions, self->vitals, row, text);
	while (self->detail_from > 0 &&
		canvas_width(canvas, text) - self->detail_from < area.columns / 2)
		self->detail_from -= DETAIL_STEP;
	if (self->detail_from < 0)
		self->detail_from = 0;
	area.column++;
	area.columns--;
	if (area.rows > 1)
		canvas_wrap(canvas, area, STYLE_TITLE, canvas_skip(canvas, text, self->detail_from));
	else
		canvas_text(canvas, (struct place) { area.row, area.column, area.columns }, STYLE_TITLE,
			canvas_skip(canvas, text, self->detail_from));
}

/* So many lines of detail are below the rows: what threads do, and who waits for whom and where, takes two or four. */
static int detail_lines(const struct function_view *self, struct area area)
{
	const struct function_table *functions = self->functions;

	if (area.rows < DETAIL_FROM)
		return 0;
	if (area.rows < DETAILS_FROM || !functions || !functions->tells_now)
		return 1;
	return area.rows >= LONG_FROM && strlen(functions->now) > (size_t)(2 * area.columns) ? 4 : 2;
}

/* The heads are above the rows, if there is room. */
static struct area rows_area(const struct function_view *self, struct area area)
{
	int heads = area.rows >= HEADS_FROM ? 1 : 0;

	area.rows -= heads + detail_lines(self, area);
	area.row += heads;
	return area;
}

static void functions_draw(void *context, struct canvas *canvas, struct area area)
{
	struct function_view *self = context;
	int details = detail_lines(self, area);
	struct column_layout layout;

	if (self->measures || area.columns != self->area.columns)
		self->needs = (struct column_needs) { 0 };
	self->measures = false;
	self->area = area;
	self->rows = rows_area(self, area);
	if (!self->functions || self->rows.rows < 1)
		return;
	if (self->sorted != sorted_by(self))		/* the baseline was taken off, and with it the change */
		sort_rows(self);
	put_in_order(self);
	measure(self, canvas);
	layout = layout_of(self, area.columns);
	if (self->rows.row > area.row)
		column_heads(canvas, (struct place) { area.row, area.column, area.columns },
			&layout, sorted_by(self), self->invert, self->functions);
	draw_rows(self, canvas, self->rows, &layout);
	draw_emptiness(self, canvas, self->rows);
	if (details)
		draw_detail(self, canvas, (struct area) { area.row + area.rows - details, area.column, details,
			area.columns });
}

static void sort_by(struct function_view *self, enum table_column column)
{
	self->invert = sorted_by(self) == column ? !self->invert : false;
	self->sort = column;
	sort_rows(self);
}

static bool act(struct function_view *self, enum action action)
{
	struct column_layout layout = layout_of(self, self->area.columns);
	struct list_rows rows = rows_of(self);

	switch (action) {
	case ACTION_SORT:
	case ACTION_SORT_RIGHT:
		sort_by(self, column_next(&layout, sorted_by(self), 1));
		return true;
	case ACTION_SORT_LEFT:
		sort_by(self, column_next(&layout, sorted_by(self), -1));
		return true;
	case ACTION_INVERT:
		sort_by(self, sorted_by(self));
		return true;
	case ACTION_SORT_CPU:
	case ACTION_SORT_TIME:
		if (action == ACTION_SORT_TIME && self->columns->usage)
			return false;		/* for Timeline */
		self->invert = false;
		self->sort = action == ACTION_SORT_TIME ? COLUMN_TOTAL : COLUMN_SELF;
		sort_rows(self);
		return true;
	case ACTION_LEFT:
		self->detail_from =
			self->detail_from > DETAIL_STEP ? self->detail_from - DETAIL_STEP : 0;
		return true;
	case ACTION_RIGHT:
		self->detail_from += DETAIL_STEP;
		return true;
	default:
		sort_all(self);
		return list_act(&self->list, &rows, action);
	}
}

static bool functions_act(void *context, enum action action)
{
	struct function_view *self = context;
	bool acted;

	self->goes_on = self->in_vain = false;
	acted = action == ACTION_WAKER ? want_next(self) : act(self, action);
	if (acted)
		self->wish.name = 0;
	return acted;
}

static const char *functions_open(void *context, uint64_t *row)
{
	struct function_view *self = context;
	const struct row *at = selected(self);

	if (!at)
		return "";
	*row = row_key(self, self->list.cursor);
	return deeper_words(self->functions, at, self->words, sizeof(self->words));
}

static const char *functions_line(const void *context, struct view_chosen *of)
{
	const struct function_view *self = context;
	const struct row *row = selected(self);

	return row ? deeper_line(self->functions, row, of) : "";
}

static const char *functions_closed(void *context)
{
	const struct function_view *self = context;
	const struct row *row = selected(self);

	return row ? deeper_refusal(self->functions, row) : NULL;
}

static void functions_restore(void *context, uint64_t row)
{
	struct function_view *self = context;

	self->restores = true;
	self->restored = row;
}

static void functions_click(void *context, int row, int column)
{
	struct function_view *self = context;
	struct column_layout layout = layout_of(self, self->area.columns);
	struct list_rows rows = rows_of(self);
	enum table_column head = column_at(&layout, column - self->area.column);
	int line = row - self->rows.row;

	self->wish.name = 0;
	self->goes_on = self->in_vain = false;
	if (row == self->area.row && line == -1 && head != TABLE_COLUMNS)
		sort_by(self, head);
	else if (line >= 0 && (size_t)line < self->list.height &&
		self->list.top + (size_t)line < rows.count)
		list_select(&self->list, &rows, self->list.top + (size_t)line);
}

static bool functions_search(void *context, const char *pattern, enum list_search where)
{
	struct function_view *self = context;
	struct list_rows rows = rows_of(self);

	self->wish.name = 0;
	self->goes_on = self->in_vain = false;
	sort_all(self);
	return list_search(&self->list, &rows, pattern, where);
}

/* The title of a thread ends with its number (threads.h). */
static bool threads_moment(const void *context, struct view_moment *moment)
{
	const struct function_view *self = context;
	const char *name = selected(self) ? row_name(self, self->list.cursor) : "", *digits = name + strlen(name);

	while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (!*digits || !self->functions || self->functions->by != GROUP_THREAD)
		return false;
	*moment = (struct view_moment) { .thread = (uint32_t)strtoul(digits, NULL, 10), .cpu = EVENT_NONE };
	name = symbols_get(self->functions->answer.symbols, selected(self)->function)->object;
	while (self->vitals && moment->machine < self->vitals->machine_count &&
			strcmp(self->vitals->machines[moment->machine].name, name) != 0)
		moment->machine++;
	return !self->vitals || !self->vitals->machine_count || moment->machine < self->vitals->machine_count;
}

static void want_rows(struct function_view *self)
{
	struct function_request *request = &self->request;
	struct list_rows rows = rows_of(self);

	wanted_update(&self->wanted, &self->list, &rows);
	for (size_t i = 0; i < self->wanted.count && i < FUNCTION_ROWS; i++)
		request->visible[request->visible_count++] = (uint32_t)self->wanted.keys[i];
}

/* Callers are asked for only if the detail line is shown. */
static const struct request *functions_ask(void *context, const struct scope *scope)
{
	struct function_view *self = context;
	struct function_request *request = &self->request;
	const struct row *row = selected(self);
	struct column_layout layout = layout_of(self, self->area.columns);

	if (self->area.rows < 1)
		return NULL;
	memset(request, 0, sizeof(*request));		/* requests are compared as bytes */
	request->request.kind = &function_table_kind;
	request->request.pause_ms = PAUSE_MS;
	scope_excerpt(scope, &request->request.excerpt);
	request->selected = row ? row->function : FUNCTION_NONE;
	request->callers = row && self->area.rows >= DETAIL_FROM;
	request->ran = column_wants_ran(&layout) || scope->by == GROUP_LINE;
	want_rows(self);
	return &request->request;
}

static void functions_forget_details(struct request *request)
{
	struct function_request *functions = (struct function_request *)request;

	memset(functions->visible, 0, sizeof(functions->visible));
	functions->visible_count = 0;
	functions->selected = 0;
	functions->callers = functions->ran = false;
}

static void functions_choose(void *context, struct view_chosen chosen)
{
	struct function_view *self = context;

	self->wish = chosen;
	grant(self);
}

static bool functions_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)context;
	return answer->kind == &function_table_kind && ((const struct function_table *)answer)->by == scope->by;
}

static struct view_told functions_told(const void *context)
{
	const struct function_view *self = context;
	const struct table *table = table_of(self);

	return (struct view_told) {
		.known = self->functions && self->functions->table, .rows = table->count, .end = table->to,
	};
}

const struct view view_functions = {
	.name = "Functions",
	.new = functions_new,
	.free = free,
	.ask = functions_ask,
	.forget_details = functions_forget_details,
	.show = functions_show,
	.draw = functions_draw,
	.takes = functions_takes,
	.told = functions_told,
	.open = functions_open,
	.closed = functions_closed,
	.line = functions_line,
	.restore = functions_restore,
	.act = functions_act,
	.click = functions_click,
	.search = functions_search,
	.chosen = functions_chosen,
	.choose = functions_choose,
};

const struct view view_threads = {
	.name = "Threads",
	.new = threads_new,
	.free = free,
	.ask = functions_ask,
	.forget_details = functions_forget_details,
	.show = functions_show,
	.draw = functions_draw,
	.takes = functions_takes,
	.told = functions_told,
	.open = functions_open,
	.closed = functions_closed,
	.restore = functions_restore,
	.act = functions_act,
	.click = functions_click,
	.search = functions_search,
	.moment = threads_moment,
};
