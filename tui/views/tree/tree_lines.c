/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/call_tree.h"
#include "agent/base/change.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "tui/frame/list.h"
#include "tui/frame/tab_row.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/hue.h"
#include "tree_lines.h"

enum { BITS = 64 };

struct links {				/* of a list's rows, by index; TREE_TOP: none */
	uint32_t *first, *next;		/* `first` has one more entry: the first row at the top */
	uint64_t *more;
};

/* A parent is always before its children; any other is taken for none. */
static uint32_t parent_of(const struct tree_list *list, uint32_t row)
{
	uint32_t parent = list->rows[row].parent;

	return parent < row ? parent : TREE_TOP;
}

static struct links link_rows(const struct tree_list *list)
{
	uint32_t count = (uint32_t)list->count;
	struct links links = {
		.first = util_alloc((list->count + 1) * sizeof(*links.first)),
		.next = util_alloc((list->count + 1) * sizeof(*links.next)),
		.more = util_alloc((list->count + 1) * sizeof(*links.more)),
	};

	memset(links.first, 0xff, (list->count + 1) * sizeof(*links.first));
	for (uint32_t i = count; i-- > 0;) {
		uint32_t parent = parent_of(list, i), at = parent == TREE_TOP ? count : parent;

		links.next[i] = links.first[at];
		links.first[at] = i;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = parent_of(list, i);
		bool beyond = parent != TREE_TOP && links.next[parent] != TREE_TOP;

		links.more[i] = parent == TREE_TOP ? 0 : links.more[parent];
		if (beyond && list->rows[parent].depth < BITS)
			links.more[i] |= UINT64_C(1) << list->rows[parent].depth;
	}
	return links;
}

static void unlink_rows(struct links *links)
{
	free(links->first);
	free(links->next);
	free(links->more);
}

/* The row that is drawn after this one; TREE_TOP: it is the last. */
static uint32_t after(const struct tree_list *list, const struct links *links, uint32_t row, bool skip)
{
	if (!skip && links->first[row] != TREE_TOP)
		return links->first[row];
	while (row != TREE_TOP && links->next[row] == TREE_TOP)
		row = parent_of(list, row);
	return row == TREE_TOP ? TREE_TOP : links->next[row];
}

static bool is_idle(const struct symbols *symbols, const struct tree_row *row)
{
	const struct function *function = row->depth == 0 ? symbols_get(symbols, row->function) : NULL;

	return function && !function->known && !function->address && strcmp(function->name, "[idle]") == 0;
}

static void turn_round(struct tree_line *lines, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct tree_line line = lines[i];

		lines[i] = lines[count - 1 - i];
		lines[count - 1 - i] = line;
	}
}

/* Adds the lines of an order. `up`: they are drawn upward, and the row at the top is left out. */
static void add(struct tree_lines *lines, const struct tree *tree, enum tree_order order, bool up,
	const struct symbols *no_idle)
{
	const struct tree_list *list = &tree->lists[order];
	struct links links = link_rows(list);
	size_t from = lines->count;

	lines->lines = util_grow(lines->lines, from + list->count + 1, sizeof(*lines->lines));
	for (uint32_t row = links.first[list->count], next; row != TREE_TOP; row = next) {
		const struct tree_row *at = &list->rows[row];
		uint32_t parent = parent_of(list, row);
		bool skip = no_idle && is_idle(no_idle, at);

		next = after(list, &links, row, skip);
		if (skip || (up && parent == TREE_TOP))
			continue;
		lines->lines[lines->count++] = (struct tree_line) {
			.row = at, .parent = parent == TREE_TOP ? NULL : &list->rows[parent],
			.order = order, .up = up, .last = links.next[row] == TREE_TOP, .more = links.more[row],
		};
	}
	if (up)
		turn_round(lines->lines + from, lines->count - from);
	unlink_rows(&links);
}

void tree_lines_fill(struct tree_lines *lines, const struct tree *tree, enum tree_order order, bool around,
	const struct symbols *no_idle)
{
	lines->count = 0;
	if (around)
		add(lines, tree, TREE_UP, true, NULL);
	add(lines, tree, around ? TREE_DOWN : order, false, around ? NULL : no_idle);
}

void tree_lines_clear(struct tree_lines *lines)
{
	free(lines->lines);
	*lines = (struct tree_lines) { .count = 0 };
}

/* ---- folds ---- */

static uint32_t place_of(const struct folds *folds, uint64_t path)
{
	uint32_t place = 0;

	while (place < folds->count && folds->unfolded[place] != path)
		place++;
	return place;
}

bool folds_has(const struct folds *folds, uint64_t path)
{
	return place_of(folds, path) < folds->count;
}

bool folds_add(struct folds *folds, uint64_t path)
{
	if (folds_has(folds, path))
		return true;
	if (folds->count == TREE_UNFOLDED)
		return false;
	folds->unfolded[folds->count++] = path;
	return true;
}

/* Each row that the answer has unfolded is unfolded for itself from now on, as far as there is room. */
static void keep(struct folds *folds, const struct tree *tree)
{
	for (int order = 0; tree && order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count; i++)
			if (tree->lists[order].rows[i].unfolded)
				folds_add(folds, tree->lists[order].rows[i].path);
	folds->hot = folds->below = folds->find = 0;
}

void folds_leave(struct folds *folds, const struct tree *tree)
{
	if (folds->hot || folds->below || folds->find)
		keep(folds, tree);
}

void folds_remove(struct folds *folds, const struct tree *tree, uint64_t path)
{
	uint32_t place;

	folds_leave(folds, tree);
	place = place_of(folds, path);
	if (place == folds->count)
		return;
	memmove(&folds->unfolded[place], &folds->unfolded[place + 1],
		(folds->count - place - 1) * sizeof(*folds->unfolded));
	folds->unfolded[--folds->count] = 0;
}

void folds_wish(struct folds *folds, bool all, uint64_t path)
{
	if (folds->hot || folds->below)
		folds_add(folds, folds->hot ? folds->hot : folds->below);
	folds->hot = all ? 0 : path;
	folds->below = all ? path : 0;
}

void folds_find(struct folds *folds, uint64_t name)
{
	folds->find = name;
}

void folds_ask(const struct folds *folds, struct tree_question *question)
{
	question->hot = folds->hot;
	question->below = folds->below;
	question->find = folds->find;
	question->unfolded_count = folds->count;
	memcpy(question->unfolded, folds->unfolded, folds->count * sizeof(*folds->unfolded));
}

void folds_answered(struct folds *folds, const struct call_tree *answer)
{
	if (answer->tree && answer->hot == folds->hot && answer->below == folds->below && answer->find == folds->find)
		folds_leave(folds, answer->tree);
}

/* ---- tree row ---- */

enum {
	MARK = 2, SHARE = 7,		/* columns of the cursor's '>' and a space; of a share */
	FEW_SAMPLES = 30,
	NAME_LEAST = 20,		/* columns that the lines leave for a name */
	STEP = 3,			/* columns of a level */
	GAP = 2,			/* columns between a name and its object */
	CHANGE_FROM = 36,		/* columns from which a change is beside the total */
	CHANGE_WORDS_FROM = 60,		/* and from which it has its word */
};

/* Places the column of changes, behind that of totals or instead of it. Returns how many columns it takes. */
static int place_change(struct tree_columns *all, int columns)
{
	if (columns < CHANGE_FROM) {
		all->change = all->total;
		all->total.width = 0;
		return 0;
	}
	all->change.column = all->total.column + all->total.width + 1;
	all->change.width = columns < CHANGE_WORDS_FROM ? CHANGE_NUMBER : CHANGE_WIDTH;
	return all->change.width + 1;
}

struct tree_columns tree_columns(int columns, bool change)
{
	static const struct { int from, trend; } trends[] = { { 160, 30 }, { 110, 20 }, { 76, 10 } };
	struct tree_columns all = { .total = { MARK, columns < 30 ? SHARE - 1 : SHARE } };
	int at = all.total.column + all.total.width + 1, taken = change ? place_change(&all, columns) : 0;
	int room = columns - taken;

	at += taken;
	if (room >= 60) {
		all.parent.column = at;
		all.parent.width = SHARE;
		at += SHARE + 1;
	}
	if (room >= 50) {
		all.self.column = at;
		all.self.width = SHARE;
		at += SHARE + 1;
	}
	for (size_t i = 0; i < sizeof(trends) / sizeof(*trends) && !all.trend.width; i++)
		if (room >= trends[i].from) {
			all.trend.column = at + 1;
			all.trend.width = trends[i].trend;
			at += trends[i].trend + 2;
		}
	if (room >= 100) {
		all.object.width = 14;
		all.object.column = columns - all.object.width;
		columns -= all.object.width + 2;
	}
	if (room >= 120) {
		all.source.width = room >= 160 ? 30 : 20;
		all.source.column = columns - all.source.width;
		columns -= all.source.width + 2;
	}
	all.name.column = at + (at > MARK + SHARE + 1);
	all.name.width = columns > all.name.column ? columns - all.name.column : 0;
	return all;
}

void tree_row_heads(struct canvas *canvas, struct place place, const struct tree_columns *columns, const char *name)
{
	int row = place.row, left = place.column;

	for (int i = 0; i < place.width; i++)
		canvas_put(canvas, (struct place) { row, left + i, 1 }, STYLE_HEAD, ' ');
	canvas_right(canvas, (struct place) { row, left + columns->total.column, columns->total.width }, STYLE_HEAD,
		"TOTAL%");
	canvas_right(canvas, (struct place) { row, left + columns->change.column, columns->change.width }, STYLE_HEAD,
		"CHANGE");
	canvas_right(canvas, (struct place) { row, left + columns->parent.column, columns->parent.width }, STYLE_HEAD,
		"PARENT%");
	canvas_right(canvas, (struct place) { row, left + columns->self.column, columns->self.width }, STYLE_HEAD,
		"SELF%");
	canvas_text(canvas, (struct place) { row, left + columns->trend.column, columns->trend.width }, STYLE_HEAD,
		"TREND 60s");
	canvas_text(canvas, (struct place) { row, left + columns->name.column, columns->name.width }, STYLE_HEAD, name);
	canvas_text(canvas, (struct place) { row, left + columns->source.column, columns->source.width }, STYLE_HEAD,
		"SOURCE");
	canvas_text(canvas, (struct place) { row, left + columns->object.column, columns->object.width }, STYLE_HEAD,
		"OBJECT");
}

const char *tree_row_share(uint64_t part, uint64_t whole, uint64_t samples, char text[TREE_SHARE])
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;

	snprintf(text, TREE_SHARE, "%s%.2f", samples < FEW_SAMPLES ? "~" : "", share);
	return text;
}

const char *tree_row_self(const struct tree_row *row, enum tree_order order, uint64_t weight, char text[TREE_SHARE])
{
	if (order == TREE_UP && row->parent != TREE_TOP)
		return strcpy(text, "");
	return tree_row_share(order == TREE_UP ? row->total : row->self, weight, UINT64_MAX, text);
}

const char *tree_row_change(const struct tree *tree, const struct tree_row *row, char text[TREE_SHARE])
{
	char change[CHANGE_TEXT];

	text[0] = '\0';
	if (tree->base.there && row->based)
		snprintf(text, TREE_SHARE, " (%.12s)",
			change_text(tree_total_change(tree, row), CHANGE_NUMBER, change));
	return text;
}

/* A row whose baseline is not known has a dash: the answer with it is on its way, or there was no room for it. */
static void draw_change(struct canvas *canvas, struct place place, const struct tree *tree, const struct tree_row *row)
{
	char text[CHANGE_TEXT];
	struct change change;

	if (!tree->base.there || !place.width)
		return;
	if (!row->based) {
		canvas_right(canvas, place, STYLE_DIM, "-");
		return;
	}
	change = tree_total_change(tree, row);
	canvas_right(canvas, place, change_style(change), change_text(change, place.width, text));
}

/* From 5 % on a share is hot, from 0.5 % on it is warm. */
static uint8_t heat(uint64_t part, uint64_t whole)
{
	return part * 20 >= whole ? STYLE_HOT : part * 200 >= whole ? STYLE_WARM : STYLE_TEXT;
}

/*
 * The lines of the levels above, as many of the last ones as have room. The number of those left out is in place of the
 * first one, so that rows of different depths can be told apart. Returns the column behind them.
 */
static int draw_levels(struct canvas *canvas, struct place place, const struct tree_line *line)
{
	int most = (place.width - NAME_LEAST) / STEP, depth = (int)line->row->depth;
	int first = most < 0 ? depth : depth > most ? depth - most : 1;

	place.width = STEP - 1;
	for (int level = first; level < depth; level++, place.column += STEP)
		if (level == first && first > 1)
			canvas_format(canvas, place, STYLE_KEY, "%d", first);
		else if (level < 64 && line->more >> level & 1)
			canvas_put(canvas, (struct place) { place.row, place.column, 1 }, STYLE_DIM,
				canvas->unicode ? 0x2502 : '|');
	return place.column;
}

/* The corner before a name: a line to the parent, and '+' if the row is folded. Returns the column behind it. */
static int draw_corner(struct canvas *canvas, struct place place, const struct tree_line *line)
{
	static const uint32_t corners[2][2] = { { 0x251c, 0x2514 }, { 0x251c, 0x250c } };	/* by up, last */
	static const char ascii[2][2] = { { '|', '\'' }, { '|', ',' } };
	bool folded = line->row->has_more && !line->row->unfolded;
	uint32_t dash = folded ? '+' : canvas->unicode ? 0x2500 : '-';

	if (line->row->depth) {
		canvas_put(canvas, (struct place) { place.row, place.column++, 1 }, STYLE_DIM, canvas->unicode ?
			corners[line->up][line->last] : (unsigned char)ascii[line->up][line->last]);
	}
	canvas_put(canvas, (struct place) { place.row, place.column, 1 }, folded ? STYLE_KEY : STYLE_DIM, dash);
	return place.column + 2;
}

static void mark(struct canvas *canvas, struct place place, const char *name, const char *pattern)
{
	const char *match = list_match(name, pattern);
	int before, length;

	if (!match)
		return;
	length = canvas_width(canvas, pattern);
	before = canvas_width(canvas, name) - canvas_width(canvas, match);
	if (before + length <= place.width / 2 || canvas_width(canvas, name) <= place.width)
		canvas_restyle(canvas, (struct place) { place.row, place.column + before, length }, STYLE_MATCH);
}

/* Where objects have no column, a program's or a module's name has its object behind it, if there is room. */
static void draw_name(struct canvas *canvas, struct place place, const struct tree_line *line,
	const struct tree_row_look *look, bool has_objects)
{
	const struct function *function = symbols_get(look->symbols, line->row->function);
	int end = place.column + place.width, used;

	place.column = draw_levels(canvas, place, line);
	place.column = draw_corner(canvas, place, line);
	place.width = end - place.column;
	used = canvas_middle(canvas, place, hue_of_name(function), function->name);
	mark(canvas, place, function->name, look->match);
	place.column += used + GAP;
	place.width -= used + GAP;
	if (!has_objects && (!function->kernel || function->module) &&
			canvas_width(canvas, function->object) <= place.width)
		canvas_text(canvas, place, function->kernel ? STYLE_KERNEL : STYLE_USER, function->object);
}

void tree_row_draw(struct canvas *canvas, struct place place, const struct tree_columns *columns,
	const struct tree_line *line, const struct tree_row_look *look)
{
	const struct tree_row *row = line->row;
	const struct function *function = symbols_get(look->symbols, row->function);
	uint64_t weight = look->tree->weight;
	char text[TREE_SHARE];
	int left = place.column;

	canvas_right(canvas, (struct place) { place.row, left + columns->total.column, columns->total.width },
		heat(row->total, weight), tree_row_share(row->total, weight, row->samples, text));
	draw_change(canvas, (struct place) { place.row, left + columns->change.column, columns->change.width },
		look->tree, row);
	if (line->parent)
		canvas_right(canvas,
			(struct place) { place.row, left + columns->parent.column, columns->parent.width }, STYLE_TEXT,
			tree_row_share(row->total, line->parent->total, row->samples, text));
	canvas_right(canvas, (struct place) { place.row, left + columns->self.column, columns->self.width }, STYLE_TEXT,
		tree_row_self(row, line->order, weight, text));
	if (row->trend)
		glyphs_trend(canvas, (struct place) { place.row, left + columns->trend.column, columns->trend.width },
			STYLE_IDLE, row->trend, TREE_SECONDS);
	draw_name(canvas, (struct place) { place.row, left + columns->name.column, columns->name.width }, line, look,
		columns->object.width);
	if (row->line)
		canvas_middle(canvas, (struct place) { place.row, left + columns->source.column,
			columns->source.width }, STYLE_DIM, row->line);
	canvas_middle(canvas, (struct place) { place.row, left + columns->object.column, columns->object.width },
		function->kernel ? STYLE_KERNEL : STYLE_USER, function->object);
}

void tree_row_way(const struct tree *tree, enum tree_order order, const struct tree_row *row,
	const struct symbols *symbols, struct view_way *way)
{
	const struct tree_list *list = &tree->lists[order];

	for (; row; row = row->parent < list->count ? &list->rows[row->parent] : NULL)
		view_way_add(way, row->parent != TREE_TOP && order == TREE_UP ? '<' : '>',
			symbols_get(symbols, row->function)->name);
}
