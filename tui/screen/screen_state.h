/* SPDX-License-Identifier: MIT */
/* What the files of the screen share: its state, and what one of them does for the others. */
#ifndef SCREEN_STATE_H
#define SCREEN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/session/session.h"
#include "tui/frame/prompt.h"
#include "tui/frame/scope.h"
#include "tui/frame/status.h"
#include "tui/frame/view.h"
#include "tui/terminal/keys.h"
#include "feed.h"
#include "screen.h"

struct answer;
struct table;
struct vitals;

enum { VIEW_FUNCTIONS, VIEW_HELP, VIEWS };

extern const struct view *const screen_views[VIEWS];

enum { SCREEN_BAR_ROWS = 10, SCREEN_STATUS_ROWS = 16 };

struct screen {
	struct feed feed;
	const struct keys *keys;
	struct vitals *vitals;		/* NULL before the first */
	struct scope scope;
	void *selves[VIEWS];
	struct answer *answers[VIEWS];	/* the newest of each; NULL before the first */
	int current;
	int rows, columns;		/* as drawn last */

	struct status_line status;
	struct prompt prompt;
	enum asked { ASKED_SEARCH, ASKED_FILTER, ASKED_TIME } asked;	/* by the prompt that is open */
	struct scope before;		/* where an abandoned filter goes back to */
	char bad[160];			/* what is wrong with the prompt's text, or "" */
};

/* Both say a text that may have keys in it, for keys_text. */
void screen_say(struct screen *screen, uint64_t now, const char *text);
void screen_complain(struct screen *screen, uint64_t now, const char *text);

/* Has the views show their answers, again when the scope has changed. */
void screen_show(struct screen *screen);

/* The table of functions, as shown last; NULL: none yet. */
const struct table *screen_table(const struct screen *screen);

void screen_open_prompt(struct screen *screen, enum asked asked);
void screen_leave_prompt(struct screen *screen, uint64_t now);	/* as Esc does, if one is open */
void screen_prompt_input(struct screen *screen, const struct input *input, uint64_t now);

/* A key, of a recording; false: it is not for that. What was typed: where it is to go on. */
bool screen_play(struct screen *screen, enum action action, uint64_t now);
void screen_play_to(struct screen *screen, uint64_t now);

enum view_found screen_search(struct screen *screen, const char *pattern, enum list_search where);

#endif
