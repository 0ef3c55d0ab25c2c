/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "tui/terminal/theme.h"
#include "sorted_table.h"

enum {
	MARK = 2,			/* columns for the cursor's '>' and a space */
	DETAIL_STEP = 16,		/* columns by which a key moves the line of detail */
	HEAD = 32,			/* bytes of a head */
};

/* ---- columns ---- */

static int gap_before(const struct sorted_kind *kind, int column)
{
	return column == 0 ? 0 : kind->columns[column].left ? 2 : 1;
}

/* The columns that are left for the name. */
static int room_for_name(const struct sorted_table *table)
{
	const struct sorted_kind *kind = table->kind;
	int room = table->area.columns - MARK;

	for (int i = 0; i < kind->count; i++)
		if (i == kind->name || table->width[i])
			room -= gap_before(kind, i) + (i == kind->name ? 0 : table->width[i]);
	return room;
}

void sorted_lay_out(struct sorted_table *table, struct sorted_names names, uint32_t hidden)
{
	static const int trends[] = { 20, 30, 60 };
	const struct sorted_kind *kind = table->kind;
	int keeps = 0, *trend = &table->width[kind->trend], room;

	for (int i = 0; i < kind->count; i++) {
		table->width[i] = hidden >> i & 1 ? 0 : kind->columns[i].width;
		keeps = kind->columns[i].keep > keeps ? kind->columns[i].keep : keeps;
	}
	for (int keep = 1; keep <= keeps && room_for_name(table) < names.least; keep++)
		for (int i = 0; i < kind->count; i++)
			if (kind->columns[i].keep == keep)
				table->width[i] = 0;
	for (size_t i = 0; i < sizeof(trends) / sizeof(*trends) && *trend && trends[i] <= kind->trend_most; i++)
		if (room_for_name(table) + *trend - trends[i] >= names.wide)
			*trend = trends[i];
	room = room_for_name(table);
	table->width[kind->name] = room < names.most ? room : names.most;
	for (int i = 0, at = MARK; i < kind->count; i++) {
		at += table->width[i] ? gap_before(kind, i) : 0;
		table->from[i] = at;
		at += table->width[i];
	}
}

struct place sorted_cell(const struct sorted_table *table, struct place row, int column)
{
	return (struct place) { row.row, row.column + table->from[column], table->width[column] };
}

/* ---- drawing ---- */

void sorted_draw_heads(const struct sorted_table *table, struct canvas *canvas, const char *name)
{
	const struct sorted_kind *kind = table->kind;
	const struct place row = { table->area.row, table->area.column, table->area.columns };

	for (int i = 0; i < kind->count; i++) {
		const struct sorted_column *column = &kind->columns[i];
		bool sorted = i == table->sort;
		char head[HEAD];

		util_print(head, sizeof(head), "%s%s", i == kind->name ? name : column->head,
			sorted ? glyphs_text(canvas, table->invert ? GLYPH_UP : GLYPH_DOWN) : "");
		(column->left ? canvas_text : canvas_right)(canvas, sorted_cell(table, row, i),
			sorted ? STYLE_SORTED : STYLE_HEAD, head);
	}
}

void sorted_draw_name(struct canvas *canvas, struct place place, const char *name, const char *pattern)
{
	const char *match = list_match(name, pattern);
	int before = match ? (int)(match - name) : 0, length = canvas_width(canvas, pattern);

	canvas_text(canvas, place, STYLE_TEXT, name);
	if (match && before + length <= place.width)
		canvas_restyle(canvas, (struct place) { place.row, place.column + before, length }, STYLE_MATCH);
}

void sorted_draw_cursor(struct canvas *canvas, struct place row)
{
	canvas_put(canvas, row, STYLE_TITLE, '>');
	canvas_restyle(canvas, row, STYLE_CURSOR);
}

/* It moves to the left only until its end is in the middle. */
void sorted_draw_detail(struct sorted_table *table, struct canvas *canvas, struct place place, const char *text)
{
	place.column++;
	place.width--;
	while (table->detail_from > 0 && canvas_width(canvas, text) - table->detail_from < place.width / 2)
		table->detail_from -= DETAIL_STEP;
	table->detail_from = table->detail_from < 0 ? 0 : table->detail_from;
	canvas_text(canvas, place, STYLE_TITLE, canvas_skip(canvas, text, table->detail_from));
}

void sorted_draw_notes(struct canvas *canvas, struct area *area, const char *notes)
{
	struct area at = { area->row, area->column + 1, 0, area->columns - 2 };

	if (!notes[0] || area->rows < 2)
		return;
	at.rows = canvas_rows(canvas, notes, at.columns);
	at.rows = at.rows <= area->rows / 3 ? at.rows : area->rows < 6 ? 1 : area->rows / 3;
	area->rows -= at.rows;
	at.row += area->rows;
	canvas_wrap(canvas, at, STYLE_WARN, notes);
}

void sorted_note(char *notes, size_t size, const char *note)
{
	size_t used = strlen(notes);

	util_print(notes + used, size - used, "%s%s", used ? "; " : "", note);
}

struct area sorted_take_beside(struct area *area, int from, int least, int most)
{
	int third = area->columns / 3, width = third < most ? third : most;
	struct area beside = *area;

	if (area->columns < from)
		return (struct area) { .rows = 0 };
	beside.columns = width < least ? least : width;
	area->columns -= beside.columns;
	beside.column += area->columns;
	return beside;
}

/* ---- what the user does ---- */

/* Or the other way round. */
static void sort_by(struct sorted_table *table, int column)
{
	table->invert = table->sort == column && !table->invert;
	table->sort = column;
}

/* The next column that is shown and sorts, to the right (1) or left (-1), around the ends. */
static int next_column(const struct sorted_table *table, int step)
{
	const struct sorted_kind *kind = table->kind;
	int column = table->sort, tries = kind->count;

	do
		column = (column + step + kind->count) % kind->count;
	while (tries-- && (column == kind->trend || !table->width[column]));
	return column;
}

bool sorted_act(struct sorted_table *table, const struct list_rows *rows, enum action action, bool *sorts)
{
	*sorts = false;
	switch (action) {
	case ACTION_SORT:
	case ACTION_SORT_RIGHT:
	case ACTION_SORT_LEFT:
		sort_by(table, next_column(table, action == ACTION_SORT_LEFT ? -1 : 1));
		return *sorts = true;
	case ACTION_INVERT:
		sort_by(table, table->sort);
		return *sorts = true;
	case ACTION_LEFT:
		table->detail_from = table->detail_from > DETAIL_STEP ? table->detail_from - DETAIL_STEP : 0;
		return true;
	case ACTION_RIGHT:
		table->detail_from += DETAIL_STEP;
		return true;
	default:
		return list_act(&table->list, rows, action);
	}
}

bool sorted_click(struct sorted_table *table, const struct list_rows *rows, int row, int column)
{
	const struct sorted_kind *kind = table->kind;
	size_t line = table->list.top + (size_t)(row - table->rows.row);

	column -= table->area.column;
	if (column < 0 || column >= table->area.columns || !table->rows.rows)
		return false;
	if (row >= table->rows.row && row < table->rows.row + table->rows.rows && line < rows->count)
		list_select(&table->list, rows, line);
	for (int i = 0; row == table->area.row && row < table->rows.row && i < kind->count; i++)
		if (table->width[i] && column >= table->from[i] && column <= table->from[i] + table->width[i]) {
			sort_by(table, i == kind->trend ? kind->trend_sorts : i);
			return true;
		}
	return false;
}
