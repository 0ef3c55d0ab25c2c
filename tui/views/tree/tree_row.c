/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/base/change.h"
#include "agent/base/change_text.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "tui/frame/list.h"
#include "tui/frame/tab_row.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/glyphs.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/hue.h"
#include "tree_lines.h"
#include "tree_row.h"

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
