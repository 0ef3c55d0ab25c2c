/* SPDX-License-Identifier: MIT */
/* Checks the table's rows on the screen: their order, and the cursor's row. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/change.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/grouping.h"
#include "tui/terminal/canvas.h"
#include "walk.h"

enum { MESSAGE = 6 };			/* rows at the bottom that a message may cover */

int walk_heads_row(const struct walk *walk)
{
	char text[WALK_TEXT];

	for (int row = 0; row < walk->canvas->rows && row < WALK_HEADER + 1; row++) {
		walk_row_text(walk, row, text);
		for (int by = 0; (strstr(text, "SELF%") || strstr(text, "CPU%")) && by < GROUPS; by++)
			if (strstr(text, group_heads[by].name))
				return row;
	}
	return -1;
}

static const struct model *model_of(const struct walk *walk)
{
	return &walk->models[walk->page];
}

/* The row of the screen that has the cursor's mark; -1: none has, or a message covers it. */
static int marked_row(const struct walk *walk, int heads)
{
	char text[WALK_TEXT];

	for (int row = heads + 1; heads >= 0 && row < walk->canvas->rows; row++) {
		walk_row_text(walk, row, text);
		if (text[0] == '>')
			return row;
	}
	return -1;
}

size_t walk_top(const struct walk *walk)
{
	const struct model *model = model_of(walk);
	struct table_rows table = model_rows(model);
	int heads = walk_heads_row(walk), marked = marked_row(walk, heads);
	size_t row = 0, above = marked < 0 ? 0 : (size_t)(marked - heads - 1);

	if (table.count == 0)
		return 0;
	while (row < table.count && table.rows[row].function != model->wanted.selected)
		row++;
	return marked >= 0 && row < table.count && row >= above ? row - above : SIZE_MAX;
}

/* How large the change is, whether more or less. */
static double change_of_row(const struct model *model, const struct row *row)
{
	const struct table *table = model->table.functions->table;
	double share = table->base ? table_self_change(table, row).share : 0;

	return share < 0 ? -share : share;
}

/* Above 0: by this column alone, b belongs before a. Changes that look alike may be in any order. */
static int misplaced(const struct model *model, const struct row *a, const struct row *b)
{
	const struct function *one = symbols_get(model->table.functions->answer.symbols, a->function);
	const struct function *other = symbols_get(model->table.functions->answer.symbols, b->function);
	double more;
	int order;

	switch (model_sort(model)) {
	case COLUMN_CHANGE:
		more = change_of_row(model, b) - change_of_row(model, a);
		return more > 1e-9 ? 1 : more < -1e-9 ? -1 : 0;
	case COLUMN_SELF:
		return (b->self > a->self) - (b->self < a->self);
	case COLUMN_TOTAL:
		return (b->total > a->total) - (b->total < a->total);
	case COLUMN_HITS:
		return (b->samples > a->samples) - (b->samples < a->samples);
	case COLUMN_FUNCTION:
		return strcmp(one->name, other->name);
	case COLUMN_KERNEL:
		return (b->kernel > a->kernel) - (b->kernel < a->kernel);
	case COLUMN_USER:
		return (b->user > a->user) - (b->user < a->user);
	case COLUMN_OBJECT:
		return strcmp(one->object, other->object);
	case COLUMN_SOURCE:
		order = strcmp(one->object, other->object);
		return order ? order : (one->address > other->address) - (one->address < other->address);
	default:
		return 0;
	}
}

/* True: a comes before b among rows that are equal in the sorted column, whatever its direction is. */
static bool beats(const struct row *a, const struct row *b)
{
	return a->self != b->self ? a->self > b->self : a->total > b->total;
}

static void check_order(const struct walk *walk)
{
	const struct model *model = model_of(walk);
	struct table_rows table = model_rows(model);

	for (size_t i = 0; i + 1 < table.count; i++) {
		int wrong = misplaced(model, &table.rows[i], &table.rows[i + 1]);

		if (model->table.invert)
			wrong = -wrong;
		if (wrong == 0 && model_sort(model) != COLUMN_CPU && model_sort(model) != COLUMN_CHANGE)
			wrong = beats(&table.rows[i + 1], &table.rows[i]);
		if (wrong > 0)
			walk_fault(walk, "it is not in order", model_name(model, i));
	}
}

/* The head of the sorted column has the arrow, unless the column has no room. */
static void check_mark(const struct walk *walk, int heads)
{
	const struct model *model = model_of(walk);
	enum group_by by = model->table.functions->by;
	const char *const columns[TABLE_COLUMNS] = {
		[COLUMN_SELF] = model->view == WALK_THREADS ? "CPU%" : "SELF%",
		[COLUMN_TOTAL] = "TOTAL%", [COLUMN_HITS] = "HITS/s", [COLUMN_KERNEL] = "KERN%", [COLUMN_USER] = "USER%",
		[COLUMN_CHANGE] = "CHANGE",
		[COLUMN_CPU] = by == GROUP_CPU || model->view == WALK_THREADS ? "" : "CPU",
		[COLUMN_FUNCTION] = group_heads[by].name,
		[COLUMN_OBJECT] = group_heads[by].object, [COLUMN_SOURCE] = by == GROUP_FUNCTION ? "SOURCE" : "",
	};
	const char *head = model->vitals->machines && model_sort(model) == COLUMN_CPU ? "VM" :
		columns[model_sort(model)];
	char text[WALK_TEXT], wanted[32];

	walk_row_text(walk, heads, text);
	snprintf(wanted, sizeof(wanted), "%s%s", head, model->table.invert ? "▲" : "▼");
	if (walk->canvas->unicode && *head && strstr(text, head) && !strstr(text, wanted))
		walk_fault(walk, "it is not marked as sorting", wanted);
}

/* One row of the screen has the cursor's mark, and names its function. */
static void check_cursor_row(const struct walk *walk, int heads)
{
	const struct model *model = model_of(walk);
	size_t row = model->table.cursor.row, top = walk_top(walk);
	char text[WALK_TEXT];

	if (top == SIZE_MAX)
		return;
	for (size_t i = 0; i < model->table.cursor.height && top + i < model_rows(model).count; i++) {
		int at = heads + 1 + (int)i;

		if (at > walk->canvas->rows - MESSAGE)
			break;
		walk_row_text(walk, at, text);
		if ((text[0] == '>') != (top + i == row))
			walk_fault(walk, "the cursor is not on", model_name(model, row));
		if (walk->canvas->columns == WALK_WIDE && !strstr(text, model_name(model, top + i)))
			walk_fault(walk, "a row is not of", model_name(model, top + i));
	}
	if (row < top || row >= top + model->table.cursor.height)
		walk_fault(walk, "the cursor is out of sight", model_name(model, row));
}

void walk_check_rows(const struct walk *walk)
{
	const struct model *model = model_of(walk);
	struct table_rows table = model_rows(model);
	uint32_t function = table.count ? table.rows[model->table.cursor.row].function : FUNCTION_NONE;
	int heads = walk_heads_row(walk);

	if (model->wanted.selected != function)
		walk_fault(walk, "the cursor is not on",
			table.count ? model_name(model, model->table.cursor.row) : "nothing");
	if (!model->vitals || table.count == 0)
		return;
	check_order(walk);
	if (heads < 0)
		return;
	check_mark(walk, heads);
	check_cursor_row(walk, heads);
}
