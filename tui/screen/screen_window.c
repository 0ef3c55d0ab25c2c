/* SPDX-License-Identifier: MIT */
/* How wide the window is, and where it lies: chosen by keys, and with the mouse on the time line. */
#include <stdlib.h>
#include <string.h>

#include "agent/answers/time_line.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "tui/frame/header.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/input.h"
#include "tui/terminal/keys.h"
#include "screen_state.h"

enum { LINE_ROWS = 20, LINE_MS = 500 };	/* rows of the canvas from which there is a time line; the pause between two */

#define LEAST_NS (20 * NS_PER_MS)	/* a range that ends in the future is cut at now, unless less would be left */

static void say_window(struct screen *screen, uint64_t now)
{
	char window[SCOPE_WINDOW];
	char *text = util_format("window: %s", scope_window(&screen->scope, window));

	screen_say(screen, now, text);
	free(text);
}

/* Where it lies is told by the title: whole slices are counted, so it may be a little beside what was asked for. */
static void say_place(struct screen *screen, uint64_t now)
{
	screen_say(screen, now, "the window is the one in the title; {live} makes it live again");
}

void screen_live(struct screen *screen, uint64_t now)
{
	bool live = !screen->scope.until_ns;

	scope_live(&screen->scope);
	screen_say(screen, now, live ? "the window is live" : "live again");
}

static struct scope_kept kept(const struct screen *screen)
{
	return (struct scope_kept) { .begin = screen->vitals->oldest, .end = screen->vitals->now };
}

void screen_choose_range(struct screen *screen, uint64_t from, uint64_t to, uint64_t now)
{
	if (to > kept(screen).end && from + LEAST_NS <= kept(screen).end)
		to = kept(screen).end;
	scope_choose(&screen->scope, from, to, kept(screen));
	say_place(screen, now);
}

void screen_take_range(struct screen *screen, uint64_t now)
{
	const struct view *view = screen_shown(screen);
	uint64_t from, to;

	if (view->range && screen_is_of_boot(screen, screen->answers[screen->current]) &&
			view->range(screen->selves[screen->current], &from, &to))
		screen_choose_range(screen, from, to, now);
}

static void move(struct screen *screen, bool on, uint64_t now)
{
	switch (scope_move(&screen->scope, on, kept(screen))) {
	case SCOPE_MOVED:
		say_place(screen, now);
		break;
	case SCOPE_FIRST:
		screen_say(screen, now, "nothing is kept before this window");
		break;
	case SCOPE_LIVE:
		screen_say(screen, now, "the window is live: it ends now");
		break;
	case SCOPE_WHOLE:
		screen_complain(screen, now, "not moved: the window is all there is; {narrow} takes a narrower one");
		break;
	}
}

static void widen(struct screen *screen, bool wider, uint64_t now)
{
	scope_widen(&screen->scope, wider, kept(screen));
	if (screen->scope.moved && screen->scope.window_ns)
		say_place(screen, now);
	else
		say_window(screen, now);
}

bool screen_window_act(struct screen *screen, enum action action, uint64_t now)
{
	bool places = action == ACTION_BEFORE || action == ACTION_AFTER, widens = action == ACTION_WIDEN ||
		action == ACTION_NARROW;

	if (action == ACTION_WINDOW) {
		scope_next_window(&screen->scope);
		say_window(screen, now);
	} else if (action == ACTION_LIVE) {
		screen_live(screen, now);
	} else if ((places || widens) && (!screen->vitals || !screen->vitals->now)) {
		screen_complain(screen, now,
			"not moved: nothing has come from the guest yet; wait for its first data");
	} else if (places) {
		move(screen, action == ACTION_AFTER, now);
	} else if (widens) {
		widen(screen, action == ACTION_WIDEN, now);
	}
	return places || widens || action == ACTION_WINDOW || action == ACTION_LIVE;
}

/* ---- the time line ---- */

int screen_draw_line(struct screen *screen, struct canvas *canvas, int below)
{
	screen->times = (struct place) { .row = below - 1 };
	if (canvas->rows < LINE_ROWS || !time_row_slots(canvas->columns))
		return 0;
	screen->times.width = canvas->columns;
	if (!screen->cover)
		time_row_draw(canvas, screen->times, screen->line, &screen->scope);
	return 1;
}

/* The function that the cursor was put on; 0: all that runs is shown. */
static uint64_t chosen(const struct screen *screen)
{
	const struct view *view = screen_shown(screen);
	struct view_chosen function = { .name = 0 };

	if (view->chosen)
		function = view->chosen(screen->selves[screen->current]);
	return function.put ? function.name : 0;
}

void screen_ask_line(const struct screen *screen)
{
	struct time_line_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &time_line_kind;
	request.request.pause_ms = LINE_MS;
	request.request.excerpt.filter = screen->scope.filter;
	request.of = chosen(screen);
	request.slots = time_row_slots(screen->times.width);
	screen->feed.ask(screen->feed.self, FEED_LINE, request.slots && !screen->cover ? &request.request : NULL);
}

bool screen_press_line(struct screen *screen, const struct input *input)
{
	bool on = screen->times.width && input->row == screen->times.row && screen->line &&
		screen_is_of_boot(screen, &screen->line->answer);

	screen->pressed = on ? time_row_at(screen->times, screen->line, input->column) :
		(struct time_slot) { .end = 0 };
	return on;
}

/* Pressed and let go at one place: the window's middle goes there. At two places: the window is all between them. */
void screen_release_line(struct screen *screen, const struct input *input, uint64_t now)
{
	struct scope *scope = &screen->scope;
	struct time_slot from = screen->pressed, to;
	uint64_t middle = from.begin + (from.end - from.begin) / 2;
	bool one;

	screen->pressed.end = 0;
	if (!screen->times.width || !screen->line || !screen_is_of_boot(screen, &screen->line->answer))
		return;
	to = time_row_at(screen->times, screen->line, input->column);
	one = from.begin < to.end && to.begin < from.end;
	if (from.begin > to.begin) {
		struct time_slot later = from;

		from = to;
		to = later;
	}
	if (one && scope->window_ns)
		scope_choose(scope, middle > scope->window_ns / 2 ? middle - scope->window_ns / 2 : 0,
			middle > scope->window_ns / 2 ? middle + scope->window_ns - scope->window_ns / 2 :
			scope->window_ns, kept(screen));
	else if (to.end)
		scope_choose(scope, from.begin, to.end, kept(screen));
	say_place(screen, now);
}
