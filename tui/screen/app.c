/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <string.h>

#include "agent/base/util.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/term.h"
#include "tui/terminal/tty.h"
#include "tui/views/config.h"
#include "app.h"
#include "screen.h"
#include "tabs.h"

/* ---- typed ---- */

void typed_put(struct typed *typed, const struct input *input)
{
	typed->inputs[(typed->first + typed->count++) % TYPED_MOST] = *input;
}

/* The first one may act. One that waits does so, too, if there is no room for another behind it. */
static bool typed_is_ready(const struct typed *typed, struct tabs *tabs, uint64_t now)
{
	return typed->count && (typed->count == TYPED_MOST ||
		!tabs_awaits(tabs, &typed->inputs[typed->first], now));
}

bool typed_take(struct typed *typed, struct tabs *tabs, uint64_t now, struct input *input)
{
	if (!typed_is_ready(typed, tabs, now))
		return false;
	*input = typed->inputs[typed->first];
	typed->first = (typed->first + 1) % TYPED_MOST;
	typed->count--;
	return true;
}

/* ---- app ---- */

static const uint64_t frame_ns = 100 * NS_PER_MS;	/* ten frames a second at most */
enum { TICK_MS = 250 };				/* longest wait, so that messages expire */

struct app {
	struct tabs *tabs;
	struct canvas *canvas;
	struct typed typed;
	uint64_t next;			/* when a frame may be shown that answers no key */
	bool changed;			/* there is something to draw */
	bool answering;			/* a key was pressed: draw at once */
	bool behind;			/* the terminal has not taken the last frame yet; keys act meanwhile */
	bool begun;			/* a table was shown */
	bool done, detach;		/* the end has come; the QEMU that was started is to go on */
};

bool app_possible(char **error)
{
	return term_possible(error);
}

/* The first table may be shown at once. */
static bool is_frame_due(const struct app *app)
{
	return !app->behind && (util_now() >= app->next || (!app->begun && tabs_has_table(app->tabs)));
}

/*
 * Answers are taken when a frame shows them at once. So a click is on what the terminal shows: no row moves between a
 * frame and the next.
 */
static bool takes_answers(const struct app *app)
{
	return !app->behind && (app->answering || !app->begun || is_frame_due(app));
}

/* How long the next poll may wait: until a key may act, or a frame is due; or TICK_MS. */
static int wait_ms(const struct app *app)
{
	uint64_t now = util_now();

	if (typed_is_ready(&app->typed, app->tabs, now))
		return 0;
	if (app->behind)
		return TICK_MS;
	if (!is_frame_due(app) && app->next > now)
		return (int)((app->next - now) / NS_PER_MS + 1);
	return app->changed || app->answering ? 0 : TICK_MS;
}

/* The next frame keeps the pace: a frame that was a little late does not put off those after it. */
static void pace(struct app *app)
{
	uint64_t now = util_now();
	bool kept = now >= app->next && now < app->next + frame_ns;

	app->next = (kept ? app->next : now) + frame_ns;
}

static void await(struct app *app)
{
	struct pollfd fds[TERM_FDS + TABS_FDS];
	int count = term_fds(fds);

	if (takes_answers(app))
		count += tabs_fds(app->tabs, fds + count);
	poll(fds, (nfds_t)count, wait_ms(app));
	app->behind = !tty_flush();
}

/* Takes a canvas of the terminal's present size. The next frame is sent whole. */
static void resize(struct app *app)
{
	canvas_free(app->canvas);
	app->canvas = term_canvas();
	term_redraw();
}

static void take_input(struct app *app, const struct input *input)
{
	enum screen_act act;

	if (input->kind == INPUT_CONTINUE)
		term_resume();
	if (input->kind == INPUT_CONTINUE || input->kind == INPUT_RESIZE)
		resize(app);
	act = tabs_input(app->tabs, input, util_now());
	switch (act) {
	case SCREEN_QUIT:
	case SCREEN_DETACH:
		app->detach = act == SCREEN_DETACH;
		app->done = true;
		break;
	case SCREEN_REDRAW:
		resize(app);
		break;
	case SCREEN_SUSPEND:
		app->done = !term_suspend();
		resize(app);
		break;
	case SCREEN_NOTHING:
	case SCREEN_NEXT_TAB:
	case SCREEN_PREVIOUS_TAB:
		break;
	}
	if (input->kind == INPUT_RESIZE)
		app->changed = true;
	else
		app->answering = true;
}

/* The next input that may act. While one waits for its rows, the others are read: Ctrl-C may be among them. */
static bool next_input(struct app *app, struct input *input)
{
	while (!typed_take(&app->typed, app->tabs, util_now(), input)) {
		if (!term_keys_read(input))
			return false;
		if (tabs_is_urgent(app->tabs, input))
			return true;
		typed_put(&app->typed, input);
	}
	return true;
}

static void draw(struct app *app)
{
	tabs_draw(app->tabs, app->canvas);
	app->behind = !term_show(app->canvas);
	pace(app);
	app->begun = app->begun || tabs_has_table(app->tabs);
	app->changed = false;
	app->answering = false;
}

/*
 * Takes all input that has come and may act, and answers it by a frame at once. A key that waits has one at once, too:
 * it may wait for just that. While input comes faster than it is taken, and for changes that answer no key, there is a
 * frame each frame_ns.
 */
static void step(struct app *app)
{
	struct input input;
	bool more = true;

	await(app);
	while (more && !app->done && !((app->changed || app->answering) && is_frame_due(app))) {
		more = next_input(app, &input);
		if (more)
			take_input(app, &input);
	}
	app->answering = app->answering || app->typed.count;
	if (app->done || app->behind)
		return;
	if (takes_answers(app) && tabs_step(app->tabs, util_now()))
		app->changed = true;
	if ((app->answering && !more) || ((app->changed || app->answering) && is_frame_due(app)))
		draw(app);
}

bool app_run(struct tabs *tabs, const struct config *config, struct app_end *end, char **error)
{
	struct app app = { .tabs = tabs };

	*end = (struct app_end) { .asked = util_now() };
	if (!term_open(&config->theme, error))
		return false;
	app.canvas = term_canvas();
	draw(&app);
	while (!app.done)
		step(&app);
	*end = (struct app_end) { util_now(), app.detach };
	term_close();
	canvas_free(app.canvas);
	if (tty_cut())
		return util_fail(error, "the screen ended: there is no room for its frames: %s; raise ulimit -f, or "
			"close other programs", strerror(tty_cut()));
	return !term_keys_gone() || util_fail(error,
		"the screen ended: its terminal is gone; start ktop again in another");
}
