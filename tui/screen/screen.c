/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/session/picture.h"
#include "agent/session/session.h"
#include "tui/frame/header.h"
#include "tui/frame/key_bar.h"
#include "tui/frame/prompt.h"
#include "tui/frame/scope.h"
#include "tui/frame/status.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/config.h"
#include "tui/views/view_functions.h"
#include "tui/views/view_help.h"
#include "feed.h"
#include "screen.h"
#include "screen_state.h"

const struct view *const screen_views[VIEWS] = {
	[VIEW_FUNCTIONS] = &view_functions,
	[VIEW_HELP] = &view_help,
};

struct screen *screen_new(struct feed feed, const struct config *config)
{
	struct screen *screen = util_alloc(sizeof *screen);

	screen->feed = feed;
	screen->keys = &config->keys;
	scope_init(&screen->scope);
	screen->scope.window_ns = config->window_ns;
	for (int i = 0; i < VIEWS; i++)
		screen->selves[i] = screen_views[i]->new(config);
	return screen;
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	for (int i = 0; i < VIEWS; i++)
		screen_views[i]->free(screen->selves[i]);
	picture_free(screen->picture);
	free(screen);
}

void screen_say(struct screen *screen, uint64_t now, const char *text)
{
	char filled[KEYS_TEXT];

	status_say(&screen->status, false, keys_text(screen->keys, text, filled), now);
}

void screen_complain(struct screen *screen, uint64_t now, const char *text)
{
	char filled[KEYS_TEXT];

	status_say(&screen->status, true, keys_text(screen->keys, text, filled), now);
}

/* Another boot, or the same one put back to an earlier time: its clock says nothing of before. */
static bool began_anew(const struct picture *before, const struct picture *picture,
	const struct scope *scope)
{
	return picture->now < scope->zero_ns || picture->now < scope->until_ns ||
		(before && before->boot && before->boot != picture->boot);
}

void screen_show(struct screen *screen)
{
	for (int i = 0; i < VIEWS; i++)
		if (screen_views[i]->show && screen->picture)
			screen_views[i]->show(screen->selves[i], screen->picture, &screen->scope);
}

static void use_picture(struct screen *screen, struct picture *picture, uint64_t now)
{
	struct picture *before = screen->picture;
	bool anew;

	screen->picture = picture;
	screen_show(screen);
	if (before && before->running != picture->running)
		status_profiler(&screen->status);
	anew = began_anew(before, picture, &screen->scope);
	picture_free(before);
	if (anew && (screen->scope.zero_ns || screen->scope.until_ns)) {
		screen->scope.zero_ns = 0;
		screen->scope.until_ns = 0;
		screen_say(screen, now, "the guest restarted or was put back: freeze and zero are off");
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
		if (status_say(&screen->status, message.failed, message.text, now))
			screen->status.profiler = message.profiler;
		changed = true;
	}
	return changed;
}

bool screen_has_table(const struct screen *screen)
{
	const struct picture *picture = screen->picture;

	return picture && picture->table && picture->table->count;
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

void screen_send_wish(struct screen *screen)
{
	struct session_wish wish;
	struct view_needs needs = { .visible_count = 0 };

	screen_views[VIEW_FUNCTIONS]->needs(screen->selves[VIEW_FUNCTIONS], &needs);
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
	screen_views[screen->current]->draw(screen->selves[screen->current], canvas,
		(struct area) { used, 0, canvas->rows - used - status_rows(canvas) -
			bar_rows(canvas), canvas->columns });
	draw_bottom(screen, canvas);
	screen_send_wish(screen);
}
