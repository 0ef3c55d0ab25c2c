/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/call_tree.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
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
#include "tui/views/tree/tree_lines.h"
#include "config.h"
#include "views.h"

enum { HEADS_FROM = 5, DETAIL_FROM = 6 };	/* rows from which there are heads, and the detail line */
enum { PAUSE_MS = 100, DETAIL = 1024, HEAD = 128 };

struct tree_view {
	const struct keys *keys;
	const struct vitals *vitals;
	const struct call_tree *answer;	/* NULL: none yet */
	const struct scope *scope;
	struct call_tree_request request;
	enum tree_order order;
	bool recursion;			/* a function that calls itself is one row */
	struct tree_fold fold;		/* where the cursor goes once the rows are with recursion as it is asked for */
	struct view_chosen around;	/* its callers and callees are shown; `name` 0: the whole tree */
	struct folds folds;
	struct view_chosen wish;	/* the cursor goes to this function once it has a row; `name` 0: it stays */
	bool centred;			/* the cursor was put on the function between its callers and callees */
	bool begun;			/* the hot path was unfolded at first */
	struct tree_lines lines;
	struct list list;
	struct list before;		/* as it was before callers and callees were shown */
	struct wanted wanted;
	struct area area, rows;		/* of the last drawing: the whole view; its rows */
};

static const struct tree *tree_of(const struct tree_view *self)
{
	return self->answer ? self->answer->tree : NULL;
}

static struct tree_columns columns_of(const struct tree_view *self, int columns)
{
	return tree_columns(columns, self->scope && self->scope->base.until_ns);
}

static const struct symbols *symbols_of(const struct tree_view *self)
{
	return self->answer->answer.symbols;
}

static uint64_t row_key(const void *context, size_t row)
{
	return ((const struct tree_view *)context)->lines.lines[row].row->path;
}

static const char *row_name(const void *context, size_t row)
{
	const struct tree_view *self = context;

	return symbols_get(symbols_of(self), self->lines.lines[row].row->function)->name;
}

static struct list_rows rows_of(const struct tree_view *self)
{
	return (struct list_rows) {
		.context = self, .count = self->lines.count, .key = row_key, .name = row_name,
	};
}

/* The line under the cursor; NULL: there is none. */
static const struct tree_line *selected(const struct tree_view *self)
{
	return self->list.cursor < self->lines.count ? &self->lines.lines[self->list.cursor] : NULL;
}

static void *tree_new_view(const struct config *config)
{
	struct tree_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	return self;
}

static void tree_free_view(void *context)
{
	struct tree_view *self = context;

	tree_lines_clear(&self->lines);
	free(self);
}

static void fill(struct tree_view *self)
{
	struct list_rows rows;

	self->lines.count = 0;
	if (tree_of(self))
		tree_lines_fill(&self->lines, tree_of(self), self->order, self->around.name,
			self->scope->no_idle ? symbols_of(self) : NULL);
	rows = rows_of(self);
	list_update(&self->list, &rows, self->list.height);
}

/* At first, the hot path from the heaviest row is unfolded, which is not that of idle time. */
static void begin(struct tree_view *self)
{
	for (size_t i = 0; i < self->lines.count && !self->begun; i++) {
		const struct tree_row *row = self->lines.lines[i].row;

		if (!symbols_get(symbols_of(self), row->function)->known)
			continue;
		folds_wish(&self->folds, false, row->path);
		self->begun = true;
	}
}

/* At first, the cursor is on the function whose callers and callees are shown. */
static void centre(struct tree_view *self)
{
	struct list_rows rows = rows_of(self);

	for (size_t i = 0; i < rows.count && !self->centred; i++)
		if (!self->lines.lines[i].up) {
			list_select(&self->list, &rows, i);
			self->centred = true;
		}
}

static uint64_t name_at(const struct tree_view *self, const struct tree_line *line)
{
	return tree_name(symbols_get(symbols_of(self), line->row->function), self->answer->kernel);
}

/*
 * The cursor goes to the first row of the function that was chosen in another view, and follows it from then on; if it
 * is on one already, it follows that. The function may have no row yet: that comes with an answer.
 */
static void grant(struct tree_view *self)
{
	struct list_rows rows = rows_of(self);
	const struct tree_line *line = selected(self);
	bool there = line && name_at(self, line) == self->wish.name;

	for (size_t i = there ? self->list.cursor : 0; i < self->lines.count && self->wish.name; i++)
		if (name_at(self, &self->lines.lines[i]) == self->wish.name) {
			list_select(&self->list, &rows, i);
			self->wish.name = 0;
		}
}

/* Somebody has put the cursor elsewhere: it goes nowhere by itself any more. */
static void stay(struct tree_view *self)
{
	self->wish.name = 0;
	self->fold.count = 0;
}

static enum tree_order order_at(const struct tree_view *self, const struct tree_line *line)
{
	return !self->around.name ? self->order : line && line->up ? TREE_UP : TREE_DOWN;
}

/* The cursor stays on its row while recursion is folded or unfolded. The rows on the way to it are unfolded there. */
static void turn_recursion(struct tree_view *self)
{
	const struct tree_line *line = selected(self);

	self->recursion = !self->recursion;
	if (!line || !self->list.follow)
		return;
	tree_fold_of(&self->fold, &tree_of(self)->lists[order_at(self, line)], line->row, order_at(self, line),
		self->around.name, symbols_of(self), self->answer->kernel);
	for (uint32_t i = TREE_FOLD_WAY; i < self->fold.count; i++)
		folds_add(&self->folds, self->fold.paths[i]);
}

/* Until somebody moves the cursor: the rows may come with more than one answer. */
static void follow_fold(struct tree_view *self)
{
	struct list_rows rows = rows_of(self);
	const struct tree *tree = tree_of(self);
	uint64_t path = 0;

	if (!self->fold.count || !tree || self->answer->recursion != self->recursion)
		return;
	for (int order = 0; order < TREE_ORDERS && !path; order++)
		path = tree_fold_find(&self->fold, &tree->lists[order]);
	for (size_t i = 0; i < rows.count && path; i++)
		if (row_key(self, i) == path)
			list_select(&self->list, &rows, i);
}

/* The answer may be about another function, or about the whole tree: its rows are none of those that were asked for. */
static void drop_other(struct tree_view *self)
{
	if (self->answer && self->answer->of != self->around.name)
		self->answer = NULL;
}

static void tree_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	struct tree_view *self = context;
	const struct call_tree *tree = (const struct call_tree *)answer;
	bool again = self->answer == tree;

	self->vitals = vitals;
	self->scope = scope;
	self->answer = tree;
	drop_other(self);
	if (self->answer && !again)
		folds_answered(&self->folds, self->answer);
	fill(self);
	if (self->around.name)
		centre(self);
	else
		begin(self);
	follow_fold(self);
	grant(self);
}

/* ---- drawing ---- */

static const char *head_of(const struct tree_view *self, char text[HEAD])
{
	const struct tree *tree = tree_of(self);
	uint64_t left_out = tree->lists[TREE_DOWN].left_out + tree->lists[TREE_UP].left_out;
	const char *name = self->around.name ? "CALLERS AND CALLEES" :
		self->order == TREE_UP ? "CALL TREE, BOTTOM-UP" : "CALL TREE";

	if (tree->scarce)
		snprintf(text, HEAD, "%s  memory is short: rows or trends are missing", name);
	else if (left_out)
		snprintf(text, HEAD, "%s  lighter rows left out: %llu", name, (unsigned long long)left_out);
	else
		snprintf(text, HEAD, "%s%s", name, self->recursion ? "  recursion folded" : "");
	return text;
}

static void draw_rows(struct tree_view *self, struct canvas *canvas, struct area area,
	const struct tree_columns *columns)
{
	const struct tree_row_look look = {
		.tree = tree_of(self), .symbols = symbols_of(self), .match = self->scope->match,
	};
	struct list_rows rows = rows_of(self);

	list_update(&self->list, &rows, (size_t)area.rows);
	for (int i = 0; i < area.rows && self->list.top + (size_t)i < rows.count; i++) {
		const struct tree_line *line = &self->lines.lines[self->list.top + (size_t)i];
		struct place place = { area.row + i, area.column, area.columns };

		tree_row_draw(canvas, place, columns, line, &look);
		if (line == selected(self)) {
			canvas_put(canvas, place, STYLE_TITLE, '>');
			canvas_restyle(canvas, place, STYLE_CURSOR);
		}
	}
}

/* The tree as a table of so many rows, for the reasons why it is empty. */
static struct emptiness why_empty(const struct tree_view *self)
{
	const struct tree *tree = tree_of(self);
	struct table like = { .count = self->lines.count };

	if (!tree)
		return emptiness(self->vitals, NULL, self->scope);
	memcpy(like.mode, tree->mode, sizeof(like.mode));
	like.samples = tree->samples;
	if (self->around.name && tree->weight && !tree->lists[TREE_DOWN].count &&
			!tree->lists[TREE_UP].count)
		return emptiness_of_function(self->scope, false);
	if (tree->weight && !self->lines.count)	/* the rows of another order are on their way */
		return (struct emptiness) { NULL, NULL };
	return emptiness(self->vitals, &like, self->scope);
}

static void draw_emptiness(const struct tree_view *self, struct canvas *canvas, struct area area)
{
	int taken = (int)self->lines.count;
	struct area at = { area.row + taken, area.column + 2, area.rows - taken, area.columns - 3 };

	emptiness_draw(why_empty(self), canvas, at, self->keys);
}

/* "page_alloc  26.00% of all, 59.40% of vm_fault, self 9.87%, 1204 samples  kernel" */
static void draw_detail(const struct tree_view *self, struct canvas *canvas, struct place place)
{
	const struct tree_line *line = selected(self);
	const struct tree *tree = tree_of(self);
	const struct function *function;
	char total[TREE_SHARE], change[TREE_SHARE], of[TREE_SHARE], self_share[TREE_SHARE];
	char parent[DETAIL] = "", own[TREE_SHARE + 8] = "";

	if (!line)
		return;
	function = symbols_get(symbols_of(self), line->row->function);
	if (line->parent)
		snprintf(parent, sizeof(parent), ", %s%% of %s",
			tree_row_share(line->row->total, line->parent->total, line->row->samples, of),
			symbols_get(symbols_of(self), line->parent->function)->name);
	if (*tree_row_self(line->row, line->order, tree->weight, self_share))
		snprintf(own, sizeof(own), ", self %s%%", self_share);
	place.column++;
	place.width--;
	canvas_format(canvas, place, STYLE_TITLE, "%s  %s%% of all%s%s%s, %llu sample%s  %s%s%s",
		function->name,
		tree_row_share(line->row->total, tree->weight, line->row->samples, total),
		tree_row_change(tree, line->row, change), parent, own,
		(unsigned long long)line->row->samples, util_plural(line->row->samples),
		line->row->line ? line->row->line : "", line->row->line && *line->row->line ? "  " : "",
		function->object);
}

static void tree_draw(void *context, struct canvas *canvas, struct area area)
{
	struct tree_view *self = context;
	struct tree_columns columns = columns_of(self, area.columns);
	int heads = area.rows >= HEADS_FROM ? 1 : 0, detail = area.rows >= DETAIL_FROM ? 1 : 0;
	char head[HEAD];

	self->area = area;
	self->rows = (struct area) { area.row + heads, area.column, area.rows - heads - detail, area.columns };
	if (!self->answer || self->rows.rows < 1)
		return;
	if (heads && tree_of(self))
		tree_row_heads(canvas, (struct place) { area.row, area.column, area.columns }, &columns,
			head_of(self, head));
	if (tree_of(self))
		draw_rows(self, canvas, self->rows, &columns);
	draw_emptiness(self, canvas, self->rows);
	if (detail)
		draw_detail(self, canvas, (struct place) { area.row + area.rows - 1, area.column, area.columns });
}

/* ---- what the user does ---- */

static bool unfold(struct tree_view *self)
{
	const struct tree_line *line = selected(self);

	if (line && line->row->has_more)
		folds_add(&self->folds, line->row->path);
	return line && line->row->has_more && !line->row->unfolded;
}

/* Folds the row under the cursor; if there is nothing to fold, the cursor goes to the parent. False: it has none. */
static bool fold(struct tree_view *self)
{
	const struct tree_line *line = selected(self);
	struct list_rows rows = rows_of(self);

	if (line && line->row->unfolded) {
		folds_remove(&self->folds, tree_of(self), line->row->path);
		return true;
	}
	for (size_t i = 0; line && line->parent && i < self->lines.count; i++)
		if (self->lines.lines[i].row == line->parent) {
			list_select(&self->list, &rows, i);
			return true;
		}
	return false;
}

static bool turn(struct tree_view *self)
{
	if (self->around.name)
		return false;
	self->order = self->order == TREE_DOWN ? TREE_UP : TREE_DOWN;
	list_rewind(&self->list);
	fill(self);
	return true;
}

static bool changes_folds(enum action action)
{
	return action == ACTION_OPEN || (action >= ACTION_UNFOLD && action <= ACTION_ALL);
}

static bool act(struct tree_view *self, enum action action)
{
	const struct tree_line *line = selected(self);
	struct list_rows rows = rows_of(self);

	if (line && changes_folds(action))	/* from now on the cursor follows the node that was acted on */
		list_select(&self->list, &rows, self->list.cursor);
	switch (action) {
	case ACTION_OPEN:
		return line && line->row->unfolded ? fold(self) : unfold(self);
	case ACTION_UNFOLD:
		return unfold(self);
	case ACTION_FOLD:
		return fold(self);
	case ACTION_HOT:
	case ACTION_ALL:
		if (line)
			folds_wish(&self->folds, action == ACTION_ALL, line->row->path);
		return line && line->row->has_more;
	case ACTION_TURN:
		return turn(self);
	case ACTION_RECURSION:
		turn_recursion(self);
		return true;
	default:
		return list_act(&self->list, &rows, action);
	}
}

static bool tree_act(void *context, enum action action)
{
	struct tree_view *self = context;
	bool acted;

	self->fold.count = 0;
	acted = act(self, action);
	if (acted)
		self->wish.name = 0;
	return acted;
}

/* A click on the sign before the name of the cursor's row folds or unfolds it. */
static void tree_click(void *context, int row, int column)
{
	struct tree_view *self = context;
	struct list_rows rows = rows_of(self);
	int line = row - self->rows.row;
	size_t at = self->list.top + (size_t)(line > 0 ? line : 0);

	stay(self);
	if (line < 0 || (size_t)line >= self->list.height || at >= rows.count)
		return;
	if (at == self->list.cursor && column >= columns_of(self, self->area.columns).name.column)
		tree_act(self, ACTION_OPEN);
	list_select(&self->list, &rows, at);
}

static bool tree_search(void *context, const char *pattern, enum list_search where)
{
	struct tree_view *self = context;
	struct list_rows rows = rows_of(self);

	stay(self);
	return list_search(&self->list, &rows, pattern, where);
}

static struct view_chosen tree_chosen(void *context)
{
	const struct tree_view *self = context;
	const struct tree_line *line = selected(self);
	const struct function *function = line ? symbols_get(symbols_of(self), line->row->function) : NULL;
	struct view_chosen chosen = { .name = 0 };

	if (!function || !function->known)
		return chosen;
	chosen = (struct view_chosen) { .name = name_at(self, line), .put = self->list.follow,
		.in_kernel = function_in_kernel(function) };
	util_print(chosen.text, sizeof(chosen.text), "%s", function->name);
	return chosen;
}

static void tree_choose(void *context, struct view_chosen chosen)
{
	struct tree_view *self = context;

	self->wish = chosen;
	self->fold.count = 0;
	grant(self);
	if (self->wish.name)
		folds_find(&self->folds, self->wish.name);
}

static void tree_around(void *context, struct view_chosen chosen)
{
	struct tree_view *self = context;

	folds_leave(&self->folds, tree_of(self));
	if (!self->around.name)
		self->before = self->list;
	self->around = chosen;
	stay(self);
	self->centred = false;
	if (chosen.name)
		list_rewind(&self->list);
	else
		self->list = self->before;	/* Esc goes back to its row */
	drop_other(self);
	fill(self);
	if (chosen.name)
		centre(self);
}

static void tree_way_to(void *context, struct view_way *way)
{
	const struct tree_view *self = context;
	const struct tree_line *line = selected(self);

	if (line)
		tree_row_way(tree_of(self), order_at(self, line), line->row, symbols_of(self), way);
	else if (self->around.name)
		view_way_add(way, '>', self->around.text);
}

/* Those of the visible rows, if they have a column; else that of the cursor's row, for the detail line. */
static void ask_lines(const struct tree_view *self, struct call_tree_request *request)
{
	if (!columns_of(self, self->area.columns).source.width) {
		if (self->list.cursor < self->lines.count)
			request->lines[request->line_count++] = row_key(self, self->list.cursor);
		return;
	}
	for (size_t i = 0; i < self->wanted.count && i < TREE_TRENDS; i++)
		request->lines[request->line_count++] = self->wanted.keys[i];
}

static void ask_trends(const struct tree_view *self, struct tree_question *tree)
{
	if (columns_of(self, self->area.columns).trend.width)
		for (size_t i = 0; i < self->wanted.count && i < TREE_TRENDS; i++)
			tree->trends[tree->trend_count++] = self->wanted.keys[i];
}

static const struct request *tree_ask(void *context, const struct scope *scope)
{
	struct tree_view *self = context;
	struct call_tree_request *request = &self->request;
	struct tree_question *tree = &request->tree;
	struct list_rows rows = rows_of(self);

	if (self->area.rows < 1)
		return NULL;
	wanted_update(&self->wanted, &self->list, &rows);
	memset(request, 0, sizeof(*request));
	request->request.kind = &call_tree_kind;
	request->request.pause_ms = PAUSE_MS;
	scope_excerpt(scope, &request->request.excerpt);
	tree->orders = self->around.name ? 1 << TREE_DOWN | 1 << TREE_UP : 1u << self->order;
	tree->recursion = self->recursion;
	tree->of = self->around.name;
	tree->deepest = self->around.name ? 1 : 0;
	folds_ask(&self->folds, tree);
	ask_trends(self, tree);
	ask_lines(self, request);
	return &request->request;
}

static void tree_forget_details(struct request *request)
{
	struct call_tree_request *tree = (struct call_tree_request *)request;

	memset(tree->tree.trends, 0, sizeof(tree->tree.trends));
	memset(tree->lines, 0, sizeof(tree->lines));
	tree->tree.trend_count = 0;
	tree->line_count = 0;
}

static bool tree_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)scope;
	return answer->kind == &call_tree_kind &&
		((const struct call_tree *)answer)->of == ((const struct tree_view *)context)->around.name;
}

static struct view_told tree_told(const void *context)
{
	const struct tree_view *self = context;
	const struct tree *tree = tree_of(self);

	return (struct view_told) { .known = tree, .rows = self->lines.count, .end = tree ? tree->to : 0 };
}

const struct view view_tree = {
	.name = "Tree",
	.new = tree_new_view,
	.free = tree_free_view,
	.ask = tree_ask,
	.forget_details = tree_forget_details,
	.show = tree_show,
	.draw = tree_draw,
	.takes = tree_takes,
	.told = tree_told,
	.act = tree_act,
	.click = tree_click,
	.search = tree_search,
	.chosen = tree_chosen,
	.choose = tree_choose,
	.around = tree_around,
	.way = tree_way_to,
};
