/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/answer.h"
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
#include "tui/views/views.h"
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
	answer_free((struct answer *)screen->vitals);
	answer_free((struct answer *)screen->line);
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
	answer_free((struct answer *)before);
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
static void use_answer(struct screen *screen, struct answer *answer, uint64_t now)
{
	struct answer *before = answer;

	if (screen_views[screen->current]->takes(screen->selves[screen->current], answer, &screen->scope)) {
		if (!stays(screen, answer)) {
			before = screen->answers[screen->current];
			screen->answers[screen->current] = answer;
			screen_show(screen);
			screen_take_range(screen, now);		/* of a key that has waited for this answer */
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
		use_answer(screen, answer, now);
	if (line) {
		answer_free((struct answer *)screen->line);
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

/* ---- rows ---- */

/* Which rows are on the screen: those that the keys so far have asked for, or others that were there before. */

/* Longer than nearly all answers take. A person takes more for a fault. */
static const uint64_t wait_ns = NS_PER_SECOND;

/* As much of the question as decides which rows there are, in fresh memory. NULL: nothing is asked. */
static struct request *about_rows(const struct view *view, const struct request *request)
{
	size_t size = request ? request->kind->request_size : 0;
	struct request *rows = request ? memcpy(util_alloc(size), request, size) : NULL;

	if (rows && view->forget_details)
		view->forget_details(rows);
	return rows;
}

static bool are_same(const struct request *one, const struct request *other)
{
	if (!one || !other)
		return one == other;
	return one->kind == other->kind && memcmp(one, other, one->kind->request_size) == 0;
}

void screen_rows_drawn(struct screen *screen, const struct request *request)
{
	struct request *rows = about_rows(screen_shown(screen), request);

	screen->drawn = true;
	if (screen->cover || are_same(rows, screen->question)) {
		free(rows);
		return;
	}
	free(screen->question);
	screen->question = rows;
	screen->answered = !rows;
}

void screen_look_away(struct screen *screen)
{
	free(screen->question);
	screen->question = NULL;
	screen->drawn = false;
	screen->held = 0;
}

void screen_rows_came(struct screen *screen, const struct answer *answer)
{
	screen->drawn = false;
	if (answer->partial && !screen_told(screen).rows)
		return;
	screen->answered = true;
	screen->late = false;
}

/*
 * A look at another view acts on rows, too: the function under the cursor goes along, and a list that has seen the rows
 * of another filter begins at its top.
 */
static bool acts_on_rows(const struct screen *screen, enum action action)
{
	switch (action) {
	case ACTION_NONE:
	case ACTION_SEARCH: case ACTION_FILTER: case ACTION_TIME:
	case ACTION_GROUP: case ACTION_IDLE: case ACTION_DISMISS:
	case ACTION_FASTER: case ACTION_SLOWER: case ACTION_STEP: case ACTION_EARLIER: case ACTION_LATER:
	case ACTION_NEXT_BOOT: case ACTION_PREVIOUS_BOOT:
	case ACTION_NEXT_TAB: case ACTION_PREVIOUS_TAB:
	case ACTION_CONSOLE: case ACTION_HELP: case ACTION_REDRAW: case ACTION_SUSPEND: case ACTION_QUIT:
		return false;
	case ACTION_SORT_TIME:
		return !screen_reads_dead(screen);
	case ACTION_WINDOW: case ACTION_BEFORE: case ACTION_AFTER: case ACTION_WIDEN: case ACTION_NARROW:
	case ACTION_LIVE:
	case ACTION_RUN: case ACTION_MARK: case ACTION_LATENCY: case ACTION_KEEP:
	case ACTION_SNAPSHOT: case ACTION_SAVE_AS:
		return !screen->vitals;
	default:
		return true;
	}
}

/* A search moves the cursor with each character. */
static bool types_search(const struct screen *screen, const struct input *input)
{
	return (input->kind == INPUT_KEY || input->kind == INPUT_PASTE) && screen->prompt.label &&
		screen->asked == ASKED_SEARCH && input->code != KEYS_ENTER && input->code != KEYS_ESCAPE;
}

static bool turns_wheel(const struct input *input)
{
	return input->kind == INPUT_SCROLL_UP || input->kind == INPUT_SCROLL_DOWN;
}

/* The action of a key, as long as no prompt is open. */
static enum action action_of(const struct screen *screen, const struct input *input)
{
	return input->kind == INPUT_KEY && !screen->prompt.label ? keys_action(screen->keys, input->code) : ACTION_NONE;
}

bool screen_only_moves(const struct screen *screen, const struct input *input)
{
	enum action action = action_of(screen, input);

	return turns_wheel(input) || types_search(screen, input) || (action >= ACTION_UP && action <= ACTION_BOTTOM);
}

static bool awaits(const struct screen *screen, const struct input *input)
{
	bool acts = turns_wheel(input) || types_search(screen, input) || acts_on_rows(screen, action_of(screen, input));

	if (screen->cover == VIEW_CONSOLE || screen->asks_end)	/* what is shown there was asked of nobody */
		return false;
	if (screen->rows && (screen->rows < SCREEN_LEAST_ROWS || screen->columns < SCREEN_LEAST_COLUMNS))
		return false;
	if (input->kind == INPUT_CLICK)		/* on what is seen, whatever was asked for */
		return !screen->drawn;
	return acts && !(screen->drawn && screen->vitals && (screen->answered || screen->cover));
}

bool screen_awaits(struct screen *screen, const struct input *input, uint64_t now)
{
	if (screen->late || !awaits(screen, input)) {
		screen->since = 0;
		return false;
	}
	if (!screen->since)
		screen->since = now;
	screen->late = now - screen->since >= wait_ns;
	return !screen->late;
}

/* ---- playing ---- */

/* The keys that control the playing of a recording. */

#define JUMP_NS ((int64_t)(10 * NS_PER_SECOND))

static void say(struct screen *screen, const struct play *play, uint64_t now)
{
	const struct play_state *state = &screen->vitals->play;
	char *text = NULL;

	if (play->kind == PLAY_PAUSE)
		text = util_format("%s", state->playing ? "paused; {profile} plays on" : "playing");
	else if (play->kind == PLAY_NEXT_BOOT && state->boot == state->boots)
		text = util_format("this is the recording's last boot");
	else if (play->kind == PLAY_NEXT_BOOT || play->kind == PLAY_PREVIOUS_BOOT)
		text = util_format("another boot, from its beginning");
	else if (play->kind == PLAY_STEP)
		text = util_format("one step, a tenth of a second; {profile} plays on");
	else if (play->kind == PLAY_TO || play->kind == PLAY_BY)
		text = util_format("reading up to that time");
	else
		text = util_format("%s", play->kind == PLAY_FASTER ? "twice as fast" : "half as fast");
	screen_say(screen, now, text);
	free(text);
}

const char screen_jump_lasts[] = "nothing done: ktop still reads up to that time; press it again once that is done";

/* A jump leaves the time to which a zero and a window that was frozen or moved belong: all end. */
static void order(struct screen *screen, const struct play *play, uint64_t now)
{
	bool jumps = play->kind >= PLAY_TO;
	uint32_t taken = screen->vitals ? screen->vitals->play.taken : 0;

	screen->ordered = (screen->ordered > taken ? screen->ordered : taken) + 1;
	if (jumps) {
		screen->jumped = screen->ordered;
		screen->scope.zero_ns = 0;
		scope_live(&screen->scope);
	}
	say(screen, play, now);
	screen->feed.play(screen->feed.self, play);
}

bool screen_awaits_jump(const struct screen *screen)
{
	return screen->vitals && screen->vitals->play.there &&
		(screen->vitals->play.jumping || screen->vitals->play.taken < screen->jumped);
}

bool screen_play(struct screen *screen, enum action action, uint64_t now)
{
	static const struct { enum action action; struct play play; } rows[] = {
		{ ACTION_RUN, { PLAY_PAUSE, 0 } },
		{ ACTION_FASTER, { PLAY_FASTER, 0 } },
		{ ACTION_SLOWER, { PLAY_SLOWER, 0 } },
		{ ACTION_STEP, { PLAY_STEP, 0 } },
		{ ACTION_EARLIER, { PLAY_BY, -JUMP_NS } },
		{ ACTION_LATER, { PLAY_BY, JUMP_NS } },
		{ ACTION_NEXT_BOOT, { PLAY_NEXT_BOOT, 0 } },
		{ ACTION_PREVIOUS_BOOT, { PLAY_PREVIOUS_BOOT, 0 } },
	};

	if (!screen->vitals || !screen->vitals->play.there)
		return false;
	if (action == ACTION_TIME)
		screen_open_prompt(screen, ASKED_TIME);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].action == action) {
			order(screen, &rows[i].play, now);
			return true;
		}
	return action == ACTION_TIME;
}

/* Jumps to the time that is typed in the prompt. */
void screen_play_to(struct screen *screen, uint64_t now)
{
	struct play play;
	char *error = NULL;

	if (play_parse(screen->prompt.text, &play, &error)) {
		play.ns += play.kind == PLAY_TO && screen->vitals ? screen->vitals->answer.zero : 0;
		order(screen, &play, now);
	} else {
		status_say(&screen->status, true, error, now);
	}
	free(error);
}

/* ---- the prompt ---- */

enum found screen_search(struct screen *screen, const char *pattern, enum list_search where)
{
	const struct view *view = screen_shown(screen);
	char *match = screen->scope.match;

	if (!view->search)
		return FOUND;
	if (*pattern || where == LIST_HERE)
		snprintf(match, sizeof(screen->scope.match), "%s", pattern);
	if (!*match)
		return NOT_SEARCHED;
	screen->moved = true;
	return view->search(screen->selves[screen_at(screen)], match, where) ? FOUND : NOT_FOUND;
}

/* A search moves to the first match with each character. Esc ends it; the search key in the prompt goes to the next. */
static void search_key(struct screen *screen, const struct input *input, enum prompt_event event)
{
	enum found found = FOUND;

	if (event == PROMPT_LEFT)
		screen->scope.match[0] = '\0';
	else if (event == PROMPT_CHANGED)
		found = screen_search(screen, screen->prompt.text, LIST_HERE);
	else if (event == PROMPT_SAME && keys_action(screen->keys, input->code) == ACTION_SEARCH)
		found = screen_search(screen, screen->prompt.text, LIST_NEXT);
	if (event != PROMPT_SAME)
		snprintf(screen->bad, sizeof(screen->bad), "%s", found == NOT_FOUND ? "not found" : "");
}

/* A valid filter counts while it is typed. If the prompt is left, or the filter is bad at Enter, the old one counts. */
static void filter_key(struct screen *screen, enum prompt_event event, uint64_t now)
{
	char *error = NULL;
	bool good = scope_filter(&screen->scope, screen->prompt.text, &error);

	snprintf(screen->bad, sizeof(screen->bad), "%s", good ? "" : error);
	if (event == PROMPT_LEFT || (event == PROMPT_DONE && !good))
		scope_filter_again(&screen->scope, &screen->before);
	if (event == PROMPT_DONE && !good) {
		char *text = util_format("the filter stays as it was: %s", error);

		status_say(&screen->status, true, text, now);
		free(text);
	}
	free(error);
}

/* A guest keeps few texts, so no time stands in the one that an empty prompt gives. */
static void send_mark(struct screen *screen, uint64_t now)
{
	const char *text = screen->prompt.text;

	bool all = screen->vitals && screen->vitals->machines;
	char *said = util_format("asking %s to mark this moment", all ? "all guests" : "the guest");

	screen_say(screen, now, said);
	free(said);
	screen->feed.mark(screen->feed.self, text[strspn(text, " ")] ? text : "here");
}

void screen_prompt_input(struct screen *screen, const struct input *input, uint64_t now)
{
	enum prompt_event event = prompt_key(&screen->prompt, input->code);

	if (screen->asked == ASKED_FILTER)
		filter_key(screen, event, now);
	else if (screen->asked == ASKED_SEARCH)
		search_key(screen, input, event);
	else if (event == PROMPT_DONE && screen->asked == ASKED_TIME)
		screen_play_to(screen, now);
	else if (event == PROMPT_DONE)
		send_mark(screen, now);
}

void screen_leave_prompt(struct screen *screen, uint64_t now)
{
	const struct input leave = { .kind = INPUT_KEY, .code = KEYS_ESCAPE };

	if (screen->prompt.label)
		screen_prompt_input(screen, &leave, now);
}

void screen_open_prompt(struct screen *screen, enum asked asked)
{
	char hint[KEYS_TEXT];

	screen->asked = asked;
	screen->before = screen->scope;
	screen->bad[0] = '\0';
	if (asked == ASKED_TIME)
		prompt_open(&screen->prompt, "Time:", "1:30, 90, or +30, -30 from here; Enter goes there", "");
	else if (asked == ASKED_MARK)
		prompt_open(&screen->prompt, "Mark:", "a text; Enter marks the moment, Esc leaves", "");
	else if (asked == ASKED_FILTER)
		prompt_open(&screen->prompt, "Filter:",
			"cpu: thread: comm: process: mode: object: file: under: machine: ! |",
			screen->scope.filter_text);
	else
		prompt_open(&screen->prompt,
			"Search:", keys_text(screen->keys,
			"Enter keeps it, {next} next, {previous} previous, Esc leaves", hint), "");
}

/* ---- the window ---- */

/* How wide the window is, and where it lies: chosen by keys, and with the mouse on the time line. */

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
	} else if ((places || widens) && screen_awaits_jump(screen)) {
		screen_complain(screen, now, screen_jump_lasts);
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
