/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/answers/function_table.h"
#include "agent/base/change_text.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/glyphs.h"
#include "tui/terminal/theme.h"
#include "column.h"

enum {
	MARK = 2,			/* columns for the cursor's '>' and a space */
	FUNCTION_LEAST = 18, THREAD_LEAST = 14, FUNCTION_MOST = 64,	/* columns of a name */
	KEEP_ALWAYS = 9,		/* columns with this `keep`, or a higher one, are never left out */
};
enum { NARROW = 30 };		/* narrower areas show a share with one decimal, and a name */
enum { CHANGE_WORDS_FROM = 60 };	/* narrower areas show a change without its word */

/* Indexes of columns_table. From AT_TREND to AT_RAN, the width depends on the room. */
enum { AT_SELF, AT_TREND = 3, AT_CPU, AT_FUNCTION, AT_OBJECT, AT_SOURCE, AT_RAN, AT_KERNEL, AT_USER, AT_CHANGE };

struct column {
	const char *head, *name;	/* on the screen; in settings: NULL if it cannot be set */
	enum table_column sort;
	int width;			/* the least */
	int keep;			/* when room is short, the column with the lowest is left out first */
	bool right;			/* aligned to the right, as numbers are */
	void (*draw)(struct canvas *canvas, struct place place, const struct row_drawn *row);
};

static const struct column columns_table[COLUMNS] = {
	{ .head = "SELF%", .name = "self", .sort = COLUMN_SELF,
		.width = 7, .keep = KEEP_ALWAYS, .right = true, .draw = row_draw_self },
	{ .head = "TOTAL%", .name = "total", .sort = COLUMN_TOTAL,
		.width = 7, .keep = 7, .right = true, .draw = row_draw_total },
	{ .head = "HITS/s", .name = "hits", .sort = COLUMN_HITS,
		.width = 7, .keep = 6, .right = true, .draw = row_draw_hits },
	[AT_TREND] = { .head = "TREND 60s", .name = "trend", .sort = TABLE_COLUMNS,
		.width = 10, .keep = 4, .draw = row_draw_trend },
	[AT_CPU] = { .head = "CPU", .name = "cpu", .sort = COLUMN_CPU,
		.width = 6, .keep = 2, .draw = row_draw_cpus },
	[AT_FUNCTION] = { .head = "FUNCTION", .name = "function", .sort = COLUMN_FUNCTION,
		.width = FUNCTION_LEAST, .keep = 10, .draw = row_draw_name },
	[AT_OBJECT] = { .head = "OBJECT", .name = "object", .sort = COLUMN_OBJECT,
		.width = 8, .keep = 3, .draw = row_draw_object },
	[AT_SOURCE] = { .head = "SOURCE", .name = "source", .sort = COLUMN_SOURCE,
		.width = 22, .keep = 1, .draw = row_draw_source },
	[AT_RAN] = { .head = "MOSTLY IN", .sort = TABLE_COLUMNS,
		.width = 14, .keep = 5, .draw = row_draw_ran },
	[AT_KERNEL] = { .head = "KERN%", .sort = COLUMN_KERNEL,
		.width = 6, .keep = 6, .right = true, .draw = row_draw_kernel },
	[AT_USER] = { .head = "USER%", .sort = COLUMN_USER,
		.width = 6, .keep = 6, .right = true, .draw = row_draw_user },
	[AT_CHANGE] = { .head = "CHANGE", .sort = COLUMN_CHANGE,
		.width = CHANGE_WIDTH, .keep = 8, .right = true, .draw = row_draw_change },
};

const struct columns columns_standard = { { 0, 1, 2, 3, 4, 5, 6, 7 }, 8, FUNCTION_LEAST, false };
const struct columns columns_threads = {
	{ AT_SELF, AT_KERNEL, AT_USER, AT_TREND, AT_CPU, AT_FUNCTION, AT_OBJECT, AT_RAN }, 8, THREAD_LEAST, true,
};

int column_named(const char *name)
{
	int column = 0;

	while (column < COLUMNS && (!columns_table[column].name || strcmp(columns_table[column].name, name) != 0))
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
	for (int keep = 0; rest(wanted, widths, columns) < wanted->least && keep < KEEP_ALWAYS; keep++)
		for (int i = 0; i < COLUMNS; i++)
			if (columns_table[i].keep == keep)
				widths[i] = 0;
}

struct step {				/* the column gets so much room, if the name keeps so much */
	int column, width, name;
};

static const struct step function_steps[] = {
	{ AT_TREND, 20, 24 }, { AT_SOURCE, 30, 32 }, { AT_CPU, 10, 32 }, { AT_OBJECT, 12, 36 }, { AT_TREND, 30, 36 },
	{ AT_SOURCE, 36, 40 }, { AT_CPU, 16, 40 }, { AT_TREND, 60, 48 }, { 0 },
};
static const struct step thread_steps[] = {	/* the object is the process: its name is as long as the thread's */
	{ AT_RAN, 24, 18 }, { AT_OBJECT, 16, 20 }, { AT_TREND, 20, 20 }, { AT_RAN, 36, 24 }, { AT_CPU, 10, 32 },
	{ AT_TREND, 30, 36 }, { AT_CPU, 16, 40 }, { AT_TREND, 60, 48 }, { 0 },
};

static int most_of_name(const struct columns *wanted, struct column_needs needs)
{
	if (!needs.name || needs.name > FUNCTION_MOST)
		return FUNCTION_MOST;
	return needs.name > wanted->least ? needs.name : wanted->least;
}

/* What the name does not need goes to the object, as far as that needs it, and then to the last column. */
static void share_rest(int widths[COLUMNS], int last, struct column_needs needs, int left)
{
	int missing = needs.object - widths[AT_OBJECT], given = missing < left ? missing : left;

	widths[AT_FUNCTION] -= left;
	if (!widths[AT_OBJECT] || given < 0)
		given = 0;
	widths[AT_OBJECT] += given;
	widths[last] += left - given;
}

/*
 * Gives further room to the columns, a step at a time, as long as the name keeps its width. What is left goes to the
 * name, and what that does not need to others, if the last column is a text.
 */
static void grow(const struct columns *wanted, int widths[COLUMNS], int columns, struct column_needs needs)
{
	const struct step *step = wanted->usage ? thread_steps : function_steps;
	int last = widths[AT_SOURCE] ? AT_SOURCE : AT_RAN, most = most_of_name(wanted, needs);

	for (; step->width; step++) {
		int *width = &widths[step->column], before = *width;

		*width = before ? step->width : 0;
		if (rest(wanted, widths, columns) < step->name) {
			*width = before;
			break;
		}
	}
	widths[AT_FUNCTION] = rest(wanted, widths, columns);
	if (widths[last] && widths[AT_FUNCTION] > most)
		share_rest(widths, last, needs, widths[AT_FUNCTION] - most);
}

/* In a narrow area: self, or its change, and function, whatever columns are wanted. */
static struct column_layout narrow_layout(const struct columns *wanted, int columns, bool change)
{
	struct column_layout layout = { .count = columns > 0 ? 2 : 0, .usage = wanted->usage };

	layout.slots[0] = (struct column_slot) { .index = change ? AT_CHANGE : AT_SELF, .column = 1,
		.width = ROW_NARROW };
	layout.slots[1] = (struct column_slot) { .index = AT_FUNCTION,
		.column = ROW_NARROW + 2, .width = columns - ROW_NARROW - 2 };
	return layout;
}

/* With the column of change, behind that of self, or before all if that is not wanted. */
static struct columns with_change(const struct columns *wanted)
{
	struct columns all = *wanted;
	size_t at = 0;

	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->order[i] == AT_SELF)
			at = i + 1;
	memmove(&all.order[at + 1], &all.order[at], (wanted->count - at) * sizeof(*all.order));
	all.order[at] = AT_CHANGE;
	all.count++;
	return all;
}

struct column_layout column_layout(const struct columns *of, int columns, bool change, struct column_needs needs)
{
	const struct columns all = change ? with_change(of) : *of, *wanted = &all;
	struct column_layout layout = { .usage = wanted->usage };
	int widths[COLUMNS] = { 0 }, at = MARK, before = -1;

	if (columns < NARROW)
		return narrow_layout(wanted, columns, change);
	for (size_t i = 0; i < wanted->count; i++)
		widths[wanted->order[i]] = columns_table[wanted->order[i]].width;
	if (change && columns < CHANGE_WORDS_FROM)
		widths[AT_CHANGE] = CHANGE_NUMBER;
	drop(wanted, widths, columns);
	grow(wanted, widths, columns, needs);
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

bool column_wants_ran(const struct column_layout *layout)
{
	for (size_t i = 0; i < layout->count; i++)
		if (layout->slots[i].index == AT_RAN)
			return true;
	return false;
}

/* A column's head. "" where rows have no such text. Over all machines, "CPU" reads "VM". */
static const char *head_of(const struct column_layout *layout, const struct function_table *functions, int column)
{
	const struct group_heads *heads = &group_heads[functions->by];

	if (column == AT_SELF && layout->usage)
		return filter_off_cpu(&functions->filter) ? "OFF%" : "CPU%";
	if (column == AT_CPU && functions->machines)
		return "VM";
	if (column == AT_SOURCE && functions->by != GROUP_FUNCTION)
		return "";
	if (column == AT_RAN && functions->tells_now)
		return "NOW";
	return column == AT_FUNCTION ? heads->name : column == AT_OBJECT ? heads->object : columns_table[column].head;
}

void column_heads(struct canvas *canvas, struct place place, const struct column_layout *layout,
	enum table_column sort, bool invert, const struct function_table *functions)
{
	for (int i = 0; i < place.width; i++)
		canvas_put(canvas, (struct place) { place.row, place.column + i, 1 }, STYLE_HEAD,
			' ');
	for (size_t i = 0; i < layout->count; i++) {
		const struct column_slot *slot = &layout->slots[i];
		const struct column *column = &columns_table[slot->index];
		struct place at = { place.row, place.column + slot->column, slot->width };
		const char *head = head_of(layout, functions, slot->index);
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
	struct row_drawn row)
{
	row.usage = layout->usage;
	for (size_t i = 0; i < layout->count; i++) {
		const struct column_slot *slot = &layout->slots[i];
		struct place at = { place.row, place.column + slot->column, slot->width };

		columns_table[slot->index].draw(canvas, at, &row);
	}
}
