/* SPDX-License-Identifier: MIT */
/* The model of the table: its cursor, and the column that it is sorted by. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/filter.h"
#include "tui/frame/list.h"
#include "tui/views/column.h"
#include "walk.h"

struct table_rows model_rows(const struct model *model)
{
	const struct table *table = model->vitals && model->functions ? model->functions->table : NULL;

	return table ? (struct table_rows) { table->rows, table->count } :
		(struct table_rows) { NULL, 0 };
}

const char *model_name(const struct model *model, size_t row)
{
	return symbols_get(model->functions->answer.symbols, model_rows(model).rows[row].function)->name;
}

/* The row of the cursor's function; the number of rows: it has none. */
static size_t place_of(const struct model *model)
{
	struct table_rows table = model_rows(model);
	size_t row = 0;

	while (row < table.count && table.rows[row].function != model->cursor.key)
		row++;
	return row;
}

/* The cursor moves with its function. If that is gone, the cursor keeps its place. */
void cursor_update(struct model *model)
{
	size_t count = model_rows(model).count, place = place_of(model);
	struct cursor *cursor = &model->cursor;

	if (!cursor->follow)
		cursor->row = 0;
	else if (place < count)
		cursor->row = place;
	if (cursor->row >= count)
		cursor->row = 0;
}

/* The rows of another boot or another filter are shown from the top. */
void cursor_rewind(struct model *model)
{
	const struct function_table *functions = model->functions;
	struct cursor *cursor = &model->cursor;

	if (!functions->table)
		return;
	if (model->rows_boot != functions->answer.boot ||
			!filter_equal(&model->rows_filter, &functions->filter)) {
		cursor->follow = false;
		cursor->row = 0;
	}
	model->rows_boot = functions->answer.boot;
	model->rows_filter = functions->filter;
}

void cursor_select(struct model *model, size_t row)
{
	struct table_rows table = model_rows(model);
	struct cursor *cursor = &model->cursor;

	if (table.count == 0)
		return;
	cursor->row = row < table.count ? row : table.count - 1;
	cursor->key = table.rows[cursor->row].function;
	cursor->follow = true;
}

static void page(struct model *model, bool down)
{
	struct cursor *cursor = &model->cursor;
	size_t step = cursor->height > 1 ? cursor->height - 1 : 1;

	cursor->lost = cursor->lost || (cursor->height == 0 && model_rows(model).count != 0);
	if (down)
		cursor_select(model, cursor->row + step);
	else
		cursor_select(model, cursor->row > step ? cursor->row - step : 0);
}

bool cursor_act(struct model *model, enum action action)
{
	struct cursor *cursor = &model->cursor;

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
		return false;
	}
}

bool cursor_search(struct model *model, int step)
{
	size_t count = model_rows(model).count, each = step < 0 ? count - 1 : 1;
	size_t row = model->cursor.row + (step ? each : 0);

	for (size_t i = 0; i < count; i++, row += each) {
		if (list_match(model_name(model, row % count), model->match)) {
			cursor_select(model, row % count);
			return true;
		}
	}
	return false;
}

/* The screen sorts the table; walk_rows.c checks that. */
void sort_by(struct model *model, enum table_column column)
{
	model->invert = model->sort == column && !model->invert;
	model->sort = column;
}

bool sort_act(struct model *model, enum action action)
{
	struct column_layout layout = column_layout(&columns_standard, model->columns);

	switch (action) {
	case ACTION_SORT:
	case ACTION_SORT_RIGHT:
		sort_by(model, column_next(&layout, model->sort, 1));
		return true;
	case ACTION_SORT_LEFT:
		sort_by(model, column_next(&layout, model->sort, -1));
		return true;
	case ACTION_INVERT:
		sort_by(model, model->sort);
		return true;
	default:
		return false;
	}
}
