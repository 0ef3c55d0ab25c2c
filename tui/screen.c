#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "config.h"
#include "feed.h"
#include "header.h"
#include "input.h"
#include "key_bar.h"
#include "keys.h"
#include "picture.h"
#include "prompt.h"
#include "scope.h"
#include "screen.h"
#include "session.h"
#include "status.h"
#include "theme.h"
#include "util.h"
#include "view.h"
#include "view_functions.h"
#include "view_help.h"

enum { VIEW_FUNCTIONS, VIEW_HELP, VIEWS };

static const struct view *const views[VIEWS] = {
	[VIEW_FUNCTIONS] = &view_functions,
	[VIEW_HELP] = &view_help,
};

enum { WHEEL_LINES = 3, SCREEN_BAR_ROWS = 10, SCREEN_STATUS_ROWS = 16 };

struct screen {
	struct feed feed;
	const struct keys *keys;
	struct picture *picture;	/* NULL before the first */
	struct scope scope;
	struct session_wish wish;	/* as sent last */
	void *selves[VIEWS];
	int current;
	int rows, columns;		/* as drawn last */

	struct status_line status;
	struct prompt prompt;
	bool filtering;			/* the open prompt is the filter's, not the search's */
	struct scope before;		/* where an abandoned filter goes back to */
	char bad[160];			/* what is wrong with the prompt's text, or "" */
};

struct screen *screen_new(struct feed feed, const struct config *config)
{
	struct screen *screen = util_alloc(sizeof *screen);

	screen->feed = feed;
	screen->keys = &config->keys;
	scope_init(&screen->scope);
	screen->scope.window_ns = config->window_ns;
	for (int i = 0; i < VIEWS; i++)
		screen->selves[i] = views[i]->new(config);
	return screen;
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	for (int i = 0; i < VIEWS; i++)
		views[i]->free(screen->selves[i]);
	picture_free(screen->picture);
	free(screen);
}

/* Both say a text that may have keys in it, for keys_text. */
static void say(struct screen *screen, uint64_t now, const char *text)
{
	char filled[KEYS_TEXT];

	status_say(&screen->status, false, keys_text(screen->keys, text, filled), now);
}

static void complain(struct screen *screen, uint64_t now, const char *text)
{
	char filled[KEYS_TEXT];

	status_say(&screen->status, true, keys_text(screen->keys, text, filled), now);
}

static void use_picture(struct screen *screen, struct picture *picture, uint64_t now)
{
	struct picture *before = screen->picture;

	screen->picture = picture;
	for (int i = 0; i < VIEWS; i++)
		if (views[i]->show)
			views[i]->show(screen->selves[i], picture, &screen->scope);
	picture_free(before);
	if (picture->now < screen->scope.zero_ns || picture->now < screen->scope.until_ns) {
		screen->scope.zero_ns = 0;
		screen->scope.until_ns = 0;
		say(screen, now, "the guest's time began anew: the screen is live, and counts all");
	}
}

bool screen_step(struct screen *screen, uint64_t now)
{
	struct session_message message;
	struct picture *picture = screen->feed.picture(screen->feed.self);
	bool changed = status_expire(&screen->status, now);

	if (picture) {
		changed = changed || !screen->picture ||
			picture->generation != screen->picture->generation;
		use_picture(screen, picture, now);
	}
	while (screen->feed.message(screen->feed.self, &message)) {
		status_say(&screen->status, message.failed, message.text, now);
		changed = true;
	}
	return changed;
}

bool screen_has_table(const struct screen *screen)
{
	const struct picture *picture = screen->picture;

	return picture && picture->table && picture->table->count;
}

static bool search(struct screen *screen, const char *pattern, enum list_search where)
{
	const struct view *view = views[screen->current];

	return !view->search || view->search(screen->selves[screen->current], pattern, where);
}

static void search_key(struct screen *screen, const struct input *input, enum prompt_event event)
{
	bool found = true;

	if (event == PROMPT_LEFT)
		views[screen->current]->act(screen->selves[screen->current], ACTION_BACK);
	else if (event == PROMPT_CHANGED)
		found = search(screen, screen->prompt.text, LIST_HERE);
	else if (event == PROMPT_SAME && keys_action(screen->keys, input->code) == ACTION_SEARCH)
		found = search(screen, screen->prompt.text, LIST_NEXT);
	if (event != PROMPT_SAME)
		snprintf(screen->bad, sizeof screen->bad, "%s", found ? "" : "not found");
}

static void filter_key(struct screen *screen, enum prompt_event event, uint64_t now)
{
	char *error = NULL;
	bool good = scope_filter(&screen->scope, screen->prompt.text, &error);

	snprintf(screen->bad, sizeof screen->bad, "%s", good ? "" : error);
	if (event == PROMPT_LEFT || (event == PROMPT_DONE && !good)) {
		screen->scope.filter = screen->before.filter;
		strcpy(screen->scope.filter_text, screen->before.filter_text);
	}
	if (event == PROMPT_DONE && !good) {
		char *text = util_format("the filter was not taken: %s", error);

		status_say(&screen->status, true, text, now);
		free(text);
	}
	free(error);
}

static void prompt_input(struct screen *screen, const struct input *input, uint64_t now)
{
	enum prompt_event event = prompt_key(&screen->prompt, input->code);

	if (screen->filtering)
		filter_key(screen, event, now);
	else
		search_key(screen, input, event);
}

/* A paste may hold anything: it is no row of keys. */
static void paste(struct screen *screen, const struct input *input, uint64_t now)
{
	if (screen->prompt.label)
		prompt_input(screen, input, now);
	else
		say(screen, now, "a paste is not taken for keys; open a line for it, by {search} or {filter}");
}

static void open_prompt(struct screen *screen, bool filtering)
{
	char hint[KEYS_TEXT];

	screen->filtering = filtering;
	screen->before = screen->scope;
	screen->bad[0] = '\0';
	if (filtering)
		prompt_open(&screen->prompt,
			"Filter:", "NAME cpu:0 thread:NAME mode:kernel|user|idle",
			screen->scope.filter_text);
	else
		prompt_open(&screen->prompt,
			"Search:", keys_text(screen->keys,
			"Enter keeps it, {next} next, {previous} previous, Esc leaves", hint), "");
}

static void run(struct screen *screen, uint64_t now)
{
	bool on = !screen->feed.running(screen->feed.self);
	char *text = util_format("asking %s to %s profiling",
		screen->picture->machines ? "all guests" : "the guest", on ? "start" : "stop");

	say(screen, now, text);
	free(text);
	screen->feed.run_profiler(screen->feed.self, on);
}

static void snapshot(struct screen *screen, uint64_t now)
{
	say(screen, now, "writing the snapshot");
	screen->feed.snapshot(screen->feed.self, screen->picture->kernel);
}

static void next_window(struct screen *screen, uint64_t now)
{
	char window[SCOPE_WINDOW], *text;

	scope_next_window(&screen->scope);
	text = util_format("window: %s", scope_window(&screen->scope, window));
	say(screen, now, text);
	free(text);
}

static void zero(struct screen *screen, uint64_t now)
{
	screen->scope.zero_ns = screen->picture->now;
	screen->scope.until_ns = 0;
	say(screen, now, "zeroed: counting from now on; {back} takes all again");
}

static void freeze(struct screen *screen, uint64_t now)
{
	const struct picture *picture = screen->picture;
	bool frozen = screen->scope.until_ns != 0;

	screen->scope.until_ns = frozen ? 0 : picture->table ? picture->table->to : picture->now;
	say(screen, now, frozen ? "live again" :
		"frozen: the window is held, collection goes on; {freeze} lets go");
}

static void go_back(struct screen *screen, uint64_t now)
{
	if (screen->current != VIEW_FUNCTIONS) {
		screen->current = VIEW_FUNCTIONS;
	} else if (screen->scope.filter_text[0]) {
		scope_filter(&screen->scope, "", NULL);
		say(screen, now, "no filter: all is shown");
	} else if (screen->scope.zero_ns) {
		screen->scope.zero_ns = 0;
		say(screen, now, "counting all again");
	}
}

static void repeat_search(struct screen *screen, enum list_search where, uint64_t now)
{
	if (!search(screen, "", where))
		complain(screen, now,
			"search failed: no such name in the table; {search} searches another");
}

/* Actions that need a picture. */
static void act_on_picture(struct screen *screen, enum action action, uint64_t now)
{
	if (action == ACTION_RUN)
		run(screen, now);
	else if (action == ACTION_SNAPSHOT)
		snapshot(screen, now);
	else if (action == ACTION_ZERO)
		zero(screen, now);
	else if (action == ACTION_FREEZE)
		freeze(screen, now);
}

static enum screen_wish act(struct screen *screen, enum action action, uint64_t now)
{
	if (views[screen->current]->act(screen->selves[screen->current], action))
		return SCREEN_NOTHING;
	switch (action) {
	case ACTION_QUIT:
		return SCREEN_QUIT;
	case ACTION_REDRAW:
		return SCREEN_REDRAW;
	case ACTION_SUSPEND:
		return SCREEN_SUSPEND;
	case ACTION_NEXT_TAB:
		return SCREEN_NEXT_TAB;
	case ACTION_PREVIOUS_TAB:
		return SCREEN_PREVIOUS_TAB;
	case ACTION_HELP:
		screen->current = screen->current == VIEW_HELP ? VIEW_FUNCTIONS : VIEW_HELP;
		break;
	case ACTION_BACK:
		go_back(screen, now);
		break;
	case ACTION_SEARCH:
	case ACTION_FILTER:
		screen->current = VIEW_FUNCTIONS;
		open_prompt(screen, action == ACTION_FILTER);
		break;
	case ACTION_NEXT:
		repeat_search(screen, LIST_NEXT, now);
		break;
	case ACTION_PREVIOUS:
		repeat_search(screen, LIST_PREVIOUS, now);
		break;
	case ACTION_WINDOW:
		next_window(screen, now);
		break;
	default:
		if (screen->picture)
			act_on_picture(screen, action, now);
	}
	return SCREEN_NOTHING;
}

static void scroll(struct screen *screen, enum action action)
{
	for (int i = 0; i < WHEEL_LINES; i++)
		views[screen->current]->act(screen->selves[screen->current], action);
}

static enum screen_wish click(struct screen *screen, const struct input *input, uint64_t now)
{
	const struct view *view = views[screen->current];

	if (input->row == screen->rows - 1 && screen->rows >= SCREEN_BAR_ROWS)
		return act(screen,
			key_bar_action(screen->keys, screen->columns, input->column), now);
	if (view->click)
		view->click(screen->selves[screen->current], input->row, input->column);
	return SCREEN_NOTHING;
}

enum screen_wish screen_input(struct screen *screen, const struct input *input, uint64_t now)
{
	switch (input->kind) {
	case INPUT_QUIT:
		return SCREEN_QUIT;
	case INPUT_SUSPEND:
		return SCREEN_SUSPEND;
	case INPUT_CLICK:
		return click(screen, input, now);
	case INPUT_SCROLL_UP:
		scroll(screen, ACTION_UP);
		return SCREEN_NOTHING;
	case INPUT_SCROLL_DOWN:
		scroll(screen, ACTION_DOWN);
		return SCREEN_NOTHING;
	case INPUT_KEY:
		status_seen(&screen->status);
		if (!screen->prompt.label)
			return act(screen, keys_action(screen->keys, input->code), now);
		if (keys_action(screen->keys, input->code) == ACTION_QUIT && input->code < ' ')
			return SCREEN_QUIT;
		prompt_input(screen, input, now);
		return SCREEN_NOTHING;
	case INPUT_PASTE:
		paste(screen, input, now);
		return SCREEN_NOTHING;
	case INPUT_CONTINUE:
	case INPUT_RESIZE:
		break;
	}
	return SCREEN_NOTHING;
}

/*
 * The last rows are the status line and the key bar. Where rows are few, the status line lies over
 * the view's last row while it has something to say; where they are fewer, there is no key bar.
 */
static int bar_rows(const struct canvas *canvas)
{
	return canvas->rows >= SCREEN_BAR_ROWS ? 1 : 0;
}

static int status_rows(const struct canvas *canvas)
{
	return canvas->rows >= SCREEN_STATUS_ROWS ? 1 : 0;
}

static void draw_bottom(const struct screen *screen, struct canvas *canvas)
{
	struct place place = { canvas->rows - bar_rows(canvas) - 1, 0, canvas->columns };
	char remark[HEADER_REMARK] = "";

	if (screen->prompt.label)
		prompt_draw(&screen->prompt, canvas, place, screen->bad[0] ? screen->bad : NULL);
	else
		status_draw(&screen->status, canvas, place,
			screen->picture && status_rows(canvas) ?
			header_remark(screen->picture, screen->keys, remark) : "");
	place.row++;
	if (bar_rows(canvas))
		key_bar_draw(screen->keys, canvas, place);
}

static void send_wish(struct screen *screen)
{
	struct session_wish wish;
	struct view_needs needs = { .visible_count = 0 };

	views[VIEW_FUNCTIONS]->needs(screen->selves[VIEW_FUNCTIONS], &needs);
	memset(&wish, 0, sizeof wish);
	wish.window_ns = screen->scope.window_ns;
	wish.zero_ns = screen->scope.zero_ns;
	wish.until_ns = screen->scope.until_ns;
	wish.filter = screen->scope.filter;
	wish.visible_count = needs.visible_count;
	memcpy(wish.visible, needs.visible, needs.visible_count * sizeof *needs.visible);
	wish.selected = needs.selected;
	if (memcmp(&wish, &screen->wish, sizeof wish) == 0)
		return;
	screen->wish = wish;
	screen->feed.wish(screen->feed.self, &wish);
}

static void draw_too_small(const struct screen *screen, struct canvas *canvas)
{
	char quit[KEYS_TEXT];
	char *text = util_format("ktop needs %dx%d, this is %dx%d; make it larger, or %s",
		SCREEN_LEAST_COLUMNS, SCREEN_LEAST_ROWS, canvas->columns, canvas->rows,
		keys_text(screen->keys, "{quit}", quit));

	canvas_wrap(canvas, (struct area) { 0, 0, canvas->rows, canvas->columns }, STYLE_WARN, text);
	free(text);
}

void screen_draw(struct screen *screen, struct canvas *canvas)
{
	struct area all = { 0, 0, canvas->rows, canvas->columns };
	int used = 0;

	canvas_clear(canvas);
	screen->rows = canvas->rows;
	screen->columns = canvas->columns;
	if (canvas->rows < SCREEN_LEAST_ROWS || canvas->columns < SCREEN_LEAST_COLUMNS) {
		draw_too_small(screen, canvas);
		return;
	}
	if (screen->picture)
		used = header_draw(canvas, all, screen->picture, &screen->scope);
	else
		used = canvas_wrap(canvas, (struct area) { 0, 1, 2, canvas->columns - 1 },
			STYLE_DIM, "ktop: waiting for the first picture");
	views[screen->current]->draw(screen->selves[screen->current], canvas,
		(struct area) { used, 0, canvas->rows - used - status_rows(canvas) -
			bar_rows(canvas), canvas->columns });
	draw_bottom(screen, canvas);
	send_wish(screen);
}
