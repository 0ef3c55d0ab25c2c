/* SPDX-License-Identifier: MIT */
/* The inside of a screen, shared by screen.c and screen_*.c. */
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

/* Rows of the canvas from which there is a key bar; from which the status line has a row of its own. */
enum { SCREEN_BAR_ROWS = 10, SCREEN_STATUS_ROWS = 16 };

struct screen {
	struct feed feed;
	const struct keys *keys;
	struct vitals *vitals;		/* the newest; NULL before the first */
	struct scope scope;
	void *selves[VIEWS];
	struct answer *answers[VIEWS];	/* each view's newest; NULL before the first */
	int current;			/* the view that is shown */
	int rows, columns;		/* of the last drawing */

	struct status_line status;
	struct prompt prompt;
	enum asked { ASKED_SEARCH, ASKED_FILTER, ASKED_TIME } asked;	/* what the open prompt asks for */
	struct scope before;		/* the scope when the prompt was opened: an abandoned filter is put back */
	char bad[160];			/* what is wrong with the prompt's text; "": nothing */
};

/* Show a message, or an error, in the status line. The text may name keys as keys_text takes them. */
void screen_say(struct screen *screen, uint64_t now, const char *text);
void screen_complain(struct screen *screen, uint64_t now, const char *text);

/* Hands the newest answers and the scope to the views; called when either has changed. */
void screen_show(struct screen *screen);

/* The newest table of functions; NULL: none yet. */
const struct table *screen_table(const struct screen *screen);

void screen_open_prompt(struct screen *screen, enum asked asked);
void screen_leave_prompt(struct screen *screen, uint64_t now);	/* as Esc does, if a prompt is open */
void screen_prompt_input(struct screen *screen, const struct input *input, uint64_t now);	/* a prompt is open */

/* Controls the player. False: no recording is shown, or the action is not for the player. */
bool screen_play(struct screen *screen, enum action action, uint64_t now);
void screen_play_to(struct screen *screen, uint64_t now);	/* jumps to the time in the prompt */

enum view_found screen_search(struct screen *screen, const char *pattern, enum list_search where);

#endif
