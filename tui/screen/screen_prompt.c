/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "tui/terminal/input.h"
#include "tui/terminal/keys.h"
#include "screen_state.h"

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

void screen_prompt_input(struct screen *screen, const struct input *input, uint64_t now)
{
	enum prompt_event event = prompt_key(&screen->prompt, input->code);

	if (screen->asked == ASKED_FILTER)
		filter_key(screen, event, now);
	else if (screen->asked == ASKED_SEARCH)
		search_key(screen, input, event);
	else if (event == PROMPT_DONE)
		screen_play_to(screen, now);
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
	else if (asked == ASKED_FILTER)
		prompt_open(&screen->prompt, "Filter:",
			"cpu: thread: comm: process: mode: object: file: under: machine: ! |",
			screen->scope.filter_text);
	else
		prompt_open(&screen->prompt,
			"Search:", keys_text(screen->keys,
			"Enter keeps it, {next} next, {previous} previous, Esc leaves", hint), "");
}
