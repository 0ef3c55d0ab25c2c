/* SPDX-License-Identifier: MIT */
/* The steps of a walk: what the user does, what guests do, and what the tabs take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/function_page.h"
#include "agent/export/stack_format.h"
#include "agent/fleet/fleet.h"
#include "agent/guest/epoch.h"
#include "tui/frame/key_bar.h"
#include "tui/frame/prompt.h"
#include "tui/frame/view_row.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/input.h"
#include "tui/views/table/column.h"
#include "walk.h"
#include "walk_fleet.h"

/* ---- what the tabs take ---- */

void walk_step(struct walk *walk)
{
	struct model *model = walk_model(walk);
	struct session *own = walk_is_all(walk) ? NULL : &walk_guest(walk)->session;
	const struct function_table *functions;
	const struct vitals *vitals;
	struct session_message messages[WALK_MACHINES];

	for (size_t i = 0; i < walk->machines; i++) {
		struct session *session = &walk->guests[i].session;

		guest_told(&walk->guests[i]);
		messages[i] = session->message;
		session->took_vitals = NULL;
		session->took_functions = NULL;
	}
	tabs_step(walk->tabs, walk->now);
	vitals = own ? own->took_vitals : walk_fleet_vitals();
	functions = own ? own->took_functions : walk_fleet_functions();
	if (functions && (walk_is_tree(model->view) || (own ? own->took_by : walk_fleet_by()) != model->table.by))
		functions = NULL;		/* it was for another view, and is freed */
	if (vitals || functions) {
		model_took(model, vitals, functions);
		cursor_update(model);
	}
	for (size_t i = 0; i < walk->machines; i++)
		if (messages[i].text[0])
			model_told(walk, &walk->guests[i], &messages[i]);
}

/* True: answers wait that were not taken yet. */
static bool guest_has_more(const struct walk_guest *guest)
{
	return guest->session.next && guest->session.next->vitals;
}

void walk_show(struct walk *walk)
{
	size_t one = random_below(&walk->random, 3 * WALK_MACHINES);	/* beyond the last: all machines */

	for (size_t i = 0; i < walk->machines; i++)
		if (!guest_has_more(&walk->guests[i]) && (i == one || one >= walk->machines))
			guest_give(walk, &walk->guests[i]);
	walk_step(walk);
}

/* ---- guests, links, VMs ---- */

static void say(struct walk *walk, struct session *session, bool failed)
{
	if (walk->gathered > 4)
		return;				/* or All's status line would not fit */
	strcpy(session->message.text, failed ? "profiling not turned on: no; try again" : "it was done");
	session->message.failed = failed;
	session->message.profiler = failed || random_below(&walk->random, 2);
	walk_step(walk);
}

static void news(struct walk *walk)
{
	struct random *random = &walk->random;
	struct walk_guest *guest = &walk->guests[random_below(random, walk->machines)];

	switch (random_below(random, 40)) {
	case 0:
		guest->link = (enum link_state)random_below(random, LINK_LOST + 1);
		break;
	case 1: case 2: case 3:
		guest->link = LINK_UP;
		break;
	case 4:
		guest->vm = (enum vm_state)random_below(random, VM_GONE + 1);
		break;
	case 5: case 6: case 7:
		guest->vm = VM_RUNNING;
		break;
	case 8:
		guest->kept = (enum kept_wish)random_below(random, KEPT_OFF + 1);
		break;
	case 9: case 10:
		guest->kept = KEPT_NONE;
		break;
	case 11: case 12:
		if (guest->epoch->known)
			guest_status(guest, random_below(random, 2));
		break;
	case 13:
		if (random_below(random, 10) == 0)
			guest_boot(walk, guest);
		break;
	case 14: case 15: case 16:
		guest_give(walk, guest);		/* another page may be shown by the time they are taken */
		break;
	case 17: case 18:
		say(walk, &guest->session, random_below(random, 2));
		break;
	default:
		guest_goes_on(walk, guest);
	}
}

/* ---- the user ---- */

/* Input for the screen of this model. The model has acted already, for the screen sorts the table itself. */
static void input(struct walk *walk, struct model *model, struct input input, bool quits)
{
	if (quits != (tabs_input(walk->tabs, &input, walk->now) == SCREEN_QUIT))
		walk_fault(walk, quits ? "it does not quit" : "it quits", "");
	cursor_update(model);
	walk_check_snapshots(walk, model);
}

/* ---- keys of which the model does not know what they do in a view without a table: it is looked up ---- */

static bool is_of_time(enum action action)
{
	return action == ACTION_ZERO || action == ACTION_FREEZE || action == ACTION_BASELINE;
}

/* The view may take it for itself: a zoom of the flame, a range or the function of the heat map. */
static bool is_of_zoom(const struct model *model, enum action action)
{
	return action == ACTION_BACK && (model->view == WALK_FLAME || model->view == WALK_HEAT) && !model->cover &&
		!model->match[0];
}

/* From a function's page to what its cursor is on, and back. */
static bool is_of_page(const struct model *model, enum action action)
{
	return model->view == WALK_PAGE && !model->cover &&
		(action == ACTION_OPEN || (action == ACTION_BACK && !model->match[0]));
}

static bool is_looked_up(const struct model *model, enum action action)
{
	bool around = action == ACTION_AROUND && model->view != WALK_PAGE && !model->cover;

	return !model->open && walk_is_tree(model->view) &&
		(is_of_time(action) || around || is_of_zoom(model, action) || is_of_page(model, action));
}

/* A freeze is taken back, or begins now; so do the others. If nothing changed, it says why. */
static void find_time(struct walk *walk, struct model *model, enum action action)
{
	const struct fake_wanted *wanted = &model->wanted;
	uint64_t now = model->vitals ? model->vitals->now : 0;
	bool was = action == ACTION_FREEZE ? model->place.until_ns : action == ACTION_BASELINE && model->base.until_ns;
	bool changed = action == ACTION_FREEZE ? wanted->until_ns != model->place.until_ns :
		action == ACTION_ZERO ? wanted->zero_ns != model->zero || wanted->until_ns != model->place.until_ns :
		wanted->base.until_ns != model->base.until_ns;

	if (was && !changed)
		walk_fault(walk, "it does not end", action == ACTION_FREEZE ? "freeze" : "baseline");
	if (!changed && !(action == ACTION_ZERO && now == model->zero && now))
		model->failed = !model->vitals ? "not yet" : action == ACTION_ZERO ? "not zeroed" :
			action == ACTION_FREEZE ? "not frozen" : "no baseline marked";
	if (changed && action == ACTION_ZERO)
		assert_true(wanted->zero_ns == now && !wanted->until_ns);
	else if (changed && !was)	/* the view's answer may be newer than the vitals */
		assert_in_range(action == ACTION_FREEZE ? wanted->until_ns : wanted->base.until_ns, 1,
			now + NS_PER_SECOND);
	model->zero = wanted->zero_ns;
	if (!wanted->until_ns)
		scope_live(&model->place);
	model->place.until_ns = wanted->until_ns;
	model->place.back_ns = wanted->back_ns;
	model->place.moved = wanted->moved;
	model->base = wanted->base;
}

/* It says that there is no function, or goes to the tree, from which one step leads back. */
static void find_around(struct walk *walk, struct model *model)
{
	char text[WALK_TEXT];
	int from = model->view == WALK_TREE && model->around ? model->around_from : model->view;

	for (int row = 1; row < walk->canvas->rows; row++) {
		walk_row_text(walk, row, text);
		if (strstr(text, "no callers and callees")) {
			model->failed = "no callers and callees";
			return;
		}
	}
	model->around = true;
	model->around_from = from;
	model_look(model, WALK_TREE);
}

/* What is asked for tells whether the screen took something back. */
static void find_back(struct walk *walk, const struct fake_wanted *before)
{
	const struct fake_wanted *after = &walk_model(walk)->wanted;

	if (memcmp(&before->filter, &after->filter, sizeof(before->filter)) != 0 || before->zero_ns != after->zero_ns)
		model_back(walk);
}

/* What it says tells where it went. It says the least where it is the page of another function. */
static void find_opened(struct walk *walk, struct model *model)
{
	static const char functions[] = "the functions of ", code[] = "the code of the function";
	char text[WALK_TEXT], *at;

	for (int row = 1; row < walk->canvas->rows; row++) {
		walk_row_text(walk, row, text);
		if (strstr(text, "not opened")) {
			model->failed = "not opened";
		} else if (strstr(text, code)) {
			model_open_code(model);
		} else if ((at = strstr(text, functions))) {
			at += strlen(functions);
			at[strcspn(at, ";")] = '\0';
			model_open(model, at);
		} else {
			continue;
		}
		return;
	}
}

/* The page of the function before, or the view in which the first page was opened. */
static void find_page(struct walk *walk)
{
	const struct walk_guest *guest = walk_is_all(walk) ? &walk->guests[0] : walk_guest(walk);

	if (guest->session.viewed != &function_page_kind)
		model_back(walk);
}

static void press_and_look(struct walk *walk, uint32_t code, enum action action)
{
	struct model *model = walk_model(walk);
	struct fake_wanted before;

	walk_draw(walk);
	before = model->wanted;
	model->failed = NULL;
	input(walk, model, (struct input) { .kind = INPUT_KEY, .code = code }, false);
	walk_draw(walk);
	if (is_of_time(action))
		find_time(walk, model, action);
	else if (action == ACTION_AROUND)
		find_around(walk, model);
	else if (action == ACTION_OPEN)
		find_opened(walk, model);
	else if (model->view == WALK_PAGE)
		find_page(walk);
	else
		find_back(walk, &before);
}

static void press(struct walk *walk, uint32_t code)
{
	enum action action = keys_action(&walk->config.keys, code);
	struct model *model = walk_model(walk);
	bool quits = action == ACTION_QUIT && !(model->open && prompt_takes(code));

	if (!model->open && !model->cover)
		walk->tally.keys[walk_counted(model)][action]++;
	if (is_looked_up(model, action)) {
		press_and_look(walk, code, action);
		return;
	}
	if (quits)
		model->failed = NULL;
	else
		model_key(walk, code);
	input(walk, model, (struct input) { .kind = INPUT_KEY, .code = code }, quits);
	if (model->heated)
		walk_draw(walk);
}

static void paste(struct walk *walk, uint32_t code)
{
	model_paste(walk, code);
	input(walk, walk_model(walk), (struct input) { .kind = INPUT_PASTE, .code = code }, false);
}

static void scroll(struct walk *walk, bool up)
{
	struct model *model = walk_model(walk);

	walk->tally.mouse[walk_counted(model)][MOUSE_WHEEL]++;
	for (int i = 0; i < 3 && model->cover == COVER_FORMATS; i++)
		model_act(walk, up ? ACTION_UP : ACTION_DOWN);
	for (int i = 0; i < 3 && !model->cover; i++)
		cursor_act(model, up ? ACTION_UP : ACTION_DOWN);
	input(walk, model, (struct input) { .kind = up ? INPUT_SCROLL_UP : INPUT_SCROLL_DOWN }, false);
}

/* A click on a tab shows another screen, as it was left. */
static void click_tab(struct walk *walk)
{
	size_t page = random_below(&walk->random, walk->pages);
	char text[WALK_TEXT], label[64];
	struct input at = { .kind = INPUT_CLICK };
	const char *found;

	walk_row_text(walk, 0, text);
	snprintf(label, sizeof(label), page ? " %zu guest%zu " : " All ", page, page);
	found = strstr(text, label);
	if (!found)
		return;
	for (const char *byte = text; byte <= found; byte++)
		at.column += ((unsigned char)*byte & 0xc0) != 0x80;
	if (tabs_input(walk->tabs, &at, walk->now) != SCREEN_NOTHING)
		walk_fault(walk, "a tab wants something", label);
	walk->page = page;
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
	if (!stack_format_named(text + 4, &format))
		return false;
	if (format == model->choice)
		model_save(walk);
	else
		model->choice = format;
	return true;
}

/* The action of a click on the row with the views' names, above the heads; ACTION_NONE: it is elsewhere. */
static enum action name_clicked(const struct walk *walk, const struct input *at)
{
	static const struct view_name names[WALK_VIEWS] = { { "1", "Functions" }, { "2", "Tree" }, { "3", "Flame" },
		{ "4", "Heat" }, { "5", "Threads" }, { "6", "Annotate" } };
	static const enum action actions[WALK_VIEWS + 1] = { ACTION_FUNCTIONS, ACTION_TREE, ACTION_FLAME,
		ACTION_HEAT, ACTION_THREADS, ACTION_ANNOTATE, ACTION_NONE };
	const struct canvas *canvas = walk->canvas;
	int heads = walk_heads_row(walk);
	struct place row = { heads - 1, 0, canvas->columns };

	if (canvas->rows - walk_has_tab_row(walk, canvas->rows) < 20 || heads < 0 || at->row != heads - 1)
		return ACTION_NONE;
	return actions[view_row_at(canvas, row, names, WALK_VIEWS, at->column)];
}

static bool may_be_done(const struct walk *walk, enum action action);

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

	return model->view != WALK_THREADS || model->table.by == GROUP_THREAD || row != walk_heads_row(walk);
}

/* A click anywhere but on tabs. If it is not known where rows are, it is on the key bar. */
static void click(struct walk *walk)
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
	if (!knows_heads(walk, at.row))
		return;
	model->failed = NULL;
	walk->tally.mouse[walk_counted(model)][MOUSE_CLICK]++;
	if (has_bar && at.row == canvas->rows - 1) {
		action = key_bar_action(&walk->config.keys, canvas->columns, at.column);
		if (!may_be_done(walk, action))
			return;
		model_click_bar(walk, action);
	} else if (name_clicked(walk, &at) != ACTION_NONE) {
		model_click_bar(walk, name_clicked(walk, &at));
	} else if (model->cover != COVER_FORMATS) {
		click_view(walk, &at);
	} else if (!click_formats(walk, &at)) {
		return;
	}
	input(walk, model, at, action == ACTION_QUIT);
}

/*
 * Presses the mouse's button on the time line, and lets it go anywhere. The line is drawn once its first answer has
 * come: then the row above the status line has a bracket.
 */
static void drag(struct walk *walk)
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
	input(walk, model, at, false);
	at.kind = INPUT_RELEASE;
	at.column = (int)random_below(&walk->random, (uint64_t)canvas->columns + 20) - 10;
	at.row = (int)random_below(&walk->random, (uint64_t)canvas->rows);
	input(walk, model, at, false);
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
static void drag_heat(struct walk *walk)
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
	input(walk, model, at, false);
	at.kind = INPUT_RELEASE;
	at.row += (int)random_below(&walk->random, 9) - 4;
	at.column += (int)random_below(&walk->random, 9) - 4;
	input(walk, model, at, false);
}

static void resize(struct walk *walk)
{
	static const struct { int rows, columns; } sizes[] = {
		{ WALK_TALL, WALK_WIDE }, { WALK_TALL, WALK_WIDE }, { WALK_TALL, WALK_WIDE },
		{ 24, 80 }, { 10, 40 }, { 5, 20 }, { 2, 10 }, { 16, 90 },
	};
	size_t i = random_below(&walk->random, sizeof(sizes) / sizeof(*sizes));

	canvas_free(walk->canvas);
	walk->canvas = canvas_new(sizes[i].rows, sizes[i].columns, random_below(&walk->random, 4) != 0);
}

static uint32_t code_of(struct walk *walk, const struct key *row)
{
	uint32_t code = row->codes[random_below(&walk->random, 2)];

	return code ? code : row->codes[0];
}

/* A key of any action, or a character for a prompt. */
static uint32_t any_key(struct walk *walk)
{
	static const char *const pieces[] = { "cpu:1", "cpu:0 ", "cpu:7", "mode:kernel", "mode:idle ",
		"thread:init", "thread:", "pid:5", "alpha", "_", "spin", "zz", "no::such", " ", "!cpu:0 ",
		"under:beta_copy", "cpu:0|cpu:1", "object:kernel ", "process:kernel" };
	struct random *random = &walk->random;
	struct model *model = walk_model(walk);

	if (model->open && strlen(model->text) > WALK_LINE)
		return KEYS_CTRL('U');			/* the text would not fit on the screen any more */
	if (model->open && *walk->piece)
		return (unsigned char)*walk->piece++;
	walk->piece = "";
	if (model->open && random_below(random, 2)) {
		walk->piece = pieces[random_below(random, sizeof(pieces) / sizeof(*pieces))];
		return (unsigned char)*walk->piece++;
	}
	if (model->open && random_below(random, 6) == 0)
		return KEYS_CTRL('U');
	if (model->open && random_below(random, 3) == 0)
		return random_below(random, 3) ? KEYS_ENTER : KEYS_ESCAPE;
	if (random_below(random, 30) == 0)
		return (uint32_t)random_below(random, 128);
	if (model->cover && random_below(random, 2))
		return KEYS_ESCAPE;
	if (random_below(random, 8) == 0)
		return KEYS_ENTER;			/* deeper: some views are a step behind others */
	if (random_below(random, 24) == 0)
		return 'B';				/* or some of the groups would seldom come */
	if (model->view == WALK_PAGE && random_below(random, 24) == 0)
		return 'Z';				/* the page is left so soon that it would seldom stand still */
	return code_of(walk, &walk->config.keys.rows[random_below(random, KEYS_ROWS)]);
}

/* By a click. The model does not know the rows of a tree: such keys are looked up, and there has to be a drawing. */
static bool may_be_done(const struct walk *walk, enum action action)
{
	const struct model *model = &walk->models[walk->page];

	return !is_looked_up(&(struct model) { .view = model->view, .cover = model->cover }, action);
}

static bool changes_view(enum action action)
{
	return action == ACTION_NEXT_VIEW || action == ACTION_FUNCTIONS || action == ACTION_TREE ||
		action == ACTION_FLAME || action == ACTION_HEAT || action == ACTION_THREADS ||
		action == ACTION_ANNOTATE;
}

/* While nothing is drawn, it is not known how far a page goes, and where the cursor is in another view. */
static bool may_be_pressed(const struct walk *walk, uint32_t code)
{
	enum action action = keys_action(&walk->config.keys, code);
	const struct model *model = &walk->models[walk->page];

	if (is_looked_up(model, action) && (walk->canvas->rows != WALK_TALL || walk->canvas->columns != WALK_WIDE ||
			(is_of_zoom(model, action) && model->depth)))
		return false;
	if (action == ACTION_OPEN && strlen(model->filter) > WALK_LINE / 2)
		return false;				/* the filter would not fit on the screen any more */
	if (model->cover == COVER_FORMATS && (action == ACTION_PAGE_UP || action == ACTION_PAGE_DOWN))
		return false;
	return walk->canvas->rows >= SCREEN_LEAST_ROWS ||
		(action != ACTION_PAGE_UP && action != ACTION_PAGE_DOWN && !changes_view(action) &&
		(action != ACTION_OPEN || model->view != WALK_HEAT));
}

static void press_any(struct walk *walk)
{
	uint32_t code = any_key(walk);

	if (may_be_pressed(walk, code))
		press(walk, code);
}

void walk_do_something(struct walk *walk)
{
	struct random *random = &walk->random;

	switch (random_below(random, 24)) {
	case 0:
		walk_draw(walk);			/* a user clicks on what is drawn */
		if (random_below(&walk->random, 4))
			click(walk);
		else
			drag_heat(walk);
		break;
	case 1:
		scroll(walk, random_below(random, 2));
		break;
	case 2:
		walk_draw(walk);
		if (random_below(random, 8) == 0)
			resize(walk);
		else
			drag(walk);
		break;
	case 3:
		paste(walk, 'a' + (uint32_t)random_below(random, 26));
		break;
	case 4: case 5: case 6: case 7: case 8:
		news(walk);
		break;
	case 9: case 10: case 11: case 12:
		walk_show(walk);
		break;
	default:
		press_any(walk);
	}
}
