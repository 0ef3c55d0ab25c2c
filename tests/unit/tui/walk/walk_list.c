/* SPDX-License-Identifier: MIT */
/* The model of the table: its cursor, and the column that it is sorted by. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "tui/frame/list.h"
#include "tui/views/table/column.h"
#include "walk.h"

struct table_rows model_rows(const struct model *model)
{
	const struct table *table = model->vitals && model->table.functions ? model->table.functions->table : NULL;

	return table ? (struct table_rows) { table->rows, table->count } :
		(struct table_rows) { NULL, 0 };
}

const char *model_name(const struct model *model, size_t row)
{
	return symbols_get(model->table.functions->answer.symbols, model_rows(model).rows[row].function)->name;
}

/* The row of the cursor's function; the number of rows: it has none. */
static size_t place_of(const struct model *model)
{
	struct table_rows table = model_rows(model);
	size_t row = 0;

	while (row < table.count && table.rows[row].function != model->table.cursor.key)
		row++;
	return row;
}

/* The cursor moves with its function. If that is gone, the cursor keeps its place. */
void cursor_update(struct model *model)
{
	size_t count = model_rows(model).count, place = place_of(model);
	struct cursor *cursor = &model->table.cursor;

	if (!cursor->follow)
		cursor->row = 0;
	else if (place < count)
		cursor->row = place;
	if (cursor->row >= count)
		cursor->row = 0;
	if (cursor->waits && !cursor->follow && count && model_rows(model).rows[0].function != cursor->key)
		cursor->lost = true;
}

bool cursor_was_filtered(const struct model *model)
{
	const struct function_table *functions = model->vitals ? model->table.functions : NULL;
	struct filter filter;

	return functions && functions->table && model->table.filtered != model->filtered &&
		filter_parse(model->filter, &filter, NULL) && filter_equal(&functions->filter, &filter);
}

/*
 * The rows of another boot, another filter or another grouping are shown from the top. In another boot the cursor
 * follows its function.
 */
void cursor_rewind(struct model *model)
{
	const struct function_table *functions = model->table.functions;
	struct cursor *cursor = &model->table.cursor;
	bool filtered = cursor_was_filtered(model);

	if (!functions->table)
		return;
	if (filtered || model->table.rows_boot != functions->answer.boot || model->table.rows_by != functions->by ||
			!filter_equal(&model->table.rows_filter, &functions->filter)) {
		cursor->waits = cursor->waits || (cursor->follow && model->table.rows_by == GROUP_FUNCTION &&
			model->table.rows_boot != functions->answer.boot);
		cursor->follow = false;
		cursor->row = 0;
	}
	if (model->table.restores) {
		cursor->follow = true;
		cursor->key = model->table.restored;
	}
	cursor->lost = cursor->lost || cursor->waits;
	model->table.restores = false;
	model->table.rows_boot = functions->answer.boot;
	model->table.rows_filter = functions->filter;
	model->table.rows_by = functions->by;
	if (filtered)
		model->table.filtered = model->filtered;
}

void cursor_select(struct model *model, size_t row)
{
	struct table_rows table = model_rows(model);
	struct cursor *cursor = &model->table.cursor;

	if (table.count == 0)
		return;
	cursor->row = row < table.count ? row : table.count - 1;
	cursor->key = table.rows[cursor->row].function;
	cursor->follow = true;
}

static void page(struct model *model, bool down)
{
	struct cursor *cursor = &model->table.cursor;
	size_t step = cursor->height > 1 ? cursor->height - 1 : 1;

	cursor->lost = cursor->lost || (cursor->height == 0 && model_rows(model).count != 0);
	if (down)
		cursor_select(model, cursor->row + step);
	else
		cursor_select(model, cursor->row > step ? cursor->row - step : 0);
}

bool cursor_act(struct model *model, enum action action)
{
	struct cursor *cursor = &model->table.cursor;
	bool waits = cursor->waits;

	cursor->waits = false;
	switch (action) {
	case ACTION_UP:
		cursor_select(model, cursor->row ? cursor->row - 1 : 0);
		return true;
	case ACTION_DOWN:
		cursor_select(model, cursor->row + 1);
		return true;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		page(model, action == ACTION_PAGE_DOWN);
		return true;
	case ACTION_TOP:
		cursor_select(model, 0);
		cursor->follow = false;
		return true;
	case ACTION_BOTTOM:
		cursor_select(model, model_rows(model).count);
		return true;
	default:
		cursor->waits = waits;
		return false;
	}
}

bool cursor_search(struct model *model, int step)
{
	size_t count = model_rows(model).count, each = step < 0 ? count - 1 : 1;
	size_t row = model->table.cursor.row + (step ? each : 0);

	for (size_t i = 0; i < count; i++, row += each) {
		if (list_match(model_name(model, row % count), model->match)) {
			cursor_select(model, row % count);
			return true;
		}
	}
	return false;
}

enum table_column model_sort(const struct model *model)
{
	bool change = model->table.sort == COLUMN_CHANGE;

	return change && !model->base.until_ns ? COLUMN_SELF : model->table.sort;
}

/* The screen sorts the table; walk_rows.c checks that. */
void sort_by(struct model *model, enum table_column column)
{
	model->table.invert = model_sort(model) == column && !model->table.invert;
	model->table.sort = column;
}

struct column_layout model_layout(const struct model *model, struct column_needs needs)
{
	return column_layout(model->view == WALK_THREADS ? &columns_threads : &columns_standard, model->table.columns,
		model->base.until_ns, needs);
}

bool sort_act(struct model *model, enum action action)
{
	struct column_layout layout = model_layout(model, (struct column_needs) { 0 });	/* its widths do not count */

	switch (action) {
	case ACTION_SORT:
	case ACTION_SORT_RIGHT:
		sort_by(model, column_next(&layout, model_sort(model), 1));
		return true;
	case ACTION_SORT_LEFT:
		sort_by(model, column_next(&layout, model_sort(model), -1));
		return true;
	case ACTION_INVERT:
		sort_by(model, model_sort(model));
		return true;
	case ACTION_SORT_CPU:
	case ACTION_SORT_TIME:
		model->table.sort = action == ACTION_SORT_TIME ? COLUMN_TOTAL : COLUMN_SELF;
		model->table.invert = false;
		return true;
	default:
		return false;
	}
}
