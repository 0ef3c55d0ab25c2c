/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/function_page.h"
#include "agent/base/change.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/table.h"
#include "tui/frame/list.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/hue.h"
#include "tui/views/tree/tree_lines.h"
#include "page_body.h"

enum {
	LIGHTEST = 200,			/* a call is left out if it has less than 1/LIGHTEST of the function */
	WIDE = 110, SIDE = 52, GAP = 2,	/* columns from which there are two halves; of the left one; between them */
	CELL = 26, CELL_NARROW = 18,	/* columns of a CPU or mode; without its bar, where there is no room for two */
	SHARE = 8, STEP = 2, INDENT_MOST = 40,
	GAPS_FROM = 12,			/* rows of the body from which there is a gap between two parts */
	WORDS_FROM = 50,		/* columns of a part from which a change has its word */
	COLUMNS_MOST = 4096,		/* more than a body has */
	LEAST_ROWS = 5,			/* a part of the left half has so many rows, or more where there is room */
};

/* ---- the answer ---- */

static const struct tree *tree_of(const struct function_page *page)
{
	return page ? page->tree->tree : NULL;
}

const struct tree_row *page_body_top(const struct function_page *page, enum tree_order order)
{
	const struct tree *tree = tree_of(page);

	return tree && tree->lists[order].count ? &tree->lists[order].rows[0] : NULL;
}

static const struct table *table_of(const struct function_page *page, enum page_table table)
{
	static const struct table none = { .count = 0 };

	return page->tables[table]->table ? page->tables[table]->table : &none;
}

static struct row_base base_of(const struct table *table, const struct row *row)
{
	return table->base && row->base ? table->base->rows[row->base - 1] : (struct row_base) { .self = 0 };
}

/* ---- the processes of its threads ---- */

struct page_process {
	const char *name;		/* borrowed from the page */
	struct portion now, base;	/* of the function's time; base: in the baseline, if there is one */
};

struct page_processes {
	struct page_process *list;	/* the heaviest first; those of equal weight by name */
	size_t count;
};

/* The process of that name, made once. There are no more of them than threads. */
static struct page_process *process_of(struct page_processes *all, struct hash *index, const char *name,
	const struct table *table)
{
	uint64_t hash = hash_text(index, name);
	uint32_t at = 0, position;

	while ((position = hash_next(index, hash, &at)) != HASH_NONE)
		if (strcmp(all->list[position].name, name) == 0)
			return &all->list[position];
	hash_add(index, hash, (uint32_t)all->count);
	all->list[all->count] = (struct page_process) {
		.name = name, .now = { .whole = table->weight, .all = table->samples },
	};
	if (table->base)
		all->list[all->count].base = (struct portion) {
			.whole = table->base->weight, .all = table->base->samples };
	return &all->list[all->count++];
}

static void process_add(struct page_process *to, const struct table *table, const struct row *row)
{
	struct row_base base = base_of(table, row);

	to->now.weight += row->self;
	to->now.samples += row->samples;
	to->base.weight += base.self;
	to->base.samples += base.samples;
}

static int compare_processes(const void *left, const void *right)
{
	const struct page_process *a = left, *b = right;

	if (a->now.weight != b->now.weight)
		return a->now.weight < b->now.weight ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* The processes whose threads run the function; over all machines: the machines. The caller frees the list. */
static struct page_processes page_processes_new(const struct function_page *page)
{
	const struct table *table = page->tables[PAGE_THREADS]->table;
	struct page_processes all = { .count = 0 };
	struct hash index;

	if (!table)
		return all;
	all.list = util_alloc((table->count + 1) * sizeof(*all.list));
	hash_init(&index, NULL);
	for (size_t i = 0; i < table->count; i++) {
		const char *name = symbols_get(page->answer.symbols, table->rows[i].function)->object;

		process_add(process_of(&all, &index, name, table), table, &table->rows[i]);
	}
	hash_clear(&index);
	qsort(all.list, all.count, sizeof(*all.list), compare_processes);
	return all;
}

/* ---- rows of a part, of which only some are on the screen ---- */

/* Keys that only name rows need no secret. But a seed of 0 makes each text the same key, which is 0. */
static const struct hash plain = { .seed = 0x243f6a8885a308d3 };

struct paper {
	struct canvas *canvas;
	const struct page_look *look;
	struct page_rows *rows;
	struct area area;
	int column;			/* its first column in the body */
	int top, row;			/* the first row that is shown; the next one to be drawn */
};

static const struct function *function_of(const struct paper *paper, uint32_t function)
{
	return symbols_get(paper->look->page->answer.symbols, function);
}

/* Where the next row is; width 0: it is not on the screen. */
static struct place next_row(struct paper *paper)
{
	int row = paper->row++ - paper->top;
	bool shown = row >= 0 && row < paper->area.rows;

	return (struct place) { paper->area.row + row, paper->area.column, shown ? paper->area.columns : 0 };
}

/* A row that can be chosen is in the line that was taken last, at so many columns of the paper. */
static void add_row(struct paper *paper, struct page_row row, int column, int width)
{
	struct page_rows *rows = paper->rows;

	if (rows->count == rows->room) {
		rows->room = 2 * rows->room + 64;
		rows->rows = util_grow(rows->rows, rows->room, sizeof(*rows->rows));
	}
	row.key = hash_pair(&plain, row.key, row.kind);
	row.row = paper->row - 1;
	row.column = paper->column + column;
	row.width = width;
	rows->rows[rows->count++] = row;
}

/* Draws the name of a row that can be chosen. One that is searched for is marked. */
static void draw_name(struct paper *paper, struct place place, uint8_t style, struct page_row row)
{
	add_row(paper, row, 0, paper->area.columns);
	if (place.width > 0)
		canvas_middle(paper->canvas, place, list_match(row.name, paper->look->match) ? STYLE_MATCH : style,
			row.name);
}

static void draw_head(struct paper *paper, const char *text)
{
	struct place place;

	if (paper->row && paper->area.rows >= GAPS_FROM)
		next_row(paper);
	place = next_row(paper);
	for (int i = 0; i < place.width; i++)
		canvas_put(paper->canvas, (struct place) { place.row, place.column + i, 1 }, STYLE_HEAD, ' ');
	canvas_text(paper->canvas, (struct place) { place.row, place.column + 1, place.width - 1 }, STYLE_HEAD, text);
}

static void draw_note(struct paper *paper, const char *text)
{
	struct place place = next_row(paper);

	place.column += SHARE + 2;
	place.width -= SHARE + 2;
	canvas_text(paper->canvas, place, STYLE_DIM, text);
}

/* From 50 % of the function on a share is hot, from 10 % on it is warm. */
static uint8_t heat(struct portion portion)
{
	return !portion.weight ? STYLE_TEXT : portion.weight * 2 >= portion.whole ? STYLE_HOT :
		portion.weight * 10 >= portion.whole ? STYLE_WARM : STYLE_TEXT;
}

struct share {				/* of the function's time */
	struct portion now, base;	/* base: where `based` */
	bool compared, based;		/* there is a baseline; what this had in it is known */
};

static struct share table_share(const struct table *table, const struct row *row)
{
	struct row_base base = base_of(table, row);
	struct share share = {
		.now = { row->self, table->weight, row->samples, table->samples },
		.compared = table->base, .based = table->base,
	};

	if (table->base)
		share.base = (struct portion) { base.self, table->base->weight, base.samples, table->base->samples };
	return share;
}

static struct share call_share(const struct tree *tree, const struct tree_row *row, const struct tree_row *top)
{
	return (struct share) {
		.now = { row->total, top->total, row->samples, top->samples },
		.base = { row->base_total, top->base_total, row->base_samples, top->base_samples },
		.compared = tree->base.there, .based = row->based && top->based,
	};
}

/* A dash: what it had is not known; the answer with it is on its way, or there was no room for it. */
static void draw_change(const struct paper *paper, struct place place, const struct share *share)
{
	struct change change = change_of(share->now, share->base);
	char text[CHANGE_TEXT];

	if (share->based)
		canvas_right(paper->canvas, place, change_style(change), change_text(change, place.width, text));
	else
		canvas_right(paper->canvas, place, STYLE_DIM, "-");
}

static void draw_percent(const struct paper *paper, struct place place, const struct share *share)
{
	char text[TREE_SHARE];

	canvas_right(paper->canvas, place, heat(share->now),
		tree_row_share(share->now.weight, share->now.whole, share->now.samples, text));
}

/* Draws a share of the function in percent, and its change. Returns what is left of the place. */
static struct place draw_share(const struct paper *paper, struct place place, const struct share *share)
{
	int used = SHARE + 1, words = place.width < WORDS_FROM ? CHANGE_NUMBER : CHANGE_WIDTH;

	if (place.width <= 0)
		return place;
	draw_percent(paper, (struct place) { place.row, place.column, SHARE }, share);
	if (share->compared) {
		draw_change(paper, (struct place) { place.row, place.column + used, words }, share);
		used += words + 1;
	}
	return (struct place) { place.row, place.column + used + 1, place.width - used - 1 };
}

/* ---- the parts ---- */

/* A part with several rows in a line: the CPUs, or the modes. */
struct cells {
	enum page_table table;
	enum page_row_kind kind;
	const char *head;
};

/* Over all machines the number of its machine, whose name has no room, stands before the CPU's: "2 CPU 0". */
static void draw_cell_name(const struct paper *paper, struct place place, const struct function *named)
{
	int number = named->known && paper->look->machines ? (int)strcspn(named->object, " ") : 0;
	char *text = util_format("%.*s%s%s", number, named->object, number ? " " : "", named->name);

	canvas_middle(paper->canvas, place, STYLE_TEXT, text);
	free(text);
}

/* With a baseline, the change takes the bar's place. */
static void draw_cell(const struct paper *paper, struct place place, int width, const struct table *table,
	const struct row *row)
{
	const struct share share = table_share(table, row);
	struct place text = { place.row, place.column + width - 8, 7 }, bar = { place.row, place.column + 9, 9 };

	draw_cell_name(paper, (struct place) { place.row, place.column + 1, 7 }, function_of(paper, row->function));
	if (share.compared && width == CELL) {
		draw_change(paper, text, &share);
		text.column -= CHANGE_NUMBER + 1;
	} else if (width == CELL) {
		glyphs_bar(paper->canvas, bar, STYLE_KERNEL, change_share(share.now.weight, share.now.whole));
	}
	draw_percent(paper, text, &share);
}

static void draw_cells(struct paper *paper, struct cells cells)
{
	const struct table *table = table_of(paper->look->page, cells.table);
	int width = paper->area.columns < 2 * CELL ? CELL_NARROW : CELL;
	int each = paper->area.columns / width, used = 0;
	struct place place = { 0, 0, 0 };

	draw_head(paper, cells.head);
	for (size_t i = 0; i < table->count; i++) {
		if (used % (each ? each : 1) == 0)
			place = next_row(paper);
		else
			place.column += width;
		add_row(paper, (struct page_row) { .kind = cells.kind, .key = table->rows[i].function,
			.name = function_of(paper, table->rows[i].function)->name,
			.function = table->rows[i].function },
			used++ % (each ? each : 1) * width, each ? width : paper->area.columns);
		if (place.width > 0)
			draw_cell(paper, place, width, table, &table->rows[i]);
	}
}

/* What has no row of its own: its share, and how many rows that were. */
static void draw_rest(struct paper *paper, const struct share *share, size_t count)
{
	struct place place;

	if (count == 0)
		return;
	place = draw_share(paper, next_row(paper), share);
	if (place.width > 0)
		canvas_format(paper->canvas, place, STYLE_DIM, "%zu more", count);
}

/* Adds the share of another row of the same part. */
static void add_share(struct share *sum, struct share share)
{
	share.now.weight += sum->now.weight;
	share.now.samples += sum->now.samples;
	share.base.weight += sum->base.weight;
	share.base.samples += sum->base.samples;
	*sum = share;
}

static void draw_processes(struct paper *paper, size_t most)
{
	bool compared = table_of(paper->look->page, PAGE_THREADS)->base;
	struct page_processes all = page_processes_new(paper->look->page);
	struct share rest = { .compared = false };

	draw_head(paper, paper->look->machines ? "ON MACHINE" : "RUN BY PROCESS");
	for (size_t i = 0; i < all.count; i++) {
		const struct page_process *process = &all.list[i];
		struct share share = { process->now, process->base, compared, compared };

		if (i >= most)
			add_share(&rest, share);
		else
			draw_name(paper, draw_share(paper, next_row(paper), &share), STYLE_TEXT, (struct page_row) {
				.kind = PAGE_ROW_PROCESS, .key = hash_text(&plain, process->name),
				.name = process->name });
	}
	draw_rest(paper, &rest, all.count > most ? all.count - most : 0);
	free(all.list);
}

/* Rows without time of their own, now and in the baseline, only lead to the function. */
static void draw_table(struct paper *paper, enum page_table of, size_t most)
{
	const struct table *table = table_of(paper->look->page, of);
	struct share rest = { .compared = false };
	size_t count = 0;

	draw_head(paper, of == PAGE_LINES ? "ITS OWN TIME, BY LINE" : "RUN BY THREAD");
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];
		const struct function *function = function_of(paper, row->function);
		struct share share = table_share(table, row);

		if (!row->self && !share.base.weight)
			continue;
		if (count++ >= most) {
			add_share(&rest, share);
			continue;
		}
		draw_name(paper, draw_share(paper, next_row(paper), &share), function->known ? STYLE_TEXT : STYLE_DIM,
			(struct page_row) { .kind = of == PAGE_LINES ? PAGE_ROW_LINE : PAGE_ROW_THREAD,
				.key = row->function, .name = function->name, .function = row->function });
	}
	draw_rest(paper, &rest, count > most ? count - most : 0);
	if (count == 0)
		draw_note(paper, of == PAGE_LINES ? "it only calls others" : "none");
}

static bool is_light(struct portion portion)
{
	return portion.weight * LIGHTEST < portion.whole || !portion.whole;
}

/* The chains of calls, heaviest first: those who called it, or those whom it called. */
static void draw_calls(struct paper *paper, enum tree_order order, const char *head)
{
	const struct tree *tree = tree_of(paper->look->page);
	const struct tree_list *list = &tree->lists[order];
	bool any = false;

	draw_head(paper, head);
	if (tree->scarce)
		draw_note(paper, "memory is short: calls are missing");
	for (size_t i = 1; i < list->count; i++) {
		const struct tree_row *row = &list->rows[i];
		const struct function *function = function_of(paper, row->function);
		const struct share share = call_share(tree, row, &list->rows[0]);
		struct place place;
		int indent = STEP * ((int)row->depth - 1);

		if (is_light(share.now) && (!share.based || is_light(share.base)))
			continue;
		any = true;
		place = draw_share(paper, next_row(paper), &share);
		indent = indent < INDENT_MOST ? indent : INDENT_MOST;
		indent = indent < place.width / 2 ? indent : place.width / 2;
		place.column += indent;
		place.width -= indent;
		draw_name(paper, place, hue_of_name(function),
			(struct page_row) { .kind = order == TREE_UP ? PAGE_ROW_CALLER : PAGE_ROW_CALLEE,
				.key = row->path, .name = function->name, .function = row->function });
	}
	if (!any)
		draw_note(paper, order == TREE_UP ? "no caller is known" : "none");
}

static void draw_facts(struct paper *paper, size_t most)
{
	draw_cells(paper, (struct cells) { PAGE_CPUS, PAGE_ROW_CPU, "ON CPU" });
	draw_cells(paper, (struct cells) { PAGE_MODES, PAGE_ROW_MODE, "IN MODE" });
	draw_table(paper, PAGE_LINES, most);
	draw_processes(paper, most);
	draw_table(paper, PAGE_THREADS, most);
}

int page_body_draw(struct canvas *canvas, struct area area, int top, const struct page_look *look,
	struct page_rows *rows)
{
	struct paper left = { canvas, look, rows, area, 0, top, 0 }, right = left;

	rows->count = 0;
	if (area.columns < WIDE) {
		draw_facts(&left, LEAST_ROWS);
		draw_calls(&left, TREE_UP, "CALLED BY");
		draw_calls(&left, TREE_DOWN, "CALLS");
		return left.row;
	}
	left.area.columns = SIDE;
	right.column = SIDE + GAP;
	right.area.column += right.column;
	right.area.columns -= right.column;
	draw_facts(&left, area.rows / 3 > LEAST_ROWS ? (size_t)area.rows / 3 : LEAST_ROWS);
	draw_calls(&right, TREE_UP, "CALLED BY");
	draw_calls(&right, TREE_DOWN, "CALLS");
	return left.row > right.row ? left.row : right.row;
}

/* ---- the rows ---- */

size_t page_rows_find(const struct page_rows *rows, uint64_t key)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].key == key)
			return i;
	return SIZE_MAX;
}

size_t page_rows_near(const struct page_rows *rows, struct page_reach reach, int row, int column)
{
	int nearest = INT_MAX;
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < rows->count; i++) {
		const struct page_row *at = &rows->rows[i];
		int away = abs(at->row - row) * COLUMNS_MOST + abs(at->column - column);

		if (at->row < reach.from || at->row > reach.to || at->column < reach.left ||
				at->column >= reach.right || away >= nearest)
			continue;
		nearest = away;
		best = i;
	}
	return best;
}

struct page_reach page_rows_half(struct area area, const struct page_row *row)
{
	bool halves = area.columns >= WIDE;
	int middle = halves ? SIDE : area.columns;

	return row->column < middle ? (struct page_reach) { 0, INT_MAX, 0, middle } :
		(struct page_reach) { 0, INT_MAX, middle, area.columns };
}

/* ---- the title ---- */

/* " (+1.20)": the change of what it ran itself, of all. "": there is no baseline. */
static const char *own_change(const struct tree *tree, const struct table *lines, char text[TREE_SHARE])
{
	char change[CHANGE_TEXT];

	text[0] = '\0';
	if (lines->base && tree->base.there)
		snprintf(text, TREE_SHARE, " (%.12s)", change_text(change_of(
			(struct portion) { lines->weight, tree->weight, lines->samples, tree->samples },
			(struct portion) { lines->base->weight, tree->base.weight, lines->base->samples,
				tree->base.samples }), CHANGE_NUMBER, change));
	return text;
}

void page_body_title(struct canvas *canvas, struct place place, const struct page_look *look)
{
	const struct tree *tree = tree_of(look->page);
	const struct tree_row *top = page_body_top(look->page, TREE_DOWN);
	const struct function *function = symbols_get(look->page->answer.symbols, top->function);
	const struct table *lines = table_of(look->page, PAGE_LINES);	/* a row is not all of its recursion */
	const char *line = top->line ? top->line : "";
	char total[TREE_SHARE], own[TREE_SHARE], changes[2][TREE_SHARE], address[32] = "";
	int used;

	if (function->address && !look->machines)
		snprintf(address, sizeof(address), "  0x%" PRIx64, function->address);
	canvas_format(canvas, place, STYLE_TITLE, "%s  %s%s%s%s", function->name, line, *line ? "  " : "",
		function->object, address);
	place.row++;
	used = canvas_format(canvas, place, STYLE_TEXT, "self %s%%%s  total %s%%%s of all  %" PRIu64 " sample%s  60s ",
		tree_row_share(lines->weight, tree->weight, lines->samples, own),
		own_change(tree, lines, changes[0]),
		tree_row_share(top->total, tree->weight, top->samples, total),
		tree_row_change(tree, top, changes[1]), top->samples, util_plural(top->samples));
	place.column += used;
	place.width -= used;
	for (int width = 60; top->trend && width >= 10; width -= 10)
		if (width <= place.width) {
			glyphs_trend(canvas, (struct place) { place.row, place.column, width }, STYLE_IDLE, top->trend,
				TREE_SECONDS);
			return;
		}
}
