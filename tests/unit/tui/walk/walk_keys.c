/* SPDX-License-Identifier: MIT */
/* What a user presses and types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/function_page.h"
#include "tui/frame/key_bar.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/column.h"
#include "walk.h"

void walk_input(struct walk *walk, struct model *model, struct input input, bool quits)
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

/* The view may take it for itself: a zoom of the flame, a range or the function of the heat map, Timeline's thread. */
static bool is_of_zoom(const struct model *model, enum action action)
{
	return action == ACTION_BACK && (model->view == WALK_FLAME || model->view == WALK_HEAT ||
		model->view == WALK_TIMELINE) && !model->cover;
}

/* From a function's page to what its cursor is on, and back. */
static bool is_of_page(const struct model *model, enum action action)
{
	return model->view == WALK_PAGE && !model->cover && (action == ACTION_OPEN || action == ACTION_BACK);
}

/* It takes off the mark of the search, if one is seen. */
static bool is_of_mark(const struct model *model, enum action action)
{
	return action == ACTION_BACK && model->match[0] && !model->cover;
}

/* To Timeline, at what the cursor is on. */
static bool is_of_moment(const struct model *model, enum action action)
{
	return action == ACTION_SORT_TIME && !model->cover && !model_reads_dead(model) && (model->view == WALK_HEAT ||
		model->view == WALK_THREADS || model->view == WALK_EVENTS);
}

static bool is_looked_up(const struct model *model, enum action action)
{
	bool of_function = !model->cover && (action == ACTION_LATENCY ||
		(action == ACTION_AROUND && model->view != WALK_PAGE));

	return !model->open && (is_of_mark(model, action) || is_of_moment(model, action) ||
		(walk_is_tree(model->view) &&
		(is_of_time(action) || of_function || is_of_zoom(model, action) || is_of_page(model, action))));
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
	else if (changed && !was)	/* the view's answer may be newer than the vitals, by some steps of the walk */
		assert_in_range(action == ACTION_FREEZE ? wanted->until_ns : wanted->base.until_ns, 1,
			now + 5 * NS_PER_SECOND);
	model->zero = wanted->zero_ns;
	if (!wanted->until_ns)
		scope_live(&model->place);
	model->place.until_ns = wanted->until_ns;
	model->place.back_ns = wanted->back_ns;
	model->place.moved = wanted->moved;
	model->base = wanted->base;
}

/* It may say that the cursor is on no function, or that nothing is known yet. */
static bool says(struct walk *walk, struct model *model, const char *failure)
{
	char text[WALK_TEXT];

	for (int row = 1; row < walk->canvas->rows; row++) {
		walk_row_text(walk, row, text);
		if (strstr(text, failure)) {
			model->failed = failure;
			return true;
		}
	}
	return false;
}

/* Where it says nothing, it goes to the tree, from which one step leads back. */
static void find_around(struct walk *walk, struct model *model)
{
	int from = model->view == WALK_TREE && model->around ? model->around_from : model->view;

	if (says(walk, model, "no callers and callees"))
		return;
	model->around = true;
	model->around_from = from;
	model_look(model, WALK_TREE);
}

/* A flame dims what does not match. */
static bool is_marked(const struct canvas *canvas)
{
	for (int i = 0; i < canvas->rows * canvas->columns; i++) {
		uint8_t style = canvas->cells[i].style & (STYLE_NAME - 1);

		if (style == STYLE_MATCH || style == STYLE_FLAME_SAME)
			return true;
	}
	return false;
}

static bool says_no_search(const struct walk *walk)
{
	char text[WALK_TEXT];

	walk_row_text(walk, walk->canvas->rows - 2, text);
	return strstr(text, "no search: nothing is marked");
}

/* True: the search was taken back, and nothing else. `marked`: a mark was seen before. */
static bool find_mark(struct walk *walk, struct model *model, bool marked)
{
	if (!says_no_search(walk)) {
		if (marked)
			walk_fault(walk, "the mark stays", model->match);
		return false;
	}
	model->match[0] = '\0';
	return true;
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

/* Timeline is shown, or why not. The window was looked up in drawing. */
static void find_moment(struct walk *walk, struct model *model)
{
	char text[WALK_TEXT];

	walk_row_text(walk, walk->canvas->rows - 2, text);
	if (strstr(text, "not shown: ")) {
		model->failed = "not shown";
		return;
	}
	walk->tally.moments[model->view]++;
	model->match[0] = '\0';
	model_look(model, WALK_TIMELINE);
	walk_draw(walk);
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
	bool searched = is_of_mark(model, action), marked;

	walk_draw(walk);
	before = model->wanted;
	marked = searched && is_marked(walk->canvas);
	if (searched && says_no_search(walk))
		return;			/* of the search before: it would not be known which one is meant */
	model->failed = NULL;
	model->timed = is_of_moment(model, action);
	walk_input(walk, model, (struct input) { .kind = INPUT_KEY, .code = code }, false);
	walk_draw(walk);
	if (searched && find_mark(walk, model, marked))
		return;
	if (is_of_time(action))
		find_time(walk, model, action);
	else if (action == ACTION_AROUND)
		find_around(walk, model);
	else if (action == ACTION_LATENCY)
		says(walk, model, model->vitals ? "no function" : "not yet");
	else if (action == ACTION_SORT_TIME)
		find_moment(walk, model);
	else if (action == ACTION_OPEN)
		find_opened(walk, model);
	else if (model->view == WALK_PAGE)
		find_page(walk);
	else if (!is_of_zoom(model, action))
		model_back(walk);
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
	walk_input(walk, model, (struct input) { .kind = INPUT_KEY, .code = code }, quits);
	if (model->heated)
		walk_draw(walk);
}

void walk_paste(struct walk *walk, uint32_t code)
{
	model_paste(walk, code);
	walk_input(walk, walk_model(walk), (struct input) { .kind = INPUT_PASTE, .code = code }, false);
}

/* ---- any key ---- */

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
		"under:beta_copy", "cpu:0|cpu:1", "object:kernel ", "process:kernel", "file:alpha" };
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
	if ((model->view == WALK_HEAT || model->view == WALK_THREADS) && random_below(random, 24) == 0)
		return 'T';				/* most keys are pressed where nothing is known yet */
	return code_of(walk, &walk->config.keys.rows[random_below(random, KEYS_ROWS)]);
}

bool walk_may_be_clicked(const struct walk *walk, enum action action)
{
	const struct model *model = &walk->models[walk->page];

	return !is_looked_up(&(struct model) { .view = model->view, .cover = model->cover }, action);
}

static bool changes_view(enum action action)
{
	return action == ACTION_NEXT_VIEW || action == ACTION_FUNCTIONS || action == ACTION_TREE ||
		action == ACTION_FLAME || action == ACTION_HEAT || action == ACTION_THREADS ||
		action == ACTION_ANNOTATE || action == ACTION_EVENTS || action == ACTION_TIMELINE ||
		action == ACTION_MEMORY;
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

void walk_press(struct walk *walk)
{
	uint32_t code = any_key(walk);

	if (may_be_pressed(walk, code))
		press(walk, code);
}
