/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/time_line.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/session/session.h"
#include "tui/frame/emptiness.h"
#include "tui/frame/header.h"
#include "tui/frame/key_bar.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/config.h"
#include "tui/views/view_console.h"
#include "feed.h"
#include "screen.h"
#include "screen_state.h"

enum {
	VITALS_MS = 100,		/* the pause between two vitals */
	HELD_MOST_MS = 10000,		/* a button that is held for longer was let go, and nobody told */
};

struct screen *screen_new(struct feed feed, const struct config *config)
{
	struct screen *screen = util_alloc(sizeof(*screen));

	screen->feed = feed;
	screen->keys = &config->keys;
	scope_init(&screen->scope);
	screen->scope.window_ns = config->window_ns;
	for (int i = 0; i < VIEWS; i++)
		screen->selves[i] = screen_views[i]->new(config);
	view_console_begin(screen->selves[VIEW_CONSOLE], feed.console);
	screen_views_init(screen);
	return screen;
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	for (int i = 0; i < VIEWS; i++)
		screen_views[i]->free(screen->selves[i]);
	vitals_free(screen->vitals);
	time_line_free(screen->line);
	for (int i = 0; i < VIEWS; i++)
		answer_free(screen->answers[i]);
	free(screen->question);
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

/* True for another boot, and for the same boot put back to an earlier time: older times mean nothing any more. */
static bool began_anew(const struct vitals *before, const struct vitals *vitals, const struct scope *scope)
{
	return vitals->now < scope->zero_ns || vitals->now < scope->until_ns || vitals->now < scope->base.until_ns ||
		(before && before->answer.boot && before->answer.boot != vitals->answer.boot);
}

void screen_show(struct screen *screen)
{
	for (int i = 0; i < VIEWS; i++)
		if (screen_views[i]->show && screen->vitals)
			screen_views[i]->show(screen->selves[i], screen->vitals, screen->answers[i],
				&screen->scope);
}

struct view_told screen_told(const struct screen *screen)
{
	return screen_views[screen->current]->told(screen->selves[screen->current]);
}

bool screen_is_of_boot(const struct screen *screen, const struct answer *answer)
{
	const struct vitals *vitals = screen->vitals;

	return answer && vitals && vitals->now && answer->boot == vitals->answer.boot;
}

int screen_at(const struct screen *screen)
{
	return screen->cover ? screen->cover : screen->current;
}

const struct view *screen_shown(const struct screen *screen)
{
	return screen_views[screen_at(screen)];
}

/*
 * Takes new vitals. The views get them before the old ones are freed. If the guest began anew, freeze, zero and
 * baseline end: they are times of another boot.
 */
static void use_vitals(struct screen *screen, struct vitals *vitals, uint64_t now)
{
	struct vitals *before = screen->vitals;
	bool anew;

	screen->vitals = vitals;
	header_settle(vitals, &screen->scope, screen->keys);
	if (before && before->running != vitals->running)
		status_profiler(&screen->status);
	anew = began_anew(before, vitals, &screen->scope);
	if (anew)
		screen->pressed.end = 0;
	screen_show(screen);
	screen->drawn = screen->drawn && before;	/* before the first, no rows were shown */
	vitals_free(before);
	if (anew && (screen->scope.zero_ns || screen->scope.until_ns || screen->scope.base.until_ns)) {
		screen->scope.zero_ns = 0;
		scope_live(&screen->scope);
		screen->scope.base = (struct baseline) { .until_ns = 0 };
		screen_say(screen, now, "the guest restarted or was put back: freeze, zero and baseline are off");
	}
}

/*
 * A boot without samples leaves the rows of the boot before on the screen: a machine that resets again and again can be
 * read. They are answers to the same question. In a recording, somebody has gone to the other boot.
 */
static bool stays(const struct screen *screen, const struct answer *answer)
{
	const struct answer *shown = screen->answers[screen->current];

	return shown && shown->boot && shown->boot != answer->boot && !answer->begun && screen->answered &&
		screen_told(screen).rows && screen->vitals && !screen->vitals->play.there;
}

/* An answer to a question of another view, which was shown before, is of no use any more. */
static void use_answer(struct screen *screen, struct answer *answer)
{
	struct answer *before = answer;

	if (screen_views[screen->current]->takes(screen->selves[screen->current], answer, &screen->scope)) {
		if (!stays(screen, answer)) {
			before = screen->answers[screen->current];
			screen->answers[screen->current] = answer;
			screen_show(screen);
		}
		screen_rows_came(screen, answer);
	}
	answer_free(before);
}

/* True: there were some. */
static bool take_answers(struct screen *screen, uint64_t now)
{
	struct answer *vitals = screen->feed.answer(screen->feed.self, FEED_VITALS);
	struct answer *answer = screen->feed.answer(screen->feed.self, FEED_VIEW);
	struct answer *line = screen->feed.answer(screen->feed.self, FEED_LINE);

	if (answer)
		use_answer(screen, answer);
	if (line) {
		time_line_free(screen->line);
		screen->line = (struct time_line *)line;
	}
	if (vitals)
		use_vitals(screen, (struct vitals *)vitals, now);
	return vitals || answer || line;
}

bool screen_step(struct screen *screen, uint64_t now)
{
	struct session_message message;
	bool changed = status_expire(&screen->status, now);

	if (screen->cover == VIEW_CONSOLE && view_console_changed(screen->selves[VIEW_CONSOLE]))
		changed = true;
	if (screen->held && now - screen->held >= HELD_MOST_MS * NS_PER_MS) {
		screen->held = 0;
		changed = true;
	}
	if (!screen->held && take_answers(screen, now))
		changed = true;
	while (screen->feed.message(screen->feed.self, &message)) {
		if (status_say(&screen->status, message.failed, message.text, now))
			screen->status.profiler = message.profiler;
		changed = true;
	}
	return changed;
}

bool screen_has_table(const struct screen *screen)
{
	return screen_told(screen).rows;
}

/*
 * The last rows are the status line and the key bar. With few rows, the status line covers the view's last row while it
 * has something to say. With even fewer, there is no key bar.
 */
static int bar_rows(const struct canvas *canvas)
{
	return canvas->rows >= SCREEN_BAR_ROWS ? 1 : 0;
}

static int status_rows(const struct canvas *canvas)
{
	return canvas->rows >= SCREEN_STATUS_ROWS ? 1 : 0;
}

/* The rows are of another boot than the header: why this one has none. "": they are not. */
static const char *remark_of_boot(const struct screen *screen, char text[HEADER_REMARK])
{
	const struct answer *shown = screen->answers[screen->current];
	struct emptiness empty;
	char what_to_do[KEYS_TEXT];

	if (!shown || !shown->boot || shown->boot >= screen->vitals->answer.boot || !screen_has_table(screen))
		return "";
	empty = emptiness(screen->vitals, NULL, &screen->scope);
	util_print(text, HEADER_REMARK, "The rows are of the boot before. This one: %s %s", empty.why,
		keys_text(screen->keys, empty.what_to_do, what_to_do));
	return text;
}

/* What the status line says while it has no message. */
static const char *remark_of(const struct screen *screen, const struct canvas *canvas, char text[HEADER_REMARK])
{
	if (!screen->vitals)
		return "";
	if (!screen->cover && *remark_of_boot(screen, text))
		return text;
	if (!status_rows(canvas))
		return "";
	if (screen->held)
		return "The screen stands still until the mouse's button is let go.";
	return header_remark(screen->vitals, &screen->scope, screen_has_table(screen), screen->keys, text);
}

static void draw_bottom(const struct screen *screen, struct canvas *canvas)
{
	struct place place = { canvas->rows - bar_rows(canvas) - 1, 0, canvas->columns };
	struct key_label labels[KEY_LABELS];
	char remark[HEADER_REMARK] = "", question[KEYS_TEXT];

	if (screen->asks_end)
		status_ask(canvas, place, keys_text(screen->keys, "{quit} again ends the VM, d leaves it running",
			question));
	else if (screen->prompt.label)
		prompt_draw(&screen->prompt, canvas, place, screen->bad[0] ? screen->bad : NULL);
	else
		status_draw(&screen->status, canvas, place, remark_of(screen, canvas, remark));
	place.row++;
	if (bar_rows(canvas) && screen_own_labels(screen, labels))
		key_bar_draw_own(labels, canvas, place);
	else if (bar_rows(canvas))
		key_bar_draw(screen->keys, canvas, place);
}

static void ask_vitals(const struct screen *screen, int rows)
{
	struct vitals_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &vitals_kind;
	request.request.pause_ms = VITALS_MS;
	request.cpus = header_cpus(rows);
	scope_excerpt(&screen->scope, &request.request.excerpt);
	screen->feed.ask(screen->feed.self, FEED_VITALS, &request.request);
}

/* Asks for what has just been drawn. */
static void ask(struct screen *screen, const struct canvas *canvas)
{
	const struct view *view = screen_shown(screen);
	const struct request *request = view->ask ?
		view->ask(screen->selves[screen_at(screen)], &screen->scope) : NULL;

	ask_vitals(screen, canvas->rows);
	screen->feed.ask(screen->feed.self, FEED_VIEW, request);
	screen_rows_drawn(screen, request);
	screen_ask_line(screen);
}

/* Nothing of the machine is shown, so nothing is asked. */
static void ask_nothing(const struct screen *screen)
{
	for (int i = 0; i < FEED_QUESTIONS; i++)
		screen->feed.ask(screen->feed.self, (enum feed_question)i, NULL);
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

/* All above the status line. */
static void draw_view(struct screen *screen, struct canvas *canvas)
{
	struct area all = { 0, 0, canvas->rows, canvas->columns };
	int used = 0, bottom = bar_rows(canvas) + status_rows(canvas);

	if (screen->vitals)
		used = header_draw(canvas, all, screen->vitals, &screen->scope, screen->keys);
	else
		used = canvas_wrap(canvas, (struct area) { 0, 1, 2, canvas->columns - 1 },
			STYLE_DIM, "ktop: waiting for the machine");
	used += screen_draw_views(screen, canvas, used);
	bottom += screen_draw_line(screen, canvas, canvas->rows - bottom);
	screen_shown(screen)->draw(screen->selves[screen_at(screen)], canvas,
		(struct area) { used, 0, canvas->rows - used - bottom, canvas->columns });
}

void screen_draw(struct screen *screen, struct canvas *canvas)
{
	canvas_clear(canvas);
	screen->rows = canvas->rows;
	screen->columns = canvas->columns;
	screen->names.width = 0;
	if (canvas->rows < SCREEN_LEAST_ROWS || canvas->columns < SCREEN_LEAST_COLUMNS) {
		draw_too_small(screen, canvas);
		ask_nothing(screen);
		return;
	}
	draw_view(screen, canvas);
	draw_bottom(screen, canvas);
	ask(screen, canvas);
}

bool screen_is_marked(struct screen *screen)
{
	struct canvas *canvas;
	bool marked = false;

	if (!screen->scope.match[0] || screen->rows < SCREEN_LEAST_ROWS || screen->columns < SCREEN_LEAST_COLUMNS)
		return false;
	canvas = canvas_new(screen->rows, screen->columns, true);
	draw_view(screen, canvas);
	for (int i = 0; i < canvas->rows * canvas->columns; i++) {
		uint8_t style = canvas->cells[i].style & (STYLE_NAME - 1);

		marked |= style == STYLE_MATCH || style == STYLE_FLAME_SAME;	/* a flame dims what does not match */
	}
	canvas_free(canvas);
	return marked;
}
