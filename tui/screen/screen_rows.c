/* SPDX-License-Identifier: MIT */
/* Which rows are on the screen: those that the keys so far have asked for, or others that were there before. */
#include <stdlib.h>
#include <string.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "tui/terminal/input.h"
#include "tui/terminal/keys.h"
#include "screen_state.h"

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
	case ACTION_WINDOW: case ACTION_BEFORE: case ACTION_AFTER: case ACTION_WIDEN: case ACTION_NARROW:
	case ACTION_LIVE:
	case ACTION_RUN: case ACTION_SNAPSHOT: case ACTION_SAVE_AS:
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
