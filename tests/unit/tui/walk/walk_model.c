/* SPDX-License-Identifier: MIT */
/* The model of a screen and of the tabs: what keys, clicks and answers do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/export/save_format.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "tui/frame/scope.h"
#include "walk.h"

/* ---- the filter ---- */

/* The rows of a table are shown from the top, too, if there was another filter whose rows did not come. */
static void set_filter(struct model *model, const char *text)
{
	struct filter before, after;
	int shown = model->view, cover = model->cover;
	bool of_page = model->of_page;

	assert_true(filter_parse(model->filter, &before, NULL) && filter_parse(text, &after, NULL));
	model->filtered += !filter_equal(&before, &after);
	strcpy(model->filter, text);
	for (int view = 0; view < WALK_VIEWS; view++) {
		model_look(model, view);
		if (cursor_was_filtered(model)) {
			cursor_rewind(model);
			cursor_update(model);
		}
	}
	model_look(model, shown);
	model->cover = cover;
	model->of_page = of_page;
}

/* ---- the prompt ---- */

/* Takes a filter if it is valid. Its text is kept as typed, but for spaces. */
static bool take_filter(struct model *model, const char *text)
{
	struct scope scope;
	bool good;

	scope_init(&scope);
	good = scope_filter(&scope, text, NULL);
	if (good)
		set_filter(model, scope.filter_text);
	return good;
}

static void search(struct model *model, const char *text, int step)
{
	if (*text || step == 0)
		strcpy(model->match, text);
	if (model->match[0])
		cursor_search(model, step);
}

static void prompt_text(struct model *model)
{
	if (model->open == PROMPT_FILTER)
		take_filter(model, model->text);
	else if (model->open == PROMPT_SEARCH)
		search(model, model->text, 0);
}

static void prompt_end(struct model *model, bool kept)
{
	if (model->open == PROMPT_SEARCH && !kept)
		model->match[0] = '\0';
	if (model->open == PROMPT_FILTER && kept && !take_filter(model, model->text)) {
		model->failed = "the filter stays as it was";
		kept = false;
	}
	if (model->open == PROMPT_FILTER && !kept)
		set_filter(model, model->before);
	model->open = PROMPT_NONE;
}

static void type(struct model *model, uint32_t code)
{
	size_t size = strlen(model->text);

	if (code == KEYS_ENTER || code == KEYS_ESCAPE || (code == KEYS_BACKSPACE && size == 0)) {
		prompt_end(model, code == KEYS_ENTER);
	} else if (code == KEYS_CTRL('U')) {
		model->text[0] = '\0';
		prompt_text(model);
	} else if (code == KEYS_BACKSPACE) {
		model->text[size - 1] = '\0';
		prompt_text(model);
	} else if (code >= ' ' && code < 127 && size + 1 < sizeof(model->text)) {
		model->text[size] = (char)code;
		model->text[size + 1] = '\0';
		prompt_text(model);
	} else if (model->open == PROMPT_SEARCH && code == KEYS_F(3)) {
		search(model, model->text, 1);
	}
}

static void open_prompt(struct model *model, bool filter)
{
	model->cover = COVER_NONE;
	model->open = filter ? PROMPT_FILTER : PROMPT_SEARCH;
	strcpy(model->before, model->filter);
	strcpy(model->text, filter ? model->filter : "");
}

/* ---- actions ---- */

void model_look(struct model *model, int view)
{
	model->tables[model->view] = model->table;
	model->table = model->tables[view];
	model->view = view;
	model->cover = COVER_NONE;
	model->of_page = false;
}

void model_follow(struct model *model)
{
	bool of_page = model->of_page;

	for (int view = 0, shown = model->view, cover = model->cover; view < WALK_VIEWS; view++) {
		model_look(model, view);
		cursor_update(model);
		model_look(model, shown);
		model->cover = cover;
		model->of_page = of_page;
	}
}

/* The cursor may have gone to the function that was chosen in another view: it is looked up in the next drawing. */
static void look_along(struct model *model, int view)
{
	model_look(model, view);
	model->table.cursor.lost = model->table.cursor.waits = view == WALK_TABLE;
}

static void look_at_tree(struct model *model)
{
	model->around = false;
	look_along(model, WALK_TREE);
}

static bool is_on_function(const struct model *model)
{
	const struct function_table *functions = model->table.functions;

	return !model->cover && model_rows(model).count && functions->by == GROUP_FUNCTION &&
		symbols_get(functions->answer.symbols,
			model_rows(model).rows[model->table.cursor.row].function)->known;
}

/* The row under the cursor, which is one of a function. */
static bool is_in_kernel(const struct model *model)
{
	const struct function_table *functions = model->table.functions;

	return function_in_kernel(symbols_get(functions->answer.symbols,
		model_rows(model).rows[model->table.cursor.row].function)) != 0;
}

/* The callers and callees of the function under the cursor. */
static void look_around(struct model *model)
{
	if (model->cover || (model->view != WALK_PAGE && !is_on_function(model))) {
		model->failed = "no callers and callees";
		return;
	}
	if (model->view == WALK_TABLE)
		cursor_select(model, model->table.cursor.row);
	model->around = true;
	model->around_from = model->view;
	model_look(model, WALK_TREE);
}

static void next_group(struct model *model)
{
	enum group_by *by = &model->table.by;

	if (walk_is_tree(model->view)) {
		model->failed = "not grouped";
		return;
	}
	if (model->view == WALK_THREADS)
		*by = *by == GROUP_COMM ? GROUP_PROCESS : *by + 1;
	else
		*by = (*by + 1) % GROUPS;
}

void model_open(struct model *model, const char *words)
{
	char text[2 * WALK_TEXT];
	struct scope_step step = { .by = model->table.by };

	snprintf(text, sizeof(text), "%s %s", model->filter, words);
	strcpy(step.filter_text, model->filter);
	if (!words[0] || model->depth == SCOPE_STEPS || !take_filter(model, text)) {
		model->failed = "not opened";
		return;
	}
	step.from.view = model->view;
	if (!walk_is_tree(model->view))
		step.from.row = model_rows(model).rows[model->table.cursor.row].function;
	model->steps[model->depth++] = step;
	model_look(model, WALK_TABLE);
	model->table.by = GROUP_FUNCTION;
}

/* The machine of the row under the cursor, over many machines, where each has rows of its own; else NULL. */
static const char *machine_of(const struct model *model)
{
	const struct function_table *functions = model->table.functions;

	return functions->machine_count && grouping_is_of_machine(functions->by) ?
		symbols_get(functions->answer.symbols,
			model_rows(model).rows[model->table.cursor.row].function)->object : NULL;
}

/* The words for the row under the cursor go to the filter. */
static void open_row(struct model *model)
{
	char words[WALK_TEXT];

	if (model->view == WALK_TABLE && is_on_function(model)) {
		cursor_select(model, model->table.cursor.row);
		model_look(model, WALK_PAGE);
		return;
	}
	words[0] = '\0';
	if (!model->cover && model_rows(model).count)
		grouping_filter(model->table.functions->by, model_name(model, model->table.cursor.row),
			machine_of(model), words, sizeof(words));
	model_open(model, words);
}

static void close_row(struct model *model)
{
	const struct scope_step *step = &model->steps[--model->depth];

	model_look(model, step->from.view);
	model->table.by = step->by;
	model->table.restores = true;
	model->table.restored = (uint32_t)step->from.row;
	set_filter(model, step->filter_text);
}

static void leave_around(struct model *model)
{
	model->around = false;
	model_look(model, model->around_from);
}

static void go_back(struct model *model)
{
	if (model->cover)
		model->cover = COVER_NONE;
	else if (model->view == WALK_PAGE)
		look_along(model, WALK_TABLE);
	else if (model->view == WALK_ANNOTATE && model->of_page)
		model_look(model, WALK_PAGE);
	else if (model->view == WALK_TREE && model->around)
		leave_around(model);
	else if (model->depth)
		close_row(model);
	else if (model->filter[0])
		set_filter(model, "");
	else
		model->zero = 0;
}

void model_open_code(struct model *model)
{
	look_along(model, WALK_ANNOTATE);
	model->of_page = true;
}

void model_back(struct walk *walk)
{
	go_back(walk_model(walk));
}

/* True: a guest has told its time. */
static bool is_known(const struct model *model)
{
	const struct vitals *vitals = model->vitals;
	const struct function_table *functions = model->table.functions;
	bool table = functions && functions->table && functions->table->to &&
		functions->answer.boot == vitals->answer.boot;
	bool known = !vitals->machines;

	for (size_t i = 0; i < vitals->machine_count; i++)
		known = known || vitals->machines[i].cpu_count;
	return known && table && vitals->now;
}

static bool is_up(const struct walk_guest *guest)
{
	return guest->known && guest->link_told == LINK_UP;
}

/* Whether the guest is profiled, or will be: by the last order, or by a wish that is kept. */
static bool runs(const struct walk_guest *guest)
{
	enum kept_wish wish = guest->asked ? guest->asked : guest->kept_told;

	return wish ? wish == KEPT_ON : guest->running;
}

/* The order goes to all guests that are up, or to all if none is. It says "off" if all that are up are on. */
static void run(struct walk *walk)
{
	size_t up = 0, running = 0;
	bool on;

	for (size_t i = 0; i < walk->machines; i++) {
		up += is_up(&walk->guests[i]);
		running += is_up(&walk->guests[i]) && runs(&walk->guests[i]);
	}
	on = walk_is_all(walk) ? running == 0 || running != up : !runs(walk_guest(walk));
	for (size_t i = 0; i < walk->machines; i++) {
		struct walk_guest *guest = &walk->guests[i];

		if (walk_is_all(walk) ? !is_up(guest) && up : guest != walk_guest(walk))
			continue;
		guest->runs++;
		guest->run_on = on;
		guest->asked = on ? KEPT_ON : KEPT_OFF;
	}
}

/* As run(). What is shown of the order's outcome begins anew. */
static void mark(struct walk *walk)
{
	const char *text = walk_model(walk)->text;
	size_t up = 0;

	for (size_t i = 0; i < walk->machines; i++)
		up += is_up(&walk->guests[i]);
	for (size_t i = 0; i < walk->machines; i++) {
		struct walk_guest *guest = &walk->guests[i];

		if (walk_is_all(walk) ? !is_up(guest) && up : guest != walk_guest(walk))
			continue;
		guest->marks++;
		strcpy(guest->mark, text[strspn(text, " ")] ? text : "here");
	}
	if (walk_is_all(walk)) {
		walk->gathered_failed = false;
		walk->gathered = 0;
	}
}

static void snapshot(struct walk *walk)
{
	for (size_t i = 0; i < walk->machines; i++)
		if (walk_is_all(walk) || &walk->guests[i] == walk_guest(walk))
			walk->guests[i].snapshots++;
}

/* Actions that need the machine's vitals. Most of them need a guest that has told its time, too. */
static void act_on_machine(struct walk *walk, enum action action)
{
	struct model *model = walk_model(walk);
	const struct vitals *vitals = model->vitals;

	if (vitals && walk_is_all(walk) &&
			(action == ACTION_RUN || action == ACTION_SNAPSHOT || action == ACTION_KEEP)) {
		walk->gathered_failed = false;		/* their next messages are about this order */
		walk->gathered = 0;
	}
	if (!vitals) {
		model->failed = "not yet";
	} else if (action == ACTION_RUN) {
		run(walk);
	} else if (action == ACTION_MARK) {
		model->open = PROMPT_MARK;
		model->text[0] = '\0';
	} else if (action == ACTION_LATENCY) {
		if (walk_is_all(walk) || !is_on_function(model) || !is_in_kernel(model))
			model->failed = "no function";
	} else if (action == ACTION_SNAPSHOT) {
		snapshot(walk);
	} else if (action == ACTION_SAVE_AS) {
		model->cover = COVER_FORMATS;
		model->choice = walk->format;
	} else if (action == ACTION_ZERO && is_known(model)) {
		model->zero = vitals->now;
		scope_live(&model->place);
	} else if (action == ACTION_FREEZE && model->place.until_ns) {
		scope_live(&model->place);
	} else if (action == ACTION_FREEZE && is_known(model)) {
		model->place.until_ns = model->table.functions->table->to;
	} else if (action == ACTION_BASELINE && model->base.until_ns) {
		model->base = (struct baseline) { .until_ns = 0 };
	} else if (action == ACTION_BASELINE && is_known(model)) {
		model->base = (struct baseline) { .window_ns = model->place.window_ns, .zero_ns = model->zero,
			.until_ns = model->place.until_ns, .back_ns = model->place.back_ns,
			.moved = model->place.moved };
		if (!model->base.until_ns)
			model->base.until_ns = model->table.functions->table->to;
	} else if (action == ACTION_ZERO || action == ACTION_FREEZE || action == ACTION_BASELINE) {
		model->failed = action == ACTION_ZERO ? "not zeroed" : action == ACTION_FREEZE ? "not frozen" :
			"no baseline marked";
	}
}

void model_save(struct walk *walk)
{
	walk->format = walk_model(walk)->choice;
	walk_model(walk)->cover = COVER_NONE;
	act_on_machine(walk, ACTION_SNAPSHOT);
}

/* The scope itself is the model of where its window goes; its own tests tell whether that is right. */
static void move_window(struct model *model, enum action action)
{
	struct scope_kept kept = { 0 };

	if (model->vitals)
		kept = (struct scope_kept) { model->vitals->oldest, model->vitals->now };
	if (!kept.end)
		model->failed = "not moved";
	else if (action == ACTION_WIDEN || action == ACTION_NARROW)
		scope_widen(&model->place, action == ACTION_WIDEN, kept);
	else if (scope_move(&model->place, action == ACTION_AFTER, kept) == SCOPE_WHOLE)
		model->failed = "not moved";
}

static void search_again(struct model *model, int step)
{
	if (model->cover)
		return;
	if (!model->match[0])
		model->failed = "no name was given yet";
	else if (!cursor_search(model, step) && !walk_is_tree(model->view))
		model->failed = "no such name";
}

static void act(struct walk *walk, enum action action)
{
	struct model *model = walk_model(walk);

	switch (action) {
	case ACTION_HELP:
		model->cover = model->cover == COVER_HELP ? COVER_NONE : COVER_HELP;
		break;
	case ACTION_BACK:
		go_back(model);
		break;
	case ACTION_SEARCH:
	case ACTION_FILTER:
		open_prompt(model, action == ACTION_FILTER);
		break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		search_again(model, action == ACTION_NEXT ? 1 : -1);
		break;
	case ACTION_NEXT_TAB:
		walk->page = (walk->page + 1) % walk->pages;
		break;
	case ACTION_PREVIOUS_TAB:
		walk->page = (walk->page + walk->pages - 1) % walk->pages;
		break;
	case ACTION_WINDOW:
		scope_next_window(&model->place);
		break;
	case ACTION_BEFORE:
	case ACTION_AFTER:
	case ACTION_WIDEN:
	case ACTION_NARROW:
		move_window(model, action);
		break;
	case ACTION_LIVE:
		scope_live(&model->place);
		break;
	case ACTION_GROUP:
		if (model->cover || (model->view != WALK_EVENTS && model->view != WALK_MEMORY))
			next_group(model);
		break;
	case ACTION_FUNCTIONS:
		look_along(model, WALK_TABLE);
		break;
	case ACTION_TREE:
		look_at_tree(model);
		break;
	case ACTION_FLAME:
		look_along(model, WALK_FLAME);
		break;
	case ACTION_HEAT:
		look_along(model, WALK_HEAT);
		break;
	case ACTION_THREADS:
		look_along(model, WALK_THREADS);
		break;
	case ACTION_ANNOTATE:
		look_along(model, WALK_ANNOTATE);
		break;
	case ACTION_EVENTS:
		look_along(model, WALK_EVENTS);
		break;
	case ACTION_TIMELINE:
		look_along(model, WALK_TIMELINE);
		break;
	case ACTION_MEMORY:
		look_along(model, WALK_MEMORY);
		break;
	case ACTION_NEXT_VIEW:
		look_along(model, ((model->view == WALK_PAGE ? WALK_TABLE : model->view) + 1) % WALK_VIEWS);
		break;
	case ACTION_AROUND:
		look_around(model);
		break;
	case ACTION_OPEN:
		model->heated = model->heated || (!model->cover && model->view == WALK_HEAT);
		if (model->cover || !walk_is_tree(model->view))
			open_row(model);
		break;
	case ACTION_IDLE:
		model->no_idle = !model->no_idle;
		break;
	case ACTION_RUN:
	case ACTION_MARK:
	case ACTION_LATENCY:
	case ACTION_KEEP:
	case ACTION_SNAPSHOT:
	case ACTION_SAVE_AS:
	case ACTION_ZERO:
	case ACTION_FREEZE:
	case ACTION_BASELINE:
		act_on_machine(walk, action);
		break;
	default:
		break;
	}
}

/* The list of formats. False: the action is none of its own. */
static bool choose_format(struct walk *walk, enum action action)
{
	struct model *model = walk_model(walk);
	size_t last = model->choice;

	while (save_format_at(last + 1).name)
		last++;
	if (action == ACTION_UP && model->choice)
		model->choice--;
	else if (action == ACTION_DOWN && model->choice < last)
		model->choice++;
	else if (action == ACTION_TOP)
		model->choice = 0;
	else if (action == ACTION_BOTTOM)
		model->choice = last;
	else if (action == ACTION_OPEN || action == ACTION_SNAPSHOT || action == ACTION_SAVE_AS)
		model_save(walk);
	else
		return action == ACTION_UP || action == ACTION_DOWN;
	return true;
}

bool model_reads_dead(const struct model *model)
{
	return model->vitals && vitals_are_dead(model->vitals) && !model->cover;
}

void model_act(struct walk *walk, enum action action)
{
	struct model *model = walk_model(walk);

	if (action == ACTION_SORT_TIME && model_reads_dead(model)) {
		walk->tally.autopsies++;
		scope_live(&model->place);
		look_along(model, WALK_TIMELINE);
		return;
	}
	if (model->cover == COVER_FORMATS && choose_format(walk, action))
		return;
	if (model->cover || (!cursor_act(model, action) && !sort_act(model, action)))
		act(walk, action);
}

void model_key(struct walk *walk, uint32_t code)
{
	struct model *model = walk_model(walk);

	model->failed = NULL;
	if (model->open == PROMPT_MARK && code == KEYS_ENTER)
		mark(walk);
	if (model->open)
		type(model, code);
	else
		model_act(walk, keys_action(&walk->config.keys, code));
}

void model_paste(struct walk *walk, uint32_t code)
{
	struct model *model = walk_model(walk);

	model->failed = NULL;
	if (model->open)
		type(model, code);
}

/* A click on a label of the key bar leaves the prompt, unless it is the prompt's own. */
void model_click_bar(struct walk *walk, enum action action)
{
	struct model *model = walk_model(walk);

	if (action == ACTION_NONE || (model->open == PROMPT_FILTER && action == ACTION_FILTER))
		return;
	if (model->open == PROMPT_SEARCH && action == ACTION_SEARCH) {
		search(model, model->text, 1);
		return;
	}
	if (model->open)
		prompt_end(model, false);
	model_act(walk, action);
}

/* ---- answers and messages ---- */

/* Vitals of another boot end freeze, zero and baseline. */
static void took_vitals(struct model *model, const struct vitals *vitals)
{
	uint64_t boot = model->boot;

	if (model->failed && strcmp(model->failed, "not turned") == 0 && model->vitals &&
			model->ran != vitals->running)
		model->failed = NULL;
	model->vitals = vitals;
	model->boot = vitals->answer.boot;
	model->ran = vitals->running;
	if (vitals->now < model->zero || vitals->now < model->place.until_ns ||
			vitals->now < model->base.until_ns ||
			(boot && boot != vitals->answer.boot)) {
		model->zero = 0;
		scope_live(&model->place);
		model->base = (struct baseline) { .until_ns = 0 };
	}
}

uint64_t model_rows_boot(const struct model *model)
{
	return model->answered && model->vitals && model_rows(model).count ? model->table.functions->answer.boot : 0;
}

void model_took(struct model *model, const struct vitals *vitals, const struct function_table *functions)
{
	if (functions) {
		model->answered |= !functions->answer.partial || (functions->table && functions->table->count);
		model->table.functions = functions;
		model->table.rows_come = true;
	}
	if (vitals)
		took_vitals(model, vitals);
	for (int view = 0, shown = model->view; view < WALK_VIEWS && model->vitals; view++) {
		int cover = model->cover;
		bool of_page = model->of_page;

		model_look(model, view);
		if (model->table.rows_come)
			cursor_rewind(model);
		model->table.rows_come = false;
		model_look(model, shown);
		model->cover = cover;
		model->of_page = of_page;
	}
}

/* All's status line has all messages since its last order. It is a failure if one of them is. */
void model_told(struct walk *walk, struct walk_guest *guest, const struct session_message *message)
{
	struct model *model = walk_model(walk);

	if (message->profiler && !message->failed)
		guest->running = runs(guest);
	if (message->profiler)
		guest->asked = guest->kept_told = KEPT_NONE;
	if (walk_is_all(walk))
		walk->gathered_failed = walk->gathered_failed || message->failed;
	walk->gathered += walk_is_all(walk);
	if (walk_is_all(walk) ? walk->gathered_failed : message->failed)
		model->failed = walk_is_all(walk) ? "profiling not turned" : "not turned";
}
