/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "tui/frame/header.h"
#include "tui/frame/key_bar.h"
#include "tui/terminal/keys.h"
#include "tui/views/views.h"
#include "screen_state.h"

enum {
	WHEEL_LINES = 3,		/* rows for each step of the mouse's wheel */
	STOPS_TYPING = KEYS_CTRL(']'),
};

/* True: what the user types goes to the guest. */
static bool types_to_guest(const struct screen *screen)
{
	return screen->cover == VIEW_CONSOLE && view_console_types(screen->selves[VIEW_CONSOLE]);
}

int screen_own_labels(const struct screen *screen, struct key_label labels[KEY_LABELS])
{
	int count = 0;

	if (screen->asks_end) {
		labels[count++] = (struct key_label) { keys_code(screen->keys, ACTION_QUIT), "End the VM" };
		labels[count++] = (struct key_label) { 'd', "Leave it running" };
		labels[count++] = (struct key_label) { KEYS_ESCAPE, "Stay" };
	} else if (types_to_guest(screen)) {
		labels[count++] = (struct key_label) { STOPS_TYPING, "Stop typing to the guest" };
	}
	labels[count].label = NULL;
	return count;
}

/* One key ends it, whatever the guest does. */
static void type_to_guest(struct screen *screen, const struct input *input, uint64_t now)
{
	if (input->kind == INPUT_KEY && input->code == STOPS_TYPING)
		view_console_look(screen->selves[VIEW_CONSOLE]);
	else if (!view_console_type(screen->selves[VIEW_CONSOLE], input->code))
		screen_complain(screen, now, "not typed: QEMU does not read its console; Ctrl-] stops typing");
}

/* Pasted text may hold anything, so it never acts as keys. Without a prompt it is ignored. */
static void paste(struct screen *screen, const struct input *input, uint64_t now)
{
	struct input text = *input;

	status_seen(&screen->status);
	if (text.code < ' ' && text.code)
		text.code = ' ';
	if (screen->prompt.label)
		screen_prompt_input(screen, &text, now);
	else if (types_to_guest(screen))
		type_to_guest(screen, input, now);
	else
		screen_say(screen, now, "pasted text is ignored: it would act as keys; open a "
			"line for it first, with {search} or {filter}");
}

static void run(struct screen *screen, uint64_t now)
{
	bool on = !screen->feed.running(screen->feed.self);
	char *text = util_format("asking %s to %s profiling",
		screen->vitals->machines ? "all guests" : "the guest", on ? "start" : "stop");

	screen_say(screen, now, text);
	free(text);
	screen->feed.run_profiler(screen->feed.self, on);
}

/* Saves what the scope says now, even if that is not drawn yet. */
static void snapshot(struct screen *screen, uint64_t now)
{
	struct excerpt excerpt;
	char *text;

	memset(&excerpt, 0, sizeof(excerpt));
	scope_excerpt(&screen->scope, &excerpt);
	text = util_format("writing the snapshot: %s; {save-as} offers the other formats",
		save_format_at(screen->feed.format(screen->feed.self)).name);
	screen_say(screen, now, text);
	free(text);
	screen->feed.snapshot(screen->feed.self, &excerpt, screen->vitals->kernel);
}

static void offer_formats(struct screen *screen)
{
	view_formats_begin(screen->selves[VIEW_FORMATS], screen->feed.format(screen->feed.self));
	screen->cover = VIEW_FORMATS;
}

/* Saves in the format that was chosen from the list, if one was. */
static void take_format(struct screen *screen, uint64_t now)
{
	size_t format;

	if (screen->cover != VIEW_FORMATS || !view_formats_taken(screen->selves[VIEW_FORMATS], &format))
		return;
	screen->cover = 0;
	screen->feed.set_format(screen->feed.self, format);
	snapshot(screen, now);
}

/* True: the guest, or any of many, has told its time, and the view shows it. */
static bool is_known(const struct screen *screen)
{
	const struct vitals *vitals = screen->vitals;
	const struct view_told told = screen_told(screen);
	bool table = told.known && told.end && screen_is_of_boot(screen, screen->answers[screen->current]);
	bool known = table && !vitals->machines;

	for (size_t i = 0; i < vitals->machine_count; i++)
		known = known || vitals->machines[i].cpu_count;
	return known && table;
}

static void zero(struct screen *screen, uint64_t now)
{
	if (!is_known(screen)) {
		screen_complain(screen, now,
			"not zeroed: nothing has come from the guest yet; wait for its first data");
		return;
	}
	screen->scope.zero_ns = screen->vitals->now;
	scope_live(&screen->scope);
	screen_say(screen, now, "zeroed: counting from now on; {back} counts all again");
}

/* A frozen window ends with the table that is shown, so that the screen stands still at once. */
static void freeze(struct screen *screen, uint64_t now)
{
	if (screen->scope.until_ns) {
		screen_live(screen, now);
	} else if (!is_known(screen)) {
		screen_complain(screen, now,
			"not frozen: nothing has come from the guest yet; wait for its first data");
	} else {
		screen->scope.until_ns = screen_told(screen).end;
		screen_say(screen, now,
			"frozen: the screen stands still, collection goes on; {freeze} makes it live again");
	}
}

static void mark_baseline(struct screen *screen, uint64_t now)
{
	if (screen->scope.base.until_ns) {
		screen->scope.base = (struct baseline) { .until_ns = 0 };
		screen_say(screen, now, "the baseline is off");
	} else if (!is_known(screen)) {
		screen_complain(screen, now,
			"no baseline marked: nothing has come from the guest yet; wait for its first data");
	} else {
		scope_mark(&screen->scope, screen_told(screen).end);
		screen_say(screen, now,
			"baseline marked: CHANGE compares shares with it, ~ may be chance; {baseline} ends it");
	}
}

static void hide_idle(struct screen *screen, uint64_t now)
{
	screen->scope.no_idle = !screen->scope.no_idle;
	screen_show(screen);
	screen_say(screen, now, screen->scope.no_idle ?
		"the row of idle time is hidden, shares do not change; {idle} shows it again" :
		"the row of idle time is shown again");
}

static void repeat_search(struct screen *screen, enum list_search where, uint64_t now)
{
	enum found found = screen_search(screen, "", where);

	if (found == NOT_FOUND)
		screen_complain(screen, now,
			"search failed: no such name in the table; {search} searches another");
	else if (found == NOT_SEARCHED)
		screen_complain(screen, now,
			"search failed: no name was given yet; {search} asks for one");
}

static void dismiss(struct screen *screen, uint64_t now)
{
	if (header_dismiss(screen->vitals, &screen->scope, screen_has_table(screen), screen->keys))
		screen_say(screen, now, "the remarks are hidden until there are new ones");
	else
		screen_say(screen, now, "there is no remark to hide");
}

static void keep(struct screen *screen, uint64_t now)
{
	screen_say(screen, now, "recording what led up to now");
	screen->feed.keep(screen->feed.self, screen->vitals->kernel);
}

static void trace_function(struct screen *screen, uint64_t now)
{
	const struct view *view = screen_shown(screen);
	struct view_chosen chosen = { .name = 0 };

	if (view->chosen)
		chosen = view->chosen(screen->selves[screen_at(screen)]);
	if (screen->vitals->play.there) {
		screen_complain(screen, now, "no function: this is a recording; choose one in a live guest");
	} else if (screen->vitals->machines) {
		screen_complain(screen, now, "no function: these are all machines; choose one on its own screen");
	} else if (!chosen.in_kernel) {
		screen_complain(screen, now, "no function: the cursor is on none of the kernel's own; put it on one");
	} else {
		char *said = util_format("asking for the calls of %s", chosen.text);

		screen_say(screen, now, said);
		free(said);
		screen->feed.trace_function(screen->feed.self, chosen.text, chosen.in_kernel);
	}
}

/* Actions that need the machine's vitals. */
static void act_on_machine(struct screen *screen, enum action action, uint64_t now)
{
	if (!screen->vitals)
		screen_complain(screen, now,
			"not yet: nothing is known of the VM; wait until ktop is connected");
	else if (action == ACTION_RUN)
		run(screen, now);
	else if (action == ACTION_MARK && screen->vitals->play.there)
		screen_complain(screen, now, "no mark: this is a recording; mark in a live guest");
	else if (action == ACTION_MARK)
		screen_open_prompt(screen, ASKED_MARK);
	else if (action == ACTION_LATENCY)
		trace_function(screen, now);
	else if (action == ACTION_KEEP)
		keep(screen, now);
	else if (action == ACTION_SNAPSHOT)
		snapshot(screen, now);
	else if (action == ACTION_SAVE_AS)
		offer_formats(screen);
	else if (action == ACTION_DISMISS)
		dismiss(screen, now);
	else if (screen_awaits_jump(screen))
		screen_complain(screen, now, screen_jump_lasts);
	else if (action == ACTION_ZERO)
		zero(screen, now);
	else if (action == ACTION_BASELINE)
		mark_baseline(screen, now);
	else
		freeze(screen, now);
}

static bool view_acts(struct screen *screen, enum action action)
{
	bool acted = screen_shown(screen)->act(screen->selves[screen_at(screen)], action);

	screen->moved = screen->moved || acted;
	return acted;
}

/* A ktop that has started QEMU ends it, too: so it asks first, as long as there is a QEMU. */
static enum screen_act quit(struct screen *screen)
{
	if (!screen->feed.console || (screen->vitals && screen->vitals->vm == VM_GONE))
		return SCREEN_QUIT;
	screen->asks_end = true;
	return SCREEN_NOTHING;
}

/* Any key but these two takes it back. */
static enum screen_act take_end(struct screen *screen, uint32_t code, uint64_t now)
{
	screen->asks_end = false;
	if (keys_action(screen->keys, code) == ACTION_QUIT)
		return SCREEN_QUIT;
	if (code == 'd')
		return SCREEN_DETACH;
	screen_say(screen, now, "ktop and the VM go on");
	return SCREEN_NOTHING;
}

/*
 * The view has the first say, then the player, then the screen. Going back takes the mark of a search off first, where
 * one is seen.
 */
static enum screen_act act(struct screen *screen, enum action action, uint64_t now)
{
	bool marked = action == ACTION_BACK && screen_is_marked(screen);
	bool dead = action == ACTION_SORT_TIME && screen_reads_dead(screen);

	if (!marked && !dead && view_acts(screen, action)) {
		take_format(screen, now);
		screen_take_range(screen, now);
		return SCREEN_NOTHING;
	}
	if (screen_play(screen, action, now) || screen_views_act(screen, action, now) ||
			screen_window_act(screen, action, now))
		return SCREEN_NOTHING;
	switch (action) {
	case ACTION_QUIT:
		return quit(screen);
	case ACTION_REDRAW:
		return SCREEN_REDRAW;
	case ACTION_SUSPEND:
		return SCREEN_SUSPEND;
	case ACTION_NEXT_TAB:
		return SCREEN_NEXT_TAB;
	case ACTION_PREVIOUS_TAB:
		return SCREEN_PREVIOUS_TAB;
	case ACTION_HELP:
		screen->cover = screen->cover == VIEW_HELP ? 0 : VIEW_HELP;
		break;
	case ACTION_BACK:
		screen_go_back(screen, marked, now);
		break;
	case ACTION_SEARCH:
	case ACTION_FILTER:
		if (screen->cover != VIEW_CONSOLE || action == ACTION_FILTER)
			screen->cover = 0;
		screen_open_prompt(screen, action == ACTION_FILTER ? ASKED_FILTER : ASKED_SEARCH);
		break;
	case ACTION_NEXT:
		repeat_search(screen, LIST_NEXT, now);
		break;
	case ACTION_PREVIOUS:
		repeat_search(screen, LIST_PREVIOUS, now);
		break;
	case ACTION_GROUP:
		screen_next_group(screen, now);
		break;
	case ACTION_OPEN:
		screen_open_row(screen, now);
		break;
	case ACTION_IDLE:
		hide_idle(screen, now);
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
	case ACTION_DISMISS:
		act_on_machine(screen, action, now);
		break;
	default:
		screen_did_nothing(screen, action, now);
		break;
	}
	return SCREEN_NOTHING;
}

static void scroll(struct screen *screen, enum action action)
{
	for (int i = 0; i < WHEEL_LINES; i++)
		view_acts(screen, action);
}

/* While a prompt is open, a click on that prompt's label acts as its key; any other label leaves the prompt first. */
static enum screen_act click_label(struct screen *screen, enum action action, uint64_t now)
{
	bool open = screen->prompt.label;

	if (action == ACTION_NONE || (open && screen->asked == ASKED_FILTER && action == ACTION_FILTER))
		return SCREEN_NOTHING;
	if (open && screen->asked == ASKED_SEARCH && action == ACTION_SEARCH) {
		screen_search(screen, screen->prompt.text, LIST_NEXT);
		return SCREEN_NOTHING;
	}
	screen_leave_prompt(screen, now);
	return act(screen, action, now);
}

/* Says once of each key that it does nothing in any view. False: it does something. */
static bool means_nothing(struct screen *screen, uint32_t code, uint64_t now)
{
	enum action action = keys_action(screen->keys, code);
	bool tab = action == ACTION_NEXT_TAB || action == ACTION_PREVIOUS_TAB;
	bool named = code < SCREEN_ASCII || code >= KEYS_UP;
	size_t slot = code < SCREEN_ASCII ? code : named ? SCREEN_ASCII + code - KEYS_UP : SCREEN_KEYS - 1;
	struct keys replay = *screen->keys;
	char name[KEYS_NAME], help[KEYS_NAME], *text;

	if (action != ACTION_NONE && (!tab || screen->keys->tabs))
		return false;
	if (slot >= SCREEN_KEYS || screen->told_keys[slot])
		return true;
	screen->told_keys[slot] = true;
	replay.replay = true;
	keys_name(code, name);
	keys_first(screen->keys, ACTION_HELP, help);
	if (tab)
		text = util_format("nothing done: %s is for several machines; this ktop shows one", name);
	else if (keys_action(&replay, code) != ACTION_NONE)
		text = util_format("nothing done: %s is for a recording; `ktop --replay DIR` plays one", name);
	else
		text = util_format("nothing done: %s has no meaning; %s lists the keys", named ? name : "this key",
			help);
	status_say(&screen->status, true, text, now);
	free(text);
	return true;
}

/* Ctrl-C is a signal, as far as a person is concerned: it does not ask. */
static bool quits_at_once(const struct screen *screen, uint32_t code)
{
	return keys_action(screen->keys, code) == ACTION_QUIT && !types_to_guest(screen) &&
		(screen->feed.console ? code == KEYS_CTRL('C') : !prompt_takes(code));
}

static enum screen_act take_key(struct screen *screen, const struct input *input, uint64_t now)
{
	enum action action = keys_action(screen->keys, input->code);

	status_seen(&screen->status);
	if (screen->asks_end)
		return take_end(screen, input->code, now);
	if (quits_at_once(screen, input->code))
		return SCREEN_QUIT;
	if (types_to_guest(screen))
		type_to_guest(screen, input, now);
	else if (!screen->prompt.label && !means_nothing(screen, input->code, now))
		return act(screen, action, now);
	else if (!screen->prompt.label)
		return SCREEN_NOTHING;
	else if (action == ACTION_QUIT && !prompt_takes(input->code))
		return quit(screen);
	else
		screen_prompt_input(screen, input, now);
	return SCREEN_NOTHING;
}

static enum screen_act click(struct screen *screen, const struct input *input, uint64_t now)
{
	const struct view *view = screen_shown(screen);
	enum action name = screen_views_action(screen, input->row, input->column);
	struct key_label labels[KEY_LABELS];
	struct input key = { .kind = INPUT_KEY };

	status_seen(&screen->status);
	if (input->row == screen->rows - 1 && screen->rows >= SCREEN_BAR_ROWS && screen_own_labels(screen, labels)) {
		key.code = key_bar_own_key(labels, input->column);
		return key.code ? take_key(screen, &key, now) : SCREEN_NOTHING;
	}
	if (screen->asks_end || types_to_guest(screen))
		return SCREEN_NOTHING;
	if (input->row == screen->rows - 1 && screen->rows >= SCREEN_BAR_ROWS)
		return click_label(screen,
			key_bar_action(screen->keys, screen->columns, input->column), now);
	if (name != ACTION_NONE)
		return click_label(screen, name, now);
	screen->held = screen_press_line(screen, input) || view->release ? now : 0;
	if (screen->pressed.end) {
		view->act(screen->selves[screen_at(screen)], ACTION_NONE);
		return SCREEN_NOTHING;
	}
	screen->moved = true;
	if (view->click)
		view->click(screen->selves[screen_at(screen)], input->row, input->column);
	take_format(screen, now);
	return SCREEN_NOTHING;
}

/* Where the button was pressed decides who hears of it: the time line, or the view. */
static void release(struct screen *screen, const struct input *input, uint64_t now)
{
	const struct view *view = screen_shown(screen);

	screen->held = 0;
	if (screen->pressed.end)
		screen_release_line(screen, input, now);
	else if (view->release)
		view->release(screen->selves[screen_at(screen)], input->row, input->column);
}

bool screen_is_urgent(const struct screen *screen, const struct input *input)
{
	return input->kind >= INPUT_RESIZE || (input->kind == INPUT_KEY && quits_at_once(screen, input->code));
}

static enum screen_act take(struct screen *screen, const struct input *input, uint64_t now)
{
	switch (input->kind) {
	case INPUT_QUIT:
		return SCREEN_QUIT;
	case INPUT_SUSPEND:
		return SCREEN_SUSPEND;
	case INPUT_CLICK:
		return click(screen, input, now);
	case INPUT_RELEASE:
		release(screen, input, now);
		return SCREEN_NOTHING;
	case INPUT_SCROLL_UP:
		scroll(screen, ACTION_UP);
		return SCREEN_NOTHING;
	case INPUT_SCROLL_DOWN:
		scroll(screen, ACTION_DOWN);
		return SCREEN_NOTHING;
	case INPUT_KEY:
		if (input->code)		/* the bytes of the mouse's own report come before it, as no key */
			screen->held = 0;
		return take_key(screen, input, now);
	case INPUT_PASTE:
		paste(screen, input, now);
		return SCREEN_NOTHING;
	case INPUT_CONTINUE:
	case INPUT_RESIZE:
		break;
	}
	return SCREEN_NOTHING;
}

enum screen_act screen_input(struct screen *screen, const struct input *input, uint64_t now)
{
	uint64_t filtered = screen->scope.filtered;
	enum screen_act act;

	if (!screen_only_moves(screen, input))
		screen->drawn = false;
	act = take(screen, input, now);
	if (filtered != screen->scope.filtered)
		screen_show(screen);	/* the next key may come before an answer does */
	return act;
}
