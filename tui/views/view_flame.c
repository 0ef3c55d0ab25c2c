/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/call_tree.h"
#include "agent/answers/vitals.h"
#include "agent/base/change.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/table.h"
#include "agent/query/tree/tree.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/list.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/flame/flame_cells.h"
#include "tui/views/table/hue.h"
#include "tui/views/tree/tree_lines.h"
#include "config.h"
#include "views.h"

enum { PAUSE_MS = 100, DETAIL_FROM = 6, TEXT = 512, LEAST_MOST = 4096 };

struct flame_view {
	const struct keys *keys;
	const struct vitals *vitals;
	const struct call_tree *answer;	/* NULL: none yet */
	const struct scope *scope;
	struct call_tree_request request;
	enum tree_order order;
	bool upward;			/* a flame: the roots are at the bottom */
	bool recursion;
	struct tree_fold cursor_fold, zoom_fold;	/* where they go once recursion is as it is asked for */
	uint64_t zoom;			/* the path of the widest row; 0: all is shown */
	uint64_t cursor;		/* a path; 0: the first cell */
	struct view_chosen wish;	/* the cursor goes to this function once it has a cell; `name` 0: it stays */
	struct flame_cells cells;
	struct area area;		/* of the last drawing: the whole view */
	struct flame_paint paint;	/* likewise: how its cells were drawn */
};

static const struct tree *tree_of(const struct flame_view *self)
{
	return self->answer ? self->answer->tree : NULL;
}

static const struct function *function_of(const struct flame_view *self, const struct tree_row *row)
{
	return symbols_get(self->answer->answer.symbols, row->function);
}

/* The cell under the cursor; if its row is gone, the widest at the top that has code; NULL: there is none. */
static const struct flame_cell *selected(const struct flame_view *self)
{
	const struct flame_cell *widest = self->cells.count ? self->cells.cells : NULL;

	for (size_t i = 0; i < self->cells.count; i++)
		if (self->cells.cells[i].row->path == self->cursor)
			return &self->cells.cells[i];
	for (size_t i = 0; i < self->cells.count && self->cells.cells[i].level == 0; i++)
		if (function_of(self, self->cells.cells[i].row)->known &&
				(!function_of(self, widest->row)->known || self->cells.cells[i].width > widest->width))
			widest = &self->cells.cells[i];
	return widest;
}

static void *flame_new(const struct config *config)
{
	struct flame_view *self = util_alloc(sizeof(*self));

	self->keys = &config->keys;
	return self;
}

static void flame_free(void *context)
{
	struct flame_view *self = context;

	flame_cells_clear(&self->cells);
	free(self);
}

static uint64_t idle_of(const struct flame_view *self, const struct tree_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct function *function = function_of(self, &list->rows[i]);

		if (list->rows[i].depth == 0 && !function->known && strcmp(function->name, "[idle]") == 0)
			return list->rows[i].path;
	}
	return 0;
}

static void fill(struct flame_view *self)
{
	const struct tree *tree = tree_of(self);
	const struct tree_list *list = tree ? &tree->lists[self->order] : NULL;

	self->cells.count = self->cells.merged = 0;
	if (list)
		flame_cells_fill(&self->cells, tree, list, self->answer->answer.symbols, (struct flame_shape) {
			.columns = self->paint.halves ? 2 * self->area.columns : self->area.columns, .zoom = self->zoom,
			.left_out = self->scope->no_idle ? idle_of(self, list) : 0 });
}

/* 0: the cell is no function. */
static uint64_t name_at(const struct flame_view *self, const struct flame_cell *cell)
{
	const struct function *function = function_of(self, cell->row);

	return function->known ? tree_name(function, self->answer->kernel) : 0;
}

/*
 * The cursor goes to the function that was chosen in another view, and stays on its cell, even if it is there already.
 * The function may have no cell yet: that comes with an answer.
 */
static void grant(struct flame_view *self)
{
	const struct flame_cell *cell = selected(self);

	if (!self->wish.name)
		return;
	for (size_t i = 0; i < self->cells.count && name_at(self, cell) != self->wish.name; i++)
		cell = &self->cells.cells[i];
	if (cell && name_at(self, cell) == self->wish.name) {
		self->cursor = cell->row->path;
		self->wish.name = 0;
	}
}

static void fold_at(const struct flame_view *self, uint64_t path, struct tree_fold *fold)
{
	const struct tree *tree = tree_of(self);
	const struct tree_list *list = tree ? &tree->lists[self->order] : NULL;

	for (size_t i = 0; list && i < list->count; i++)
		if (list->rows[i].path == path)
			tree_fold_of(fold, list, &list->rows[i], self->order, false, self->answer->answer.symbols,
				self->answer->kernel);
}

/* Cursor and zoom stay on their rows while recursion is folded or unfolded. */
static void turn_recursion(struct flame_view *self)
{
	self->recursion = !self->recursion;
	fold_at(self, self->cursor, &self->cursor_fold);
	fold_at(self, self->zoom, &self->zoom_fold);
}

/* Somebody has put the cursor elsewhere. */
static void forget_folds(struct flame_view *self)
{
	self->cursor_fold.count = self->zoom_fold.count = 0;
}

static void follow_folds(struct flame_view *self)
{
	const struct tree *tree = tree_of(self);
	uint64_t cursor, zoom;

	if (!tree || self->answer->recursion != self->recursion)
		return;
	cursor = tree_fold_find(&self->cursor_fold, &tree->lists[self->order]);
	zoom = tree_fold_find(&self->zoom_fold, &tree->lists[self->order]);
	self->cursor = cursor ? cursor : self->cursor;
	self->zoom = zoom ? zoom : self->zoom;
}

static void flame_show(void *context, const struct vitals *vitals, struct answer *answer, const struct scope *scope)
{
	struct flame_view *self = context;

	self->vitals = vitals;
	self->scope = scope;
	self->answer = (const struct call_tree *)answer;
	follow_folds(self);
	fill(self);
	grant(self);
}

/* ---- drawing ---- */

/* The change of a cell's row since the baseline. False: there is none, or it is not known. */
static bool has_change(const struct flame_view *self, const struct flame_cell *cell, struct change *change)
{
	const struct tree *tree = tree_of(self);

	if (!self->scope->base.until_ns || !tree->base.there)
		return false;
	*change = (struct change) { .chance = true };
	if (cell->row->based)
		*change = tree_total_change(tree, cell->row);
	return cell->row->based;
}

/*
 * With a baseline, the colour tells the change, and with a search, what matches: no longer the function, whose colour
 * may be that of a match.
 */
static uint8_t cell_style(const struct flame_view *self, const struct flame_cell *cell)
{
	const struct function *function = function_of(self, cell->row);
	struct change change;

	if (cell == selected(self))
		return STYLE_FLAME_CURSOR;
	if (list_match(function->name, self->scope->match))
		return STYLE_MATCH;
	if (has_change(self, cell, &change))
		return change_flame_style(change);
	return self->scope->match[0] || (self->scope->base.until_ns && tree_of(self)->base.there) ?
		STYLE_FLAME_SAME : hue_of_cell(function);
}

/* The text of the change in a cell; "": there is none. */
static const char *cell_change(const struct flame_view *self, const struct flame_cell *cell, char text[CHANGE_TEXT])
{
	struct change change;

	return has_change(self, cell, &change) ? change_text(change, CHANGE_NUMBER, text) : "";
}

static void draw_cell(const struct flame_view *self, struct canvas *canvas, const struct flame_cell *cell)
{
	char change[CHANGE_TEXT];

	flame_paint_cell(&self->paint, canvas, cell, cell_style(self, cell), function_of(self, cell->row)->name,
		cell_change(self, cell, change));
}

static void draw_detail(const struct flame_view *self, struct canvas *canvas, struct place place)
{
	const struct flame_cell *cell = selected(self);

	if (cell)
		flame_detail_draw(canvas, place, &(struct flame_detail) {
			.tree = tree_of(self), .order = self->order, .symbols = self->answer->answer.symbols,
			.cell = cell, .merged = self->cells.merged, .match = self->scope->match });
}

static void draw_emptiness(const struct flame_view *self, struct canvas *canvas, struct area area)
{
	const struct tree *tree = tree_of(self);
	struct table like = { .count = self->cells.count, .samples = tree ? tree->samples : 0 };

	if (!tree || !tree->weight)
		emptiness_draw(emptiness(self->vitals, tree ? &like : NULL, self->scope), canvas, area, self->keys);
}

static void flame_draw(void *context, struct canvas *canvas, struct area area)
{
	struct flame_view *self = context;
	int detail = area.rows >= DETAIL_FROM ? 1 : 0;

	self->area = area;
	self->paint = (struct flame_paint) {
		.area = { area.row, area.column, area.rows - detail, area.columns },
		.upward = self->upward, .halves = canvas->halves,
	};
	if (!self->answer || self->paint.area.rows < 1)
		return;
	fill(self);
	for (size_t i = 0; i < self->cells.count; i++)
		flame_paint_merged(&self->paint, canvas, &self->cells.cells[i]);
	for (size_t i = 0; i < self->cells.count; i++)
		draw_cell(self, canvas, &self->cells.cells[i]);
	draw_emptiness(self, canvas, self->paint.area);
	if (detail)
		draw_detail(self, canvas,
			(struct place) { area.row + area.rows - 1, area.column + 1, area.columns - 1 });
}

/* ---- what the user does ---- */

/* The nearest cell on another level, or beside on the same one. */
static void move(struct flame_view *self, int levels, int step)
{
	const struct flame_cell *from = selected(self), *best = NULL;
	int nearest = 0;

	for (size_t i = 0; from && i < self->cells.count; i++) {
		const struct flame_cell *cell = &self->cells.cells[i];
		int distance = cell->column - from->column;

		if (cell->level != from->level + levels || (step && distance * step <= 0))
			continue;
		distance = step ? distance * step : levels < 0 ? (cell->row == from->parent ? 0 : 1) :
			(cell->parent == from->row ? 0 : 100000) - cell->width;
		if (!best || distance < nearest) {
			best = cell;
			nearest = distance;
		}
	}
	if (best && (levels <= 0 || best->parent == from->row))
		self->cursor = best->row->path;
}

/* The row is as wide as the one above it, but for less than a column. */
static bool looks_as_wide(const struct flame_view *self, const struct tree_row *row, const struct tree_row *above)
{
	uint64_t columns = (uint64_t)self->area.columns;

	return row->total * columns > above->total * (columns - 1);
}

/* One step out: the nearest row above the widest that is wider to the eye is the widest now. The cursor stays. */
static bool zoom_out(struct flame_view *self)
{
	const struct flame_cell *cells = self->cells.cells;
	const struct tree_row *above = NULL, *widest = NULL;

	if (!self->zoom)
		return false;
	/* A row comes behind its parent. */
	for (size_t i = self->cells.count; i-- > 0;) {
		if (cells[i].row->path == self->zoom) {
			widest = cells[i].row;
			above = cells[i].parent;
		} else if (cells[i].row == above && looks_as_wide(self, widest, above)) {
			above = cells[i].parent;
		}
	}
	self->zoom = above ? above->path : 0;
	return true;
}

static bool act(struct flame_view *self, enum action action)
{
	const struct flame_cell *cell = selected(self);

	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
		move(self, (action == ACTION_UP) == self->upward ? 1 : -1, 0);
		return true;
	case ACTION_LEFT:
	case ACTION_RIGHT:
		move(self, 0, action == ACTION_LEFT ? -1 : 1);
		return true;
	case ACTION_TOP:
		self->cursor = 0;
		return true;
	case ACTION_OPEN:
		if (!cell || cell->row->path == self->zoom)
			return false;
		self->zoom = self->cursor = cell->row->path;
		return true;
	case ACTION_BACK:
		return zoom_out(self);
	case ACTION_FLIP:
		self->upward = !self->upward;
		return true;
	case ACTION_TURN:
		self->order = self->order == TREE_DOWN ? TREE_UP : TREE_DOWN;
		self->zoom = self->cursor = 0;
		return true;
	case ACTION_RECURSION:
		turn_recursion(self);
		return true;
	default:
		return false;
	}
}

static bool flame_act(void *context, enum action action)
{
	struct flame_view *self = context;
	bool acted;

	forget_folds(self);
	acted = act(self, action);
	if (acted)
		self->wish.name = 0;
	return acted;
}

/* A click puts the cursor on a cell; a click on the cursor's cell zooms, and one more takes a step out. */
static void flame_click(void *context, int row, int column)
{
	struct flame_view *self = context;

	self->wish.name = 0;
	forget_folds(self);
	for (size_t i = 0; i < self->cells.count; i++) {
		const struct flame_cell *cell = &self->cells.cells[i];

		if (!flame_paint_hits(&self->paint, cell, row, column))
			continue;
		if (cell != selected(self))
			self->cursor = cell->row->path;
		else if (cell->row->path == self->zoom)
			zoom_out(self);
		else
			self->zoom = self->cursor = cell->row->path;
		return;
	}
}

static bool flame_search(void *context, const char *pattern, enum list_search where)
{
	struct flame_view *self = context;
	size_t count = self->cells.count, at = selected(self) ? (size_t)(selected(self) - self->cells.cells) : 0;
	size_t step = where == LIST_PREVIOUS ? count - 1 : 1;

	at += where == LIST_HERE ? 0 : step;
	for (size_t i = 0; i < count; i++, at += step)
		if (list_match(function_of(self, self->cells.cells[at % count].row)->name, pattern)) {
			self->cursor = self->cells.cells[at % count].row->path;
			self->wish.name = 0;
			forget_folds(self);
			return true;
		}
	return false;
}

static struct view_chosen flame_chosen(void *context)
{
	const struct flame_view *self = context;
	const struct flame_cell *cell = selected(self);
	struct view_chosen chosen = { .name = 0 };

	if (!cell)
		return chosen;
	chosen = (struct view_chosen) { .name = name_at(self, cell), .put = self->cursor,
		.in_kernel = function_in_kernel(function_of(self, cell->row)) };
	util_print(chosen.text, sizeof(chosen.text), "%s", function_of(self, cell->row)->name);
	return chosen;
}

static void flame_way_to(void *context, struct view_way *way)
{
	const struct flame_view *self = context;
	const struct flame_cell *cell = selected(self);

	if (cell)
		tree_row_way(tree_of(self), self->order, cell->row, self->answer->answer.symbols, way);
}

static void flame_choose(void *context, struct view_chosen chosen)
{
	struct flame_view *self = context;

	self->wish = chosen;
	forget_folds(self);
	grant(self);
}

/*
 * A row is unfolded if it is at least a column wide: 1/least of all, or of the row that is zoomed. That row's share
 * changes all the time, and a question that changes costs an answer at once: so the last one's stays while it is fine
 * enough, and not twice as fine.
 */
static uint32_t least_of(const struct flame_view *self, uint64_t last)
{
	const struct tree *tree = tree_of(self);
	uint64_t least = (uint64_t)self->area.columns;

	for (size_t i = 0; self->zoom && i < self->cells.count; i++)
		if (self->cells.cells[i].row->path == self->zoom && self->cells.cells[i].row->total) {
			least = least * tree->weight / self->cells.cells[i].row->total;
			least = last >= least && last < 2 * least ? last : least + least / 2;
		}
	return (uint32_t)(least < 1 ? 1 : least > LEAST_MOST ? LEAST_MOST : least);
}

static const struct request *flame_ask(void *context, const struct scope *scope)
{
	struct flame_view *self = context;
	struct call_tree_request *request = &self->request;
	uint32_t last = request->tree.least;

	if (self->area.rows < 1)
		return NULL;
	memset(request, 0, sizeof(*request));
	request->request.kind = &call_tree_kind;
	request->request.pause_ms = PAUSE_MS;
	scope_excerpt(scope, &request->request.excerpt);
	request->tree.orders = 1u << self->order;
	request->tree.recursion = self->recursion;
	if (self->zoom)
		request->tree.unfolded[request->tree.unfolded_count++] = self->zoom;
	request->tree.least = least_of(self, last);
	if (selected(self))
		request->lines[request->line_count++] = selected(self)->row->path;
	return &request->request;
}

static void flame_forget_details(struct request *request)
{
	struct call_tree_request *tree = (struct call_tree_request *)request;

	memset(tree->lines, 0, sizeof(tree->lines));
	tree->line_count = 0;
}

static bool flame_takes(const void *context, const struct answer *answer, const struct scope *scope)
{
	(void)context;
	(void)scope;
	return answer->kind == &call_tree_kind && ((const struct call_tree *)answer)->of == 0;
}

static struct view_told flame_told(const void *context)
{
	const struct flame_view *self = context;
	const struct tree *tree = tree_of(self);

	return (struct view_told) { .known = tree, .rows = self->cells.count, .end = tree ? tree->to : 0 };
}

const struct view view_flame = {
	.name = "Flame",
	.new = flame_new,
	.free = flame_free,
	.ask = flame_ask,
	.forget_details = flame_forget_details,
	.show = flame_show,
	.draw = flame_draw,
	.takes = flame_takes,
	.told = flame_told,
	.act = flame_act,
	.click = flame_click,
	.search = flame_search,
	.chosen = flame_chosen,
	.choose = flame_choose,
	.way = flame_way_to,
};
