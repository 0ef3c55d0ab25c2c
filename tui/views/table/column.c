/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/answers/function_table.h"
#include "agent/answers/vitals.h"
#include "agent/base/change.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/query/tree/tree.h"
#include "tui/frame/list.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "column.h"
#include "hue.h"

/* ---- what a row shows ---- */

enum { ROW_NARROW = 6 };		/* columns: a share in a place that is no wider has one decimal */
enum { FEW_SAMPLES = 30 };		/* a share of fewer samples is marked as uncertain */

/* From 5 % on a share is hot, from 0.5 % on it is warm. */
static uint8_t heat(double share)
{
	return share >= 0.05 ? STYLE_HOT : share >= 0.005 ? STYLE_WARM : STYLE_TEXT;
}

static double share_of(uint64_t weight, const struct table *table)
{
	return table->weight ? (double)weight / (double)table->weight : 0;
}

enum { ROW_SHARE = 16 };		/* a share in percent: "12.34", "~12.34" */

/* "~" marks a share that rests on fewer than FEW_SAMPLES samples. */
static const char *percent(double share, double samples, int decimals, char text[ROW_SHARE])
{
	snprintf(text, ROW_SHARE, "%s%.*f", samples < FEW_SAMPLES ? "~" : "", decimals, share * 100);
	return text;
}

static const char *row_self_share(const struct table *table, const struct row *row, char text[ROW_SHARE])
{
	return percent(share_of(row->self, table), (double)row->samples, 2, text);
}

static const char *row_total_share(const struct table *table, const struct row *row, char text[ROW_SHARE])
{
	double share = share_of(row->total, table), samples = share * (double)table->samples;

	/* How many there were is not counted: about so many, and those in the function itself. */
	return percent(share, samples > (double)row->samples ? samples : (double)row->samples, 2, text);
}

/* The function's source line, as the answer has it; NULL: not known yet. */
static const char *row_line(const struct function_table *functions, uint32_t function)
{
	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == function)
			return functions->visible[i].line;
	return NULL;
}

/* The use of CPUs: 1 is one CPU, all the time. */
static double usage_of(uint64_t weight, const struct table *table)
{
	uint64_t time = table->to - table->from;

	return time ? share_of(weight, table) * (double)table->time / (double)time : 0;
}

/* Draws the use of CPUs. Without the ns behind the weights it is not known. */
static void draw_usage(struct canvas *canvas, struct place place, const struct row_drawn *row, uint64_t weight)
{
	const struct table *table = row->functions->table;
	double usage = usage_of(weight, table);
	char text[ROW_SHARE];

	if (table->time)
		canvas_right(canvas, place, heat(usage), percent(usage, (double)row->row->samples,
			place.width > ROW_NARROW ? 2 : 1, text));
	else
		canvas_right(canvas, place, STYLE_DIM, "-");
}

static void row_draw_kernel(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	draw_usage(canvas, place, row, row->row->kernel);
}

static void row_draw_user(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	draw_usage(canvas, place, row, row->row->user);
}

static void row_draw_self(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct table *table = row->functions->table;
	bool code = *symbols_get(row->functions->answer.symbols, row->row->function)->object != '\0';
	char text[ROW_SHARE];

	if (row->usage) {
		draw_usage(canvas, place, row, row->row->self);
		return;
	}
	canvas_right(canvas, place, code ? heat(share_of(row->row->self, table)) : STYLE_TEXT,
		percent(share_of(row->row->self, table), (double)row->row->samples,
			place.width > ROW_NARROW ? 2 : 1, text));
}

/* Of self. */
static void row_draw_change(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct table *table = row->functions->table;
	const struct table_base *base = table->base;
	struct change change;
	char text[CHANGE_TEXT];

	if (!base)
		return;
	change = table_self_change(table, row->row);
	if (row->usage && table->time && base->time && base->to > base->from) {
		const struct table then = {
			.from = base->from, .to = base->to, .weight = base->weight, .time = base->time,
		};

		change.share = usage_of(row->row->self, table) -
			usage_of(row->row->base ? base->rows[row->row->base - 1].self : 0, &then);
	}
	canvas_right(canvas, place, change_style(change), change_text(change, place.width, text));
}

static void row_draw_total(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct table *table = row->functions->table;
	char text[ROW_SHARE];

	canvas_right(canvas, place, STYLE_TEXT, row_total_share(table, row->row, text));
}

static void row_draw_hits(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct table *table = row->functions->table;
	double seconds = (double)(table->to - table->from) / (double)NS_PER_SECOND;
	double hits = seconds > 0 ? (double)row->row->samples / seconds : 0;
	char text[32];

	if (hits >= 1e6)
		snprintf(text, sizeof(text), "%.1fM", hits / 1e6);
	else
		snprintf(text, sizeof(text), "%.*f", hits > 0 && hits < 10 ? 1 : 0, hits);
	canvas_right(canvas, place, STYLE_TEXT, text);
}

static void row_draw_trend(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct function_table *functions = row->functions;

	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == row->row->function)
			glyphs_trend(canvas, place, STYLE_IDLE, functions->visible[i].trend, TABLE_TREND);
}

static void row_draw_cpus(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	char text[64];
	size_t size = (size_t)place.width + 1;

	canvas_text(canvas, place, STYLE_TEXT,
		table_cpus(row->functions->table, row->row, text,
			size < sizeof(text) ? size : sizeof(text)));
}

/* A name that is too long is cut in the middle. Its match is marked only if it is before the cut. */
static void row_draw_name(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct function *function = symbols_get(row->functions->answer.symbols, row->row->function);
	const char *match = list_match(function->name, row->match);
	int before, length;

	canvas_middle(canvas, place, row->functions->by == GROUP_FUNCTION ? hue_of_name(function) :
		function->known ? STYLE_TEXT : STYLE_DIM, function->name);
	if (!match)
		return;
	length = canvas_width(canvas, row->match);
	before = canvas_width(canvas, function->name) - canvas_width(canvas, match);
	if (before + length > place.width / 2 && canvas_width(canvas, function->name) > place.width)
		return;
	canvas_restyle(canvas, (struct place) { place.row, place.column + before, length },
		STYLE_MATCH);
}

/* The object of a row of threads, which is a process or a machine, has both the kernel's time and its own. */
static void row_draw_object(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct function *function = symbols_get(row->functions->answer.symbols, row->row->function);
	uint8_t style = function->kernel ? STYLE_KERNEL : STYLE_USER;

	canvas_middle(canvas, place, grouping_is_by_who(row->functions->by) ? STYLE_TEXT : style, function->object);
}

static void row_draw_source(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const char *source = row_line(row->functions, row->row->function);

	if (source)
		canvas_middle(canvas, place, STYLE_DIM, source);
}

/* The function that a visible row ran most (query_ran); NULL: the row is not visible. */
static const struct caller *row_ran(const struct function_table *functions, uint32_t row)
{
	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == row)
			return &functions->visible[i].ran;
	return NULL;
}

static const char *row_now(const struct function_table *functions, uint32_t row)
{
	for (size_t i = 0; i < functions->visible_count; i++)
		if (functions->visible[i].function == row)
			return functions->visible[i].now;
	return "";
}

/*
 * What the thread does now, if that is known of any. Else where the row spends its time: the function in which it ran
 * most, and how much of the row that is.
 */
static void row_draw_ran(struct canvas *canvas, struct place place, const struct row_drawn *row)
{
	const struct caller *ran = row_ran(row->functions, row->row->function);
	const struct function *function;
	char share[ROW_SHARE];
	int room;

	if (row->functions->tells_now) {
		canvas_text(canvas, place, STYLE_TEXT, row_now(row->functions, row->row->function));
		return;
	}
	if (!ran || !ran->weight || !row->row->self)
		return;
	function = symbols_get(row->functions->answer.symbols, ran->function);
	snprintf(share, sizeof(share), " %.0f%%", 100.0 * (double)ran->weight / (double)row->row->self);
	room = place.width - (int)strlen(share);
	if (canvas_width(canvas, function->name) < room)
		room = canvas_width(canvas, function->name);
	canvas_middle(canvas, (struct place) { place.row, place.column, room }, hue_of_name(function), function->name);
	canvas_text(canvas, (struct place) { place.row, place.column + room, (int)strlen(share) }, STYLE_TEXT, share);
}

/* ---- columns ---- */

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
	[AT_RAN] = { .head = "MOSTLY IN", .sort = COLUMN_WAITS,
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
	struct column_layout layout = { .usage = wanted->usage, .waits = needs.waits };
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

static const struct { const char *head, *word; } times[] = {
	[FUNCTION_NOW] = { "NOW", "now" }, [FUNCTION_THEN] = { "THEN", "then" },
	[FUNCTION_BEFORE] = { "BEFORE", "before then" },
};

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
		return times[functions->time].head;
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

static enum table_column sort_of(const struct column_layout *layout, size_t slot)
{
	int index = layout->slots[slot].index;

	return index == AT_RAN && !layout->waits ? TABLE_COLUMNS : columns_table[index].sort;
}

enum table_column column_at(const struct column_layout *layout, int column)
{
	for (size_t i = 0; i < layout->count; i++)
		if (column >= layout->slots[i].column &&
			column <= layout->slots[i].column + layout->slots[i].width)
			return layout->slots[i].index == AT_TREND ? COLUMN_SELF : sort_of(layout, i);
	return TABLE_COLUMNS;
}

enum table_column column_next(const struct column_layout *layout, enum table_column sort, int step)
{
	int count = (int)layout->count, at = 0;

	for (int i = 0; i < count; i++)
		if (sort_of(layout, (size_t)i) == sort)
			at = i;
	for (int i = 0; i < count; i++) {
		enum table_column next;

		at = (at + step + count) % count;
		next = sort_of(layout, (size_t)at);
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

/* ---- one step deeper ---- */

static const struct function *named(const struct function_table *functions, const struct row *row)
{
	return symbols_get(functions->answer.symbols, row->function);
}

bool deeper_is_idle(const struct symbols *symbols, const struct row *row)
{
	const struct function *function = symbols_get(symbols, row->function);

	return !function->known && !function->address && !*function->object && strcmp(function->name, "[idle]") == 0;
}

uint64_t deeper_name(const struct function_table *functions, const struct row *row)
{
	const struct function *function = named(functions, row);

	return function->known ? tree_name(function, functions->kernel) : 0;
}

const char *deeper_words(const struct function_table *functions, const struct row *row, char *words, size_t size)
{
	const struct function *function = named(functions, row);
	bool of_machine = functions->machine_count && grouping_is_of_machine(functions->by);

	return grouping_filter(functions->by, function->name, of_machine ? function->object : NULL, words, size);
}

const char *deeper_line(const struct function_table *functions, const struct row *row, struct view_chosen *of)
{
	const struct caller *ran = row_ran(functions, row->function);
	const char *line = named(functions, row)->name;
	const struct function *function;

	if (functions->by != GROUP_LINE || !ran || !ran->weight || *line == '[')
		return "";
	function = symbols_get(functions->answer.symbols, ran->function);
	*of = (struct view_chosen) { .name = tree_name(function, functions->kernel), .put = true };
	util_print(of->text, sizeof(of->text), "%s", function->name);
	return line;
}

const char *deeper_refusal(const struct function_table *functions, const struct row *row)
{
	const char *name = named(functions, row)->name;

	if (deeper_is_idle(functions->answer.symbols, row))
		return "not opened: [idle] is the time of CPUs without work, no code runs in it; {idle} hides the row";
	if (strcmp(name, "[unknown]") == 0)
		return "not opened: no file that was read names this code; "
			"--kernel, --sysroot or --debug-dir gives one";
	if (strcmp(name, "[no source]") == 0)
		return "not opened: no file that was read has source lines of this code; --debug-dir gives one";
	if (strcmp(name, "[not read yet]") == 0)
		return "not opened: the source lines of this code are being read; wait until they are there";
	if (functions->by == GROUP_LINE)
		return "not opened: the function of this line is not known yet; wait until it is";
	return "not opened: no word of a filter can say this name; {by} shows other rows";
}

/* ---- detail: the line below ---- */

static void write_inlined(FILE *to, const struct function_table *functions, const struct row *row)
{
	if (functions->selected != row->function || functions->inlined_count == 0)
		return;
	fputs("  inlined: ", to);
	for (size_t i = 0; i < functions->inlined_count; i++)
		fprintf(to, "%s%s %.0f%%", i ? ", " : "",
			symbols_get(functions->answer.symbols, functions->inlined[i].function)->name,
			100.0 * (double)functions->inlined[i].weight / (double)functions->inlined_of);
}

static void write_callers(FILE *to, const struct function_table *functions, const struct row *row)
{
	if (functions->selected != row->function || functions->caller_count == 0)
		return;
	fputs("  callers: ", to);
	for (size_t i = 0; i < functions->caller_count; i++) {
		const struct caller *caller = &functions->callers[i];

		fprintf(to, "%s%s %.0f%%", i ? ", " : "",
			symbols_get(functions->answer.symbols, caller->function)->name,
			row->total ? 100.0 * (double)caller->weight / (double)row->total : 0);
	}
}

/* Of a line: the function in whose code it is. */
static void write_function(FILE *to, const struct function_table *functions, const struct row *row)
{
	const struct caller *ran = functions->by == GROUP_LINE ? row_ran(functions, row->function) : NULL;

	if (ran && ran->weight)
		fprintf(to, "  in: %s", symbols_get(functions->answer.symbols, ran->function)->name);
}

/* How the function's total is divided among the machines. */
static void write_machines(FILE *to, const struct function_table *functions, const struct vitals *vitals,
	const struct row *row)
{
	const char *before = "  on: ";

	if (functions->selected != row->function || row->total == 0)
		return;
	for (size_t i = 0; i < functions->machine_count && i < vitals->machine_count; i++) {
		uint64_t total = functions->machines[i].total;

		if (total == 0)
			continue;
		fprintf(to, "%s%s %.0f%%", before, vitals->machines[i].name,
			100.0 * (double)total / (double)row->total);
		before = ", ";
	}
}

/* " (+1.20)" */
static void write_change(FILE *to, const struct table *table, const struct row *row,
	struct change (*change)(const struct table *table, const struct row *row))
{
	char text[CHANGE_TEXT];

	if (table->base)
		fprintf(to, " (%s)", change_text(change(table, row), CHANGE_NUMBER, text));
}

/* A thread, CPU or such has no callers, and one share. The columns may show a share of one CPU; this is of all. */
static void write_shares(FILE *to, const struct function_table *functions, const struct row *row)
{
	const struct table *table = functions->table;
	char share[ROW_SHARE];

	if (!table->weight)
		return;			/* there is no sample: a thread that has a row was traced */
	if (grouping_is_by_who(functions->by)) {
		fprintf(to, "  %s%% of all", row_total_share(table, row, share));
	} else {
		fprintf(to, "  self %s%%", row_self_share(table, row, share));
		write_change(to, table, row, table_self_change);
		fprintf(to, " total %s%%", row_total_share(table, row, share));
	}
	write_change(to, table, row, table_total_change);
}

void detail_write(const struct function_table *functions, const struct vitals *vitals, const struct row *row,
	char text[DETAIL_TEXT])
{
	const struct function *function = symbols_get(functions->answer.symbols, row->function);
	const char *source = row_line(functions, row->function);
	FILE *to = fmemopen(text, DETAIL_TEXT, "w");

	text[0] = '\0';
	if (!to)
		return;
	fputs(function->name, to);
	if (*functions->now && functions->selected == row->function)
		fprintf(to, "  %s: %s", times[functions->time].word, functions->now);
	if (source && *source)
		fprintf(to, "  %s", source);
	write_shares(to, functions, row);
	write_function(to, functions, row);
	write_inlined(to, functions, row);
	if (functions->machines)
		write_machines(to, functions, vitals, row);
	else
		write_callers(to, functions, row);
	if (*function->object)
		fprintf(to, "  %s", function->object);
	if (function->address && !functions->machines)
		fprintf(to, " 0x%" PRIx64, function->address);
	fclose(to);
	text[DETAIL_TEXT - 1] = '\0';
}
