/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/answers/function_page.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/query/table.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/list.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/frame/view_row.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "config.h"
#include "page_body.h"
#include "view_function.h"

enum {
	PAUSE_MS = 500,			/* between two answers, each of which asks several questions */
	DEEPEST = 64,			/* levels of callers and callees */
	HEAD_ROWS = 2,
};

struct page_view {
	const struct keys *keys;
	const struct vitals *vitals;
	const struct scope *scope;
	const struct function_page *page;	/* NULL: no answer yet */
	struct function_page_request request;
	struct view_chosen of;
	int top;			/* the first row of the body that is shown */
	int rows, length;		/* rows of the body on the screen, and in all, in the last drawing */
	struct page_names names;	/* of the last drawing */
	struct area area;
};

static const struct tree *tree_of(const struct page_view *self)
{
	return self->page ? self->page->tree->tree : NULL;
}

static const struct tree_row *top_of(const struct page_view *self)
{
	return page_body_top(self->page, TREE_DOWN);
}

static void *page_new(const struct config *config)
{
	struct page_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	return self;
}

static void page_free(void *context)
{
	free(((struct page_view *)context)->names.names);
	free(context);
}

static void page_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	static const enum table_column orders[PAGE_TABLES] = { COLUMN_SELF, COLUMN_CPU, COLUMN_SELF };
	struct page_view *self = context;
	const struct function_page *page = (const struct function_page *)answer;
	bool again = page == self->page;

	self->vitals = vitals;
	self->scope = scope;
	if (!again)
		self->names.count = 0;
	self->page = page && page->tree->of == self->of.name ? page : NULL;	/* or it is about another function */
	for (int i = 0; self->page && !again && i < PAGE_TABLES; i++)
		if (self->page->tables[i]->table)
			table_sort(self->page->tables[i]->table, answer->symbols, orders[i], false);
}

/* ---- drawing ---- */

static void draw_nothing(const struct page_view *self, struct canvas *canvas, struct area area)
{
	static const struct emptiness unused = { "Nothing has run this function in the window.",
		"{window} chooses a longer window; {functions} shows what was sampled." };
	struct place title = { area.row, area.column + 1, area.columns - 1 };

	canvas_middle(canvas, title, STYLE_TITLE, self->of.text);
	emptiness_draw(unused, canvas, (struct area) { area.row + 1, area.column + 2, area.rows - 1,
		area.columns - 3 }, self->keys);
}

static void page_draw(void *context, struct canvas *canvas, struct area area)
{
	struct page_view *self = context;
	const struct page_look look = {
		.page = self->page, .machines = self->vitals && self->vitals->machines,
		.match = self->scope ? self->scope->match : "",
	};
	struct area body = { area.row + HEAD_ROWS, area.column, area.rows - HEAD_ROWS, area.columns };
	struct place title = { area.row, area.column + 1, area.columns - 1 };

	self->area = area;
	self->rows = body.rows;
	if (!self->page || area.rows < 1)
		return;
	if (!top_of(self) || !page_body_top(self->page, TREE_UP)) {
		if (tree_of(self) && tree_of(self)->growing)
			canvas_text(canvas, title, STYLE_WARN, "its calls are being added up");
		else
			draw_nothing(self, canvas, area);
		self->length = 0;
		return;
	}
	if (area.rows <= HEAD_ROWS)
		return;
	page_body_title(canvas, title, &look);
	self->length = page_body_draw(canvas, body, self->top, &look, &self->names);
	if (self->top + self->rows > self->length && self->top > 0) {	/* it has become shorter */
		self->top = self->length > self->rows ? self->length - self->rows : 0;
		for (int i = 0; i < body.rows; i++)
			canvas_blank(canvas, (struct place) { body.row + i, body.column, body.columns });
		page_body_draw(canvas, body, self->top, &look, &self->names);
	}
}

/* ---- what the user does ---- */

static void scroll_to(struct page_view *self, int top)
{
	int last = self->length > self->rows ? self->length - self->rows : 0;

	self->top = top < 0 ? 0 : top > last ? last : top;
}

static bool page_act(void *context, enum action action)
{
	struct page_view *self = context;
	int page = self->rows > 1 ? self->rows - 1 : 1;

	switch (action) {
	case ACTION_UP: scroll_to(self, self->top - 1); return true;
	case ACTION_DOWN: scroll_to(self, self->top + 1); return true;
	case ACTION_PAGE_UP: scroll_to(self, self->top - page); return true;
	case ACTION_PAGE_DOWN: scroll_to(self, self->top + page); return true;
	case ACTION_TOP: scroll_to(self, 0); return true;
	case ACTION_BOTTOM: scroll_to(self, self->length); return true;
	case ACTION_OPEN: return true;		/* it is the deepest step */
	default: return false;
	}
}

static void page_way_to(void *context, struct view_way *way)
{
	view_way_add(way, '>', ((const struct page_view *)context)->of.text);
}

/* Scrolls to the nearest row with such a name, around the end if needed. */
static bool page_search(void *context, const char *pattern, enum list_search where)
{
	struct page_view *self = context;
	int from = self->top + (where == LIST_HERE ? 0 : where == LIST_NEXT ? 1 : -1);
	int nearest = -1, last = self->length;

	for (size_t i = 0; i < self->names.count; i++) {
		int away = where == LIST_PREVIOUS ? from - self->names.names[i].row : self->names.names[i].row - from;

		if (!list_match(self->names.names[i].name, pattern))
			continue;
		away = away < 0 ? away + last : away;
		if (nearest < 0 || away < nearest)
			nearest = away;
	}
	if (nearest < 0)
		return false;
	nearest = where == LIST_PREVIOUS ? from - nearest : from + nearest;
	scroll_to(self, nearest < 0 ? nearest + last : nearest >= last ? nearest - last : nearest);
	return true;
}

static void page_click(void *context, int row, int column)
{
	(void)context;
	(void)row;
	(void)column;
}

static struct view_chosen page_chosen(void *context)
{
	return ((const struct page_view *)context)->of;
}

static void page_choose(void *context, struct view_chosen chosen)
{
	struct page_view *self = context;

	if (self->of.name != chosen.name)
		self->page = NULL;
	self->of = chosen;
	self->top = 0;
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
	request->tree.of = self->of.name;
	request->tree.recursion = 1;
	request->tree.deepest = DEEPEST;
	if (top_of(self))
		request->tree.trends[request->tree.trend_count++] = top_of(self)->path;
	return &request->request;
}

static bool page_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)scope;
	return answer->kind == &function_page_kind &&
		((const struct function_page *)answer)->tree->of == ((const struct page_view *)context)->of.name;
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
	.show = page_show,
	.draw = page_draw,
	.takes = page_takes,
	.told = page_told,
	.act = page_act,
	.click = page_click,
	.search = page_search,
	.chosen = page_chosen,
	.choose = page_choose,
	.way = page_way_to,
};
