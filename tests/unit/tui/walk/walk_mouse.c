/* SPDX-License-Identifier: MIT */
/* What a user does with the mouse. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "agent/export/save_format.h"
#include "tui/frame/key_bar.h"
#include "tui/frame/tab_row.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/views/table/column.h"
#include "walk.h"

void walk_scroll(struct walk *walk, bool up)
{
	struct model *model = walk_model(walk);

	walk->tally.mouse[walk_counted(model)][MOUSE_WHEEL]++;
	for (int i = 0; i < 3 && model->cover == COVER_FORMATS; i++)
		model_act(walk, up ? ACTION_UP : ACTION_DOWN);
	for (int i = 0; i < 3 && !model->cover; i++)
		cursor_act(model, up ? ACTION_UP : ACTION_DOWN);
	walk_input(walk, model, (struct input) { .kind = up ? INPUT_SCROLL_UP : INPUT_SCROLL_DOWN }, false);
}

/* The column at which this text begins; -1: it is not there. */
static int column_of(const char *text, const char *wanted)
{
	const char *found = strstr(text, wanted);
	int column = 0;

	for (const char *byte = text; found && byte < found; byte++)
		column += ((unsigned char)*byte & 0xc0) != 0x80;
	return found ? column : -1;
}

/* A click on a tab shows another screen, as it was left. */
static void click_tab(struct walk *walk)
{
	size_t page = random_below(&walk->random, walk->pages);
	char text[WALK_TEXT], label[64];
	struct input at = { .kind = INPUT_CLICK };

	walk_row_text(walk, 0, text);
	snprintf(label, sizeof(label), page ? " %zu guest%zu " : " All ", page, page);
	at.column = column_of(text, label) + 1;
	if (!at.column)
		return;
	if (tabs_input(walk->tabs, &at, walk->now) != SCREEN_NOTHING)
		walk_fault(walk, "a tab wants something", label);
	walk->page = page;
}

/* What names of threads and processes need is seen on the screen: their columns are so wide. */
static struct column_needs needs_on(const struct walk *walk)
{
	const struct model *model = &walk->models[walk->page];
	char text[WALK_TEXT] = "";
	int thread, process, ran;

	if (model->view != WALK_THREADS || walk_heads_row(walk) < 0)
		return (struct column_needs) { 0 };
	walk_row_text(walk, walk_heads_row(walk), text);
	thread = column_of(text, "THREAD");
	process = column_of(text, "PROCESS");
	ran = column_of(text, "MOSTLY IN");
	return (struct column_needs) {
		.name = (process >= 0 ? process : ran) - 2 - thread, .object = ran - 2 - process,
	};
}

/* A click on the head of a column, or on a row. */
static void click_view(struct walk *walk, const struct input *at)
{
	struct model *model = walk_model(walk);
	struct column_layout layout = model_layout(model, needs_on(walk));
	enum table_column head = column_at(&layout, at->column);
	int heads = walk_heads_row(walk), line = at->row - heads - 1;
	size_t row = walk_top(walk) + (size_t)line;

	if (heads < 0 || model->cover || walk_is_tree(model->view))
		return;
	if (line == -1 && head != TABLE_COLUMNS)
		sort_by(model, head);
	else if (line >= 0 && (size_t)line < model->table.cursor.height && row < model_rows(model).count)
		cursor_select(model, row);
}

/* A click on a format chooses it; on that under the cursor, it saves. False: there is none, or it is not known. */
static bool click_formats(struct walk *walk, const struct input *at)
{
	struct model *model = walk_model(walk);
	char text[WALK_TEXT];
	size_t format;

	walk_row_text(walk, at->row, text);
	if (walk->canvas->rows != WALK_TALL || model->open || strlen(text) < 5)
		return false;
	text[4 + strcspn(text + 4, " ")] = '\0';
	if (!save_format_named(text + 4, &format))
		return false;
	if (format == model->choice)
		model_save(walk);
	else
		model->choice = format;
	return true;
}

/* Names are shorter where a way stands beside them. */
static bool has_way(const struct canvas *canvas, struct place row, const struct view_name names[WALK_VIEWS])
{
	struct canvas *plain = canvas_new(1, canvas->columns, canvas->unicode);
	bool same = true;

	view_row_draw(plain, (struct place) { 0, 0, row.width }, names, WALK_VIEWS, WALK_VIEWS,
		&(struct view_way) { .count = 0 });
	for (int i = 0; i < canvas->columns; i++)
		same = same && (canvas_cell(plain, 0, i)->code == ' ' ||
			canvas_cell(plain, 0, i)->code == canvas_cell(canvas, row.row, i)->code);
	canvas_free(plain);
	return !same;
}

/* The action of a click on the row with the views' names, above the heads; ACTION_NONE: it is elsewhere. */
static enum action name_clicked(const struct walk *walk, const struct input *at)
{
	static const struct view_name names[WALK_VIEWS] = { { "1", "Functions" }, { "2", "Tree" }, { "3", "Flame" },
		{ "4", "Heat" }, { "5", "Threads" }, { "6", "Annotate" }, { "7", "Events" },
		{ "8", "Timeline" }, { "9", "Memory" } };
	static const enum action actions[WALK_VIEWS + 1] = { ACTION_FUNCTIONS, ACTION_TREE, ACTION_FLAME,
		ACTION_HEAT, ACTION_THREADS, ACTION_ANNOTATE, ACTION_EVENTS, ACTION_TIMELINE, ACTION_MEMORY,
		ACTION_NONE };
	const struct canvas *canvas = walk->canvas;
	int heads = walk_heads_row(walk);
	struct place row = { heads - 1, 0, canvas->columns };

	if (canvas->rows - walk_has_tab_row(walk, canvas->rows) < 20 || heads < 0 || at->row != heads - 1)
		return ACTION_NONE;
	return actions[view_row_at(canvas, row, names, WALK_VIEWS, has_way(canvas, row, names), at->column)];
}

/* Without the heads it is not known where rows are, nor in a table without the cursor's mark. */
static bool knows_rows(const struct walk *walk)
{
	const struct model *model = &walk->models[walk->page];

	return model->cover == COVER_FORMATS || (walk_heads_row(walk) >= 0 && (walk_is_tree(model->view) ||
		walk_top(walk) != SIZE_MAX));
}

/* Processes have no object, so their heads do not tell how wide their names are. */
static bool knows_heads(const struct walk *walk, int row)
{
	const struct model *model = &walk->models[walk->page];

	bool threads = model->table.by == GROUP_THREAD && model->table.functions &&
		model->table.functions->by == GROUP_THREAD;	/* those that are shown may be of the grouping before */

	return model->view != WALK_THREADS || threads || row != walk_heads_row(walk);
}

/* A click anywhere but on tabs. If it is not known where rows are, it is on the key bar. */
void walk_click(struct walk *walk)
{
	struct random *random = &walk->random;
	const struct canvas *canvas = walk->canvas;
	int tabs = walk_has_tab_row(walk, canvas->rows);
	bool has_bar = canvas->rows - tabs >= 10, bar = random_below(random, 2);
	struct input at = { .kind = INPUT_CLICK,
		.column = (int)random_below(random, (uint64_t)canvas->columns + 4) - 2 };
	enum action action = ACTION_NONE;
	struct model *model = walk_model(walk);

	if (tabs && random_below(random, 4) == 0) {
		click_tab(walk);
		return;
	}
	if (!bar && knows_rows(walk))
		at.row = tabs + (int)random_below(random, (uint64_t)(canvas->rows - tabs));
	else if (has_bar)
		at.row = canvas->rows - 1;
	else
		return;
	if (!knows_heads(walk, at.row) || at.row == canvas->rows - 3)	/* walk_drag is for the time line */
		return;
	model->failed = NULL;
	walk->tally.mouse[walk_counted(model)][MOUSE_CLICK]++;
	if (has_bar && at.row == canvas->rows - 1) {
		action = key_bar_action(&walk->config.keys, canvas->columns, at.column);
		if (!walk_may_be_clicked(walk, action))
			return;
		model_click_bar(walk, action);
	} else if (name_clicked(walk, &at) != ACTION_NONE) {
		model_click_bar(walk, name_clicked(walk, &at));
	} else if (model->cover != COVER_FORMATS) {
		click_view(walk, &at);
	} else if (!click_formats(walk, &at)) {
		return;
	}
	walk_input(walk, model, at, action == ACTION_QUIT);
	if (walk_model(walk) != model)
		return;
	at.kind = INPUT_RELEASE;
	walk_input(walk, model, at, false);
}

/*
 * Presses the mouse's button on the time line, and lets it go anywhere. The line is drawn once its first answer has
 * come: then the row above the status line has a bracket.
 */
void walk_drag(struct walk *walk)
{
	const struct canvas *canvas = walk->canvas;
	struct input at = { .kind = INPUT_CLICK, .row = canvas->rows - 3 };
	struct model *model = walk_model(walk);
	char text[WALK_TEXT];

	if (canvas->rows != WALK_TALL || model->open || model->cover || !model->vitals || !model->vitals->now)
		return;
	walk_row_text(walk, at.row, text);
	if (!strchr(text, '[') || !strstr(text, "] now"))
		return;
	model->failed = NULL;
	at.column = (int)random_below(&walk->random, (uint64_t)canvas->columns);
	walk_input(walk, model, at, false);
	at.kind = INPUT_RELEASE;
	at.column = (int)random_below(&walk->random, (uint64_t)canvas->columns + 20) - 10;
	at.row = (int)random_below(&walk->random, (uint64_t)canvas->rows);
	walk_input(walk, model, at, false);
	model->dragged = true;
	walk_draw(walk);
}

/* The rows of the heat map begin with their times. Returns how many there are, and the first. */
static int heat_rows(const struct walk *walk, int *first)
{
	char text[WALK_TEXT];
	int count = 0;

	for (int row = 0; row < walk->canvas->rows; row++) {
		walk_row_text(walk, row, text);
		if (strlen(text) > 9 && strncmp(text + 6, "ms ", 3) == 0 && count++ == 0)
			*first = row;
	}
	return count;
}

/* Presses the mouse's button on a cell of the heat map, and lets it go on another, or beside the map. */
void walk_drag_heat(struct walk *walk)
{
	struct model *model = walk_model(walk);
	struct input at = { .kind = INPUT_CLICK };
	int first = 0, count = heat_rows(walk, &first);

	if (model->view != WALK_HEAT || model->cover || !count)
		return;
	model->failed = NULL;
	walk->tally.mouse[WALK_HEAT][MOUSE_HEAT]++;
	at.row = first + (int)random_below(&walk->random, (uint64_t)count);
	at.column = (int)random_below(&walk->random, (uint64_t)walk->canvas->columns);
	walk_input(walk, model, at, false);
	at.kind = INPUT_RELEASE;
	at.row += (int)random_below(&walk->random, 9) - 4;
	at.column += (int)random_below(&walk->random, 9) - 4;
	walk_input(walk, model, at, false);
}
