/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/function_page.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/query/table.h"
#include "agent/query/tree/tree.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/list.h"
#include "tui/frame/scope.h"
#include "tui/frame/tab_row.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "config.h"
#include "page_body.h"
#include "views.h"

enum {
	PAUSE_MS = 500,			/* between two answers, each of which asks several questions */
	DEEPEST = 64,			/* levels of callers and callees */
	HEAD_ROWS = 2,
	PAGE_TRAIL = 16,		/* pages that are kept; of more, the first ones are forgotten */
};

struct page_step {
	struct view_chosen of;		/* the function */
	uint64_t row;			/* the key of the row under the cursor; 0: the cursor is at the top */
	uint64_t number;		/* of the step; no other has it */
	char sign;			/* it calls the function of the page before ('<'), or not ('>') */
	bool first;			/* it was opened from another view */
	bool left;			/* a step into another view was made from it */
};

/*
 * The pages of functions through which one came to the page that is shown, each with the row under its cursor. A page
 * is opened from another view, or from the page before it. From each, a step into another view may be made.
 */
struct page_trail {
	struct page_step steps[PAGE_TRAIL];
	int count;
	uint64_t newest;
};

struct page_view {
	const struct keys *keys;
	const struct vitals *vitals;
	const struct scope *scope;
	const struct function_page *page;	/* NULL: no answer yet */
	struct function_page_request request;
	struct page_trail trail;	/* to the page that is shown */
	int top;			/* the first line of the body that is shown */
	int length;			/* lines of the body, in the last drawing */
	struct page_rows rows;		/* of the last drawing */
	size_t cursor;			/* the row that the cursor was on then; it follows the row of the trail's key */
	char words[FILTER_TEXT];	/* what `open` returned last */
	struct area area, body;		/* of the last drawing: the whole view; the body */
};

/* ---- the trail ---- */

/* The page that is shown; NULL: there is none. */
static struct page_step *page_trail_here(struct page_trail *trail)
{
	return trail->count ? &trail->steps[trail->count - 1] : NULL;
}

/* A page is opened. From another view, it takes the place of those that were left by going back. */
static void page_trail_open(struct page_trail *trail, struct view_chosen of, bool first, char sign)
{
	while (first && trail->count && !page_trail_here(trail)->left)
		trail->count--;
	if (trail->count == PAGE_TRAIL)
		memmove(trail->steps, trail->steps + 1, (size_t)--trail->count * sizeof(*trail->steps));
	trail->steps[trail->count++] = (struct page_step) {
		.of = of, .first = first, .sign = sign, .number = ++trail->newest,
	};
}

/* Back to the page before. False: this one was opened from another view. */
static bool page_trail_back(struct page_trail *trail)
{
	if (trail->count < 2 || page_trail_here(trail)->first)
		return false;
	trail->count--;
	return true;
}

/* A step into another view: returns its number, for page_trail_return. That is without effect if it is forgotten. */
static uint64_t page_trail_leave(struct page_trail *trail)
{
	page_trail_here(trail)->left = true;
	return page_trail_here(trail)->number;
}

static void page_trail_return(struct page_trail *trail, uint64_t number)
{
	int count = trail->count;

	while (count && trail->steps[count - 1].number != number)
		count--;
	if (!count)
		return;
	trail->count = count;
	page_trail_here(trail)->left = false;
}

/* ---- the page ---- */

static struct view_chosen of_page(const struct page_view *self)
{
	const struct page_trail *trail = &self->trail;

	return trail->count ? trail->steps[trail->count - 1].of : (struct view_chosen) { .name = 0 };
}

/* The row under the cursor; NULL: there is none. */
static const struct page_row *selected(const struct page_view *self)
{
	return self->page && self->cursor < self->rows.count ? &self->rows.rows[self->cursor] : NULL;
}

static const struct tree *tree_of(const struct page_view *self)
{
	return self->page ? self->page->tree->tree : NULL;
}

static const struct tree_row *top_of(const struct page_view *self)
{
	return page_body_top(self->page, TREE_DOWN);
}

/* Another function's page is shown: the answer and the rows are about the one before. */
static void turn(struct page_view *self)
{
	if (self->page && self->page->tree->of != of_page(self).name)
		self->page = NULL;
	self->rows.count = 0;
	self->cursor = 0;
	self->top = 0;
}

static void *page_new(const struct config *config)
{
	struct page_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	return self;
}

static void page_free(void *context)
{
	free(((struct page_view *)context)->rows.rows);
	free(context);
}

static void page_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	static const enum table_column orders[PAGE_TABLES] = { [PAGE_CPUS] = COLUMN_CPU };
	struct page_view *self = context;
	const struct function_page *page = (const struct function_page *)answer;
	bool again = page == self->page;

	self->vitals = vitals;
	self->scope = scope;
	if (!again)
		self->rows.count = 0;
	/* It may be about another function. */
	self->page = page && page->tree->of == of_page(self).name ? page : NULL;
	for (int i = 0; self->page && !again && i < PAGE_TABLES; i++)
		if (self->page->tables[i]->table)
			table_sort(self->page->tables[i]->table, answer->symbols, orders[i], false);
}

/* ---- drawing ---- */

static void draw_nothing(const struct page_view *self, struct canvas *canvas, struct area area)
{
	struct place title = { area.row, area.column + 1, area.columns - 1 };

	canvas_middle(canvas, title, STYLE_TITLE, of_page(self).text);
	emptiness_draw(emptiness_of_function(self->scope, false), canvas,
		(struct area) { area.row + 1, area.column + 2, area.rows - 1, area.columns - 3 }, self->keys);
}

/* The cursor goes with its row. While that is gone, the cursor is at the row that has taken its place. */
static void follow(struct page_view *self)
{
	const struct page_step *here = page_trail_here(&self->trail);
	size_t at = here && here->row ? page_rows_find(&self->rows, here->row) : 0;

	if (at < self->rows.count)
		self->cursor = at;
	else if (self->cursor >= self->rows.count)
		self->cursor = 0;
}

/* Scrolls as little as the cursor needs. What is above the topmost row, or below the lowest, is shown with it. */
static void keep_in_sight(struct page_view *self)
{
	const struct page_row *row = selected(self);
	int height = self->body.rows, first = row ? row->row : 0, last = first;

	for (size_t i = 0; row && i < self->rows.count; i++) {
		first = first < self->rows.rows[i].row ? first : self->rows.rows[i].row;
		last = last > self->rows.rows[i].row ? last : self->rows.rows[i].row;
	}
	if (row && row->row >= self->top + height)
		self->top = row->row - height + 1;
	if (row && row->row == last && last + height > self->length)
		self->top = self->length - height;
	if (row && row->row < self->top)
		self->top = row->row;
	if (row && row->row == first && first < height)
		self->top = 0;
	if (self->top + height > self->length)
		self->top = self->length - height;
	if (self->top < 0)
		self->top = 0;
}

static void draw_cursor(const struct page_view *self, struct canvas *canvas)
{
	const struct page_row *row = selected(self);
	struct place place;

	if (!row || row->row < self->top || row->row >= self->top + self->body.rows)
		return;
	place = (struct place) {
		self->body.row + row->row - self->top, self->body.column + row->column, row->width };
	canvas_put(canvas, place, STYLE_TITLE, '>');
	canvas_restyle(canvas, place, STYLE_CURSOR);
}

/* The rows are known when they are drawn. Where the cursor then is out of sight, they are drawn again. */
static void draw_body(struct page_view *self, struct canvas *canvas, const struct page_look *look)
{
	int top = self->top;

	self->length = page_body_draw(canvas, self->body, self->top, look, &self->rows);
	follow(self);
	keep_in_sight(self);
	for (int i = 0; i < self->body.rows && top != self->top; i++)
		canvas_blank(canvas, (struct place) { self->body.row + i, self->body.column, self->body.columns });
	if (top != self->top)
		page_body_draw(canvas, self->body, self->top, look, &self->rows);
	draw_cursor(self, canvas);
}

static void page_draw(void *context, struct canvas *canvas, struct area area)
{
	struct page_view *self = context;
	const struct page_look look = {
		.page = self->page, .machines = self->vitals && self->vitals->machines,
		.match = self->scope ? self->scope->match : "",
	};
	struct place title = { area.row, area.column + 1, area.columns - 1 };

	self->area = area;
	self->body = (struct area) { area.row + HEAD_ROWS, area.column, area.rows - HEAD_ROWS, area.columns };
	if (!self->page || area.rows < 1)
		return;
	if (!top_of(self) || !page_body_top(self->page, TREE_UP)) {
		draw_nothing(self, canvas, area);
		self->length = 0;
		self->rows.count = 0;
		return;
	}
	if (area.rows <= HEAD_ROWS)
		return;
	page_body_title(canvas, title, &look);
	draw_body(self, canvas, &look);
}

/* ---- what the user does ---- */

static void select_row(struct page_view *self, size_t at)
{
	if (at >= self->rows.count)
		return;
	self->cursor = at;
	page_trail_here(&self->trail)->row = self->rows.rows[at].key;
}

/* By so many lines, within the half of the body in which the cursor is. */
static void move(struct page_view *self, int lines)
{
	const struct page_row *row = selected(self);
	struct page_reach half;
	size_t at;

	if (!row)
		return;
	half = page_rows_half(self->body, row);
	half.from = lines > 0 ? row->row + 1 : 0;
	half.to = lines < 0 ? row->row - 1 : half.to;
	at = page_rows_near(&self->rows, half, row->row + lines, row->column);
	select_row(self, at);
}

/* To the row beside it: another CPU, or one in the other half. */
static void move_beside(struct page_view *self, bool right)
{
	const struct page_row *row = selected(self);
	struct page_reach beside = { 0, self->length, 0, self->body.columns };

	if (!row)
		return;
	beside.left = right ? row->column + 1 : 0;
	beside.right = right ? beside.right : row->column;
	select_row(self, page_rows_near(&self->rows, beside, row->row, row->column));
}

static void move_to_end(struct page_view *self, bool top)
{
	const struct page_row *row = selected(self);

	if (row)
		select_row(self, page_rows_near(&self->rows, page_rows_half(self->body, row),
			top ? 0 : self->length, 0));
}

/* The page of the caller or callee under the cursor. False: the cursor is on none. */
static bool open_call(struct page_view *self)
{
	const struct page_row *row = selected(self);
	const struct function *function;
	struct view_chosen chosen;

	if (!row || (row->kind != PAGE_ROW_CALLER && row->kind != PAGE_ROW_CALLEE))
		return false;
	function = symbols_get(self->page->answer.symbols, row->function);
	if (!function->known)
		return false;
	chosen = (struct view_chosen) { .name = tree_name(function, self->page->tree->kernel), .put = true,
		.in_kernel = function_in_kernel(function) };
	util_print(chosen.text, sizeof(chosen.text), "%s", function->name);
	page_trail_here(&self->trail)->row = row->key;
	page_trail_open(&self->trail, chosen, false, row->kind == PAGE_ROW_CALLER ? '<' : '>');
	turn(self);
	return true;
}

static bool page_back(struct page_view *self)
{
	bool back = page_trail_back(&self->trail);

	if (back)
		turn(self);
	return back;
}

static bool page_act(void *context, enum action action)
{
	struct page_view *self = context;
	int page = self->body.rows > 1 ? self->body.rows - 1 : 1;

	switch (action) {
	case ACTION_UP: move(self, -1); return true;
	case ACTION_DOWN: move(self, 1); return true;
	case ACTION_LEFT: move_beside(self, false); return true;
	case ACTION_RIGHT: move_beside(self, true); return true;
	case ACTION_PAGE_UP: move(self, -page); return true;
	case ACTION_PAGE_DOWN: move(self, page); return true;
	case ACTION_TOP: move_to_end(self, true); return true;
	case ACTION_BOTTOM: move_to_end(self, false); return true;
	case ACTION_OPEN: return open_call(self);
	case ACTION_BACK: return page_back(self);
	default: return false;
	}
}

/* The words for the samples of this CPU, mode, process, thread or machine. */
static const char *words_of(struct page_view *self, const struct page_row *at)
{
	static const enum group_by groups[] = {
		[PAGE_ROW_CPU] = GROUP_CPU, [PAGE_ROW_MODE] = GROUP_MODE, [PAGE_ROW_PROCESS] = GROUP_PROCESS,
		[PAGE_ROW_THREAD] = GROUP_THREAD,
	};
	bool many = self->vitals->machines;

	if (at->kind >= sizeof(groups) / sizeof(*groups) || groups[at->kind] == GROUP_FUNCTION)
		return "";
	if (many && at->kind == PAGE_ROW_PROCESS)
		return grouping_machine_filter(at->name, self->words, sizeof(self->words));
	return grouping_filter(groups[at->kind], at->name, many ?
		symbols_get(self->page->answer.symbols, at->function)->object : NULL, self->words,
		sizeof(self->words));
}

static const char *page_open(void *context, uint64_t *row)
{
	struct page_view *self = context;
	const struct page_row *at = selected(self);

	if (!at || !*words_of(self, at))
		return "";
	page_trail_here(&self->trail)->row = at->key;
	*row = page_trail_leave(&self->trail);
	return self->words;
}

static const char *page_closed(void *context)
{
	const struct page_row *row = selected(context);

	if (row && (row->kind == PAGE_ROW_CALLER || row->kind == PAGE_ROW_CALLEE))
		return "not opened: no file that was read names this code; "
			"--kernel, --sysroot or --debug-dir gives one";
	return "not opened: no filter can say this name; {around} and {annotate} show more of the function";
}

static const char *page_line(const void *context, struct view_chosen *of)
{
	const struct page_row *row = selected(context);

	*of = of_page(context);
	return row && row->kind == PAGE_ROW_LINE ? row->name : "";
}

static void page_restore(void *context, uint64_t row)
{
	struct page_view *self = context;

	page_trail_return(&self->trail, row);
	turn(self);
}

static void page_way_to(void *context, struct view_way *way)
{
	const struct page_trail *trail = &((const struct page_view *)context)->trail;

	if (trail->count)
		view_function_way(context, trail->steps[trail->count - 1].number, way);
}

void view_function_way(const void *context, uint64_t row, struct view_way *way)
{
	const struct page_trail *trail = &((const struct page_view *)context)->trail;
	int at = trail->count;

	while (at > 0 && trail->steps[at - 1].number != row)
		at--;
	while (at-- > 0) {
		view_way_add(way, trail->steps[at].sign, trail->steps[at].of.text);
		if (trail->steps[at].first)
			return;
	}
}

static bool page_search(void *context, const char *pattern, enum list_search where)
{
	struct page_view *self = context;
	size_t step = where == LIST_PREVIOUS ? self->rows.count - 1 : 1;
	size_t row = where == LIST_HERE ? self->cursor : self->cursor + step;

	for (size_t i = 0; i < self->rows.count; i++, row += step)
		if (list_match(self->rows.rows[row % self->rows.count].name, pattern)) {
			select_row(self, row % self->rows.count);
			return true;
		}
	return false;
}

/* A click puts the cursor on a row; a click on the cursor's row turns to that function. */
static void page_click(void *context, int row, int column)
{
	struct page_view *self = context;

	row += self->top - self->body.row;
	column -= self->body.column;
	for (size_t i = 0; i < self->rows.count; i++) {
		const struct page_row *at = &self->rows.rows[i];

		if (at->row != row || column < at->column || column >= at->column + at->width)
			continue;
		if (i != self->cursor || !open_call(self))
			select_row(self, i);
		return;
	}
}

static struct view_chosen page_chosen(void *context)
{
	return of_page(context);
}

static void page_choose(void *context, struct view_chosen chosen)
{
	struct page_view *self = context;

	page_trail_open(&self->trail, chosen, true, '>');
	turn(self);
}

static const struct request *page_ask(void *context, const struct scope *scope)
{
	struct page_view *self = context;
	struct function_page_request *request = &self->request;

	if (self->area.rows < 1)
		return NULL;
	memset(request, 0, sizeof(*request));
	request->request.kind = &function_page_kind;
	request->request.pause_ms = PAUSE_MS;
	scope_excerpt(scope, &request->request.excerpt);
	request->request.excerpt.by = GROUP_FUNCTION;
	request->tree.orders = 1 << TREE_DOWN | 1 << TREE_UP;
	request->tree.of = of_page(self).name;
	request->tree.recursion = 1;
	request->tree.deepest = DEEPEST;
	if (top_of(self))
		request->tree.trends[request->tree.trend_count++] = top_of(self)->path;
	return &request->request;
}

static void page_forget_details(struct request *request)
{
	struct tree_question *tree = &((struct function_page_request *)request)->tree;

	memset(tree->trends, 0, sizeof(tree->trends));
	tree->trend_count = 0;
}

static bool page_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)scope;
	return answer->kind == &function_page_kind &&
		((const struct function_page *)answer)->tree->of == of_page(context).name;
}

static struct view_told page_told(const void *context)
{
	const struct tree *tree = tree_of(context);

	return (struct view_told) { .known = tree, .rows = top_of(context), .end = tree ? tree->to : 0 };
}

const struct view view_function = {
	.name = "Function",
	.new = page_new,
	.free = page_free,
	.ask = page_ask,
	.forget_details = page_forget_details,
	.show = page_show,
	.draw = page_draw,
	.takes = page_takes,
	.told = page_told,
	.open = page_open,
	.closed = page_closed,
	.line = page_line,
	.restore = page_restore,
	.act = page_act,
	.click = page_click,
	.search = page_search,
	.chosen = page_chosen,
	.choose = page_choose,
	.way = page_way_to,
};
