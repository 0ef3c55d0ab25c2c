/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/answers/function_table.h"
#include "tui/frame/list.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/glyphs.h"
#include "tui/terminal/theme.h"
#include "column.h"

enum {
	MARK = 2,			/* columns for the cursor's '>' and a space */
	FUNCTION_LEAST = 18, FUNCTION_MOST = 64,	/* columns of a function's name */
	FEW_SAMPLES = 30,		/* a share of fewer samples is marked as uncertain */
	KEEP_ALWAYS = 9,		/* columns with this `keep`, or a higher one, are never left out */
};
enum { NARROW = 30, NARROW_SELF = 6 };		/* narrower areas show a share with one decimal, and a name */

/* Indexes of columns_table: the columns whose width depends on the room. */
enum { AT_TREND = 3, AT_CPU, AT_FUNCTION, AT_OBJECT, AT_SOURCE };

struct column {
	const char *head, *name;	/* on the screen; in settings */
	enum table_column sort;
	int width;			/* the least */
	int keep;			/* when room is short, the column with the lowest is left out first */
	bool right;			/* aligned to the right, as numbers are */
	void (*draw)(struct canvas *canvas, struct place place, const struct column_row *row);
};

/* From 5 % on a share is hot, from 0.5 % on it is warm. */
static uint8_t heat(double share)
{
	return share >= 0.05 ? STYLE_HOT : share >= 0.005 ? STYLE_WARM : STYLE_TEXT;
}

static double share_of(uint64_t weight, const struct table *table)
{
	return table->weight ? (double)weight / (double)table->weight : 0;
}

/* "~" marks a share that rests on fewer than FEW_SAMPLES samples. */
static const char *percent(double share, double samples, int decimals, char text[COLUMN_SHARE])
{
	snprintf(text, COLUMN_SHARE, "%s%.*f", samples < FEW_SAMPLES ? "~" : "", decimals, share * 100);
	return text;
}

const char *column_self(const struct table *table, const struct row *row, char text[COLUMN_SHARE])
{
	return percent(share_of(row->self, table), (double)row->samples, 2, text);
}

const char *column_total(const struct table *table, const struct row *row, char text[COLUMN_SHARE])
{
	double share = share_of(row->total, table);

	return percent(share, share * (double)table->samples, 2, text);
}

const char *column_source(const struct function_table *functions, uint32_t function)
{
	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == function)
			return functions->visible[i].line;
	return NULL;
}

static void draw_self(struct canvas *canvas, struct place place, const struct column_row *row)
{
	const struct table *table = row->functions->table;
	bool code = *symbols_get(row->functions->answer.symbols, row->row->function)->object != '\0';
	char text[COLUMN_SHARE];

	canvas_right(canvas, place, code ? heat(share_of(row->row->self, table)) : STYLE_TEXT,
		percent(share_of(row->row->self, table), (double)row->row->samples,
			place.width > NARROW_SELF ? 2 : 1, text));
}

static void draw_total(struct canvas *canvas, struct place place, const struct column_row *row)
{
	const struct table *table = row->functions->table;
	char text[COLUMN_SHARE];

	canvas_right(canvas, place, STYLE_TEXT, column_total(table, row->row, text));
}

static void draw_hits(struct canvas *canvas, struct place place, const struct column_row *row)
{
	const struct table *table = row->functions->table;
	double seconds = (double)(table->to - table->from) / 1e9;
	double hits = seconds > 0 ? (double)row->row->samples / seconds : 0;
	char text[32];

	if (hits >= 1e6)
		snprintf(text, sizeof(text), "%.1fM", hits / 1e6);
	else
		snprintf(text, sizeof(text), "%.*f", hits > 0 && hits < 10 ? 1 : 0, hits);
	canvas_right(canvas, place, STYLE_TEXT, text);
}

/* Scales each row to its own highest column. It shows the shape; the shares beside it show the size. */
static void draw_trend(struct canvas *canvas, struct place place, const struct column_row *row)
{
	uint64_t folded[TABLE_TREND], most = 0;
	const uint64_t *trend = NULL;

	for (size_t i = 0; i < row->functions->visible_count; i++)
		if (row->functions->visible[i].function == row->row->function)
			trend = row->functions->visible[i].trend;
	if (!trend || place.width <= 0 || place.width > TABLE_TREND)
		return;
	glyphs_fold(trend, TABLE_TREND, folded, (size_t)place.width);
	for (int i = 0; i < place.width; i++)
		most = folded[i] > most ? folded[i] : most;
	for (int i = 0; i < place.width; i++)
		glyphs_column(canvas, (struct place) { place.row, place.column + i, 1 }, STYLE_IDLE,
			folded[i] ? (double)folded[i] / (double)most : -1);
}

static void draw_cpus(struct canvas *canvas, struct place place, const struct column_row *row)
{
	char text[64];
	size_t size = (size_t)place.width + 1;

	canvas_text(canvas, place, STYLE_TEXT,
		table_cpus(row->functions->table, row->row, text,
			size < sizeof(text) ? size : sizeof(text)));
}

/* A name that is too long is cut in the middle. Its match is marked only if it is before the cut. */
static void draw_function(struct canvas *canvas, struct place place, const struct column_row *row)
{
	const struct function *function = symbols_get(row->functions->answer.symbols, row->row->function);
	const char *match = list_match(function->name, row->match);
	int before, length;

	canvas_middle(canvas, place, function->known ? STYLE_TEXT : STYLE_DIM, function->name);
	if (!match)
		return;
	length = canvas_width(canvas, row->match);
	before = canvas_width(canvas, function->name) - canvas_width(canvas, match);
	if (before + length > place.width / 2 && canvas_width(canvas, function->name) > place.width)
		return;
	canvas_restyle(canvas, (struct place) { place.row, place.column + before, length },
		STYLE_MATCH);
}

static void draw_object(struct canvas *canvas, struct place place, const struct column_row *row)
{
	const struct function *function = symbols_get(row->functions->answer.symbols, row->row->function);

	canvas_middle(canvas, place, function->kernel ? STYLE_KERNEL : STYLE_USER,
		function->object);
}

static void draw_source(struct canvas *canvas, struct place place, const struct column_row *row)
{
	const char *source = column_source(row->functions, row->row->function);

	if (source)
		canvas_middle(canvas, place, STYLE_DIM, source);
}

static const struct column columns_table[COLUMNS] = {
	{ .head = "SELF%", .name = "self", .sort = COLUMN_SELF,
		.width = 7, .keep = KEEP_ALWAYS, .right = true, .draw = draw_self },
	{ .head = "TOTAL%", .name = "total", .sort = COLUMN_TOTAL,
		.width = 7, .keep = 7, .right = true, .draw = draw_total },
	{ .head = "HITS/s", .name = "hits", .sort = COLUMN_HITS,
		.width = 7, .keep = 6, .right = true, .draw = draw_hits },
	[AT_TREND] = { .head = "TREND 60s", .name = "trend", .sort = TABLE_COLUMNS,
		.width = 10, .keep = 4, .draw = draw_trend },
	[AT_CPU] = { .head = "CPU", .name = "cpu", .sort = COLUMN_CPU,
		.width = 6, .keep = 2, .draw = draw_cpus },
	[AT_FUNCTION] = { .head = "FUNCTION", .name = "function", .sort = COLUMN_FUNCTION,
		.width = FUNCTION_LEAST, .keep = 10, .draw = draw_function },
	[AT_OBJECT] = { .head = "OBJECT", .name = "object", .sort = COLUMN_OBJECT,
		.width = 8, .keep = 3, .draw = draw_object },
	[AT_SOURCE] = { .head = "SOURCE", .name = "source", .sort = COLUMN_SOURCE,
		.width = 22, .keep = 1, .draw = draw_source },
};

const struct columns columns_standard = { { 0, 1, 2, 3, 4, 5, 6, 7 }, COLUMNS };

int column_named(const char *name)
{
	int column = 0;

	while (column < COLUMNS && strcmp(columns_table[column].name, name) != 0)
		column++;
	return column;
}

const char *column_name(int column)
{
	return columns_table[column].name;
}

enum table_column column_sort(int column)
{
	return columns_table[column].sort;
}

/* Spaces between two columns; `before` -1: there is no column before. */
static int gap(int before, int column)
{
	if (before < 0)
		return 0;
	return columns_table[before].right && columns_table[column].right ? 1 : 2;
}

/* The width that is left for the function's name beside the other columns. */
static int rest(const struct columns *wanted, const int widths[COLUMNS], int columns)
{
	int left = columns - MARK, before = -1;

	for (size_t i = 0; i < wanted->count; i++) {
		int column = wanted->order[i];

		if (widths[column] == 0)
			continue;
		left -= gap(before, column) + (column == AT_FUNCTION ? 0 : widths[column]);
		before = column;
	}
	return left;
}

/* Leaves out the least important columns until there is room for a name. SELF% and FUNCTION always stay. */
static void drop(const struct columns *wanted, int widths[COLUMNS], int columns)
{
	for (int keep = 0; rest(wanted, widths, columns) < FUNCTION_LEAST && keep < KEEP_ALWAYS; keep++)
		for (int i = 0; i < COLUMNS; i++)
			if (columns_table[i].keep == keep)
				widths[i] = 0;
}

/*
 * Gives further room to the columns, a step at a time, as long as the name keeps its width. What is left goes to the
 * name, and beyond FUNCTION_MOST to the source.
 */
static void grow(const struct columns *wanted, int widths[COLUMNS], int columns)
{
	static const struct { int column, width, name; } steps[] = {
		{ AT_TREND, 20, 24 }, { AT_SOURCE, 30, 32 }, { AT_CPU, 10, 32 },
		{ AT_OBJECT, 12, 36 }, { AT_TREND, 30, 36 }, { AT_SOURCE, 36, 40 },
		{ AT_CPU, 16, 40 }, { AT_TREND, 60, 48 },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int *width = &widths[steps[i].column], before = *width;

		*width = before ? steps[i].width : 0;
		if (rest(wanted, widths, columns) < steps[i].name) {
			*width = before;
			break;
		}
	}
	widths[AT_FUNCTION] = rest(wanted, widths, columns);
	if (widths[AT_SOURCE] && widths[AT_FUNCTION] > FUNCTION_MOST) {
		widths[AT_SOURCE] += widths[AT_FUNCTION] - FUNCTION_MOST;
		widths[AT_FUNCTION] = FUNCTION_MOST;
	}
}

/* In a narrow area: self and function, whatever columns are wanted. */
static struct column_layout narrow_layout(int columns)
{
	struct column_layout layout = { .count = columns > 0 ? 2 : 0 };

	layout.slots[0] = (struct column_slot) { .column = 1, .width = NARROW_SELF };
	layout.slots[1] = (struct column_slot) { .index = AT_FUNCTION,
		.column = NARROW_SELF + 2, .width = columns - NARROW_SELF - 2 };
	return layout;
}

struct column_layout column_layout(const struct columns *wanted, int columns)
{
	struct column_layout layout = { .count = 0 };
	int widths[COLUMNS] = { 0 }, at = MARK, before = -1;

	if (columns < NARROW)
		return narrow_layout(columns);
	for (size_t i = 0; i < wanted->count; i++)
		widths[wanted->order[i]] = columns_table[wanted->order[i]].width;
	drop(wanted, widths, columns);
	grow(wanted, widths, columns);
	for (size_t i = 0; i < wanted->count; i++) {
		int column = wanted->order[i];

		if (widths[column] == 0)
			continue;
		at += gap(before, column);
		layout.slots[layout.count++] = (struct column_slot) {
			.index = column, .column = at, .width = widths[column] };
		at += widths[column];
		before = column;
	}
	return layout;
}

void column_heads(struct canvas *canvas, struct place place, const struct column_layout *layout,
	enum table_column sort, bool invert, bool machines)
{
	for (int i = 0; i < place.width; i++)
		canvas_put(canvas, (struct place) { place.row, place.column + i, 1 }, STYLE_HEAD,
			' ');
	for (size_t i = 0; i < layout->count; i++) {
		const struct column_slot *slot = &layout->slots[i];
		const struct column *column = &columns_table[slot->index];
		struct place at = { place.row, place.column + slot->column, slot->width };
		const char *head = machines && slot->index == AT_CPU ? "VM" : column->head;
		bool sorted = column->sort == sort;
		char text[32];

		snprintf(text, sizeof(text), "%s%s", head,
			sorted ? glyphs_text(canvas, invert ? GLYPH_UP : GLYPH_DOWN) : "");
		(column->right ? canvas_right : canvas_text)(canvas, at,
			sorted ? STYLE_SORTED : STYLE_HEAD, text);
	}
}

enum table_column column_at(const struct column_layout *layout, int column)
{
	for (size_t i = 0; i < layout->count; i++)
		if (column >= layout->slots[i].column &&
			column <= layout->slots[i].column + layout->slots[i].width)
			return layout->slots[i].index == AT_TREND ? COLUMN_SELF :
				columns_table[layout->slots[i].index].sort;
	return TABLE_COLUMNS;
}

enum table_column column_next(const struct column_layout *layout, enum table_column sort, int step)
{
	int count = (int)layout->count, at = 0;

	for (int i = 0; i < count; i++)
		if (columns_table[layout->slots[i].index].sort == sort)
			at = i;
	for (int i = 0; i < count; i++) {
		enum table_column next;

		at = (at + step + count) % count;
		next = columns_table[layout->slots[at].index].sort;
		if (next != TABLE_COLUMNS)
			return next;
	}
	return sort;
}

void column_row(struct canvas *canvas, struct place place, const struct column_layout *layout,
	const struct column_row *row)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct column_slot *slot = &layout->slots[i];
		struct place at = { place.row, place.column + slot->column, slot->width };

		columns_table[slot->index].draw(canvas, at, row);
	}
}
