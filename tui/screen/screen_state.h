/* SPDX-License-Identifier: MIT */
/* The inside of a screen, shared by screen.c and screen_*.c. */
#ifndef SCREEN_STATE_H
#define SCREEN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/frame/header.h"
#include "tui/frame/key_bar.h"
#include "tui/frame/scope.h"
#include "tui/frame/view.h"
#include "tui/terminal/keys.h"
#include "screen.h"

struct answer;
struct request;
struct table;
struct time_line;
struct vitals;

/*
 * The console, the help and the list of formats cover any of the others. A function's page is a step from another one,
 * and has no key of its own.
 */
enum {
	VIEW_FUNCTIONS, VIEW_TREE, VIEW_FLAME, VIEW_HEAT, VIEW_THREADS, VIEW_ANNOTATE, VIEW_EVENTS, VIEW_TIMELINE,
	VIEW_MEMORY, VIEW_CONSOLE,
	VIEW_HELP, VIEW_FORMATS, VIEW_FUNCTION, VIEWS,
	VIEWS_OF_PROFILE = VIEW_CONSOLE,	/* those before show the profile */
	VIEWS_NAMED = VIEW_HELP,		/* those before have a name in the row of views */
};

extern const struct view *const screen_views[VIEWS];

/* Rows of the canvas from which there is a key bar; from which the status line has a row of its own. */
enum { SCREEN_BAR_ROWS = 10, SCREEN_STATUS_ROWS = 16 };

/* Keys that say once that they mean nothing: those of ASCII, those with names, and all others as one. */
enum { SCREEN_ASCII = 128, SCREEN_KEYS = SCREEN_ASCII + KEYS_F(12) - KEYS_UP + 2 };

struct screen {
	struct feed feed;
	const struct keys *keys;
	struct vitals *vitals;		/* the newest; NULL before the first */
	struct scope scope;		/* its `by` is that of the current view */
	enum group_by by[VIEWS];	/* those of the other views */
	void *selves[VIEWS];
	struct answer *answers[VIEWS];	/* each view's newest; NULL before the first */
	struct time_line *line;		/* the newest; NULL before the first */
	int current;			/* the view that is shown */
	int cover;			/* VIEW_CONSOLE, VIEW_HELP or VIEW_FORMATS covers it; 0: none does */
	struct view_chosen chosen;	/* the function that goes along from view to view */
	bool moved;			/* the view's cursor may have been moved since it was changed to */
	bool around;			/* VIEW_TREE shows the callers and callees of one function */
	int around_from;		/* with `around`: the view from which it was asked for */
	int page_from;			/* with VIEW_FUNCTION: likewise */
	int code_from;			/* the view from whose line VIEW_ANNOTATE was opened; VIEWS: from none */
	uint64_t code_row;		/* and the row there */
	int rows, columns;		/* of the last drawing */
	struct place names;		/* likewise, of the row of views; width 0: there is none */
	bool has_way;			/* likewise: it has the way, too */
	struct place times;		/* likewise, of the time line */
	bool asks_end;			/* the user is asked whether the VM is to end, too */
	struct time_slot pressed;	/* where on the time line the mouse was pressed; `end` 0: nowhere there */
	uint64_t held;			/* since when its button is held, where its release is heard; 0: it is not */

	struct status_line status;
	uint32_t ordered, jumped;	/* play_state.taken once all orders are done; once the last jump is */
	struct prompt prompt;
	enum asked { ASKED_SEARCH, ASKED_FILTER, ASKED_TIME, ASKED_MARK } asked;	/* what the prompt asks for */
	struct scope before;		/* the scope when the prompt was opened: an abandoned filter is put back */
	bool told_keys[SCREEN_KEYS];	/* these have said that they mean nothing */
	char bad[160];			/* what is wrong with the prompt's text; "": nothing */

	/* which rows are on the screen: see screen_awaits */
	bool drawn;			/* since the last answer, and what was done but for moves */
	struct request *question;	/* the view's, when it was drawn, without details of rows; NULL: none */
	bool answered;			/* its rows have come */
	uint64_t since;			/* since when a key waits for them; 0: none does */
	bool late;			/* one waited in vain, so none does until there is an answer */
};

/* Show a message, or an error, in the status line. The text may name keys as keys_text takes them. */
void screen_say(struct screen *screen, uint64_t now, const char *text);
void screen_complain(struct screen *screen, uint64_t now, const char *text);

/* True: the view shows where the pattern of the search is, as it would be drawn now. */
bool screen_is_marked(struct screen *screen);

/* Hands the newest answers and the scope to the views; called when either has changed. */
void screen_show(struct screen *screen);

/* What the current view's newest answer tells. */
struct view_told screen_told(const struct screen *screen);

/* True: the answer is about the boot of the vitals, which has told its time. It may be about the boot before. */
bool screen_is_of_boot(const struct screen *screen, const struct answer *answer);

/* The view that is drawn: the current one, or what covers it. screen_at: its index. */
int screen_at(const struct screen *screen);
const struct view *screen_shown(const struct screen *screen);

/* The labels of a key bar of its own, ended by one without a label. Returns how many; 0: the usual bar is shown. */
int screen_own_labels(const struct screen *screen, struct key_label labels[KEY_LABELS]);

/* ---- moving among the views (screen_views.c) ---- */

void screen_views_init(struct screen *screen);
void screen_look(struct screen *screen, int view);	/* shows another view */
/* T: the machine answers no more, and its last moments are still to be read out of its memory. */
bool screen_reads_dead(const struct screen *screen);
bool screen_views_act(struct screen *screen, enum action action, uint64_t now);	/* false: the action is for no view */
int screen_draw_views(struct screen *screen, struct canvas *canvas, int row);	/* returns the rows used, 0 or 1 */
enum action screen_views_action(const struct screen *screen, int row, int column);	/* of a click there */
void screen_next_group(struct screen *screen, uint64_t now);
void screen_open_row(struct screen *screen, uint64_t now);	/* one step deeper */
void screen_go_back(struct screen *screen, bool marked, uint64_t now);	/* takes back one thing: the mark first */
/* Says why a key of some views did nothing in this one. */
void screen_did_nothing(struct screen *screen, enum action action, uint64_t now);

/* ---- the window (screen.c) ---- */

bool screen_window_act(struct screen *screen, enum action action, uint64_t now);	/* false: not for the window */
void screen_live(struct screen *screen, uint64_t now);	/* the window always ends now */
void screen_take_range(struct screen *screen, uint64_t now);	/* the view's becomes the window, if it has one */
void screen_choose_range(struct screen *screen, uint64_t from, uint64_t to, uint64_t now);	/* guest ns */

/*
 * The time line, on which a window is chosen with the mouse. screen_draw_line draws it above the row `below`, and
 * returns the rows used, 0 or 1. screen_ask_line asks for the line that was drawn last.
 */
int screen_draw_line(struct screen *screen, struct canvas *canvas, int below);
void screen_ask_line(const struct screen *screen);
bool screen_press_line(struct screen *screen, const struct input *input);	/* false: it is not on the line */
void screen_release_line(struct screen *screen, const struct input *input, uint64_t now);

/* ---- which rows are on the screen (screen.c) ---- */

/* The view was drawn, and this was asked for it; NULL: nothing. */
void screen_rows_drawn(struct screen *screen, const struct request *request);
bool screen_only_moves(const struct screen *screen, const struct input *input);	/* the cursor */
void screen_rows_came(struct screen *screen, const struct answer *answer);	/* the current view has a new one */

/* ---- prompts ---- */

void screen_open_prompt(struct screen *screen, enum asked asked);
void screen_leave_prompt(struct screen *screen, uint64_t now);	/* as Esc does, if a prompt is open */
void screen_prompt_input(struct screen *screen, const struct input *input, uint64_t now);	/* a prompt is open */

/* Controls the player. False: no recording is shown, or the action is not for the player. */
bool screen_play(struct screen *screen, enum action action, uint64_t now);
/* A jump was ordered, and what lies before that time is not read yet: the guest's time is not what the user means. */
bool screen_awaits_jump(const struct screen *screen);
extern const char screen_jump_lasts[];			/* says so */
void screen_play_to(struct screen *screen, uint64_t now);	/* jumps to the time in the prompt */

/*
 * Searches for the pattern, which becomes the scope's. "": searches for the scope's pattern; with LIST_HERE, forgets it
 * instead. NOT_SEARCHED: there is no pattern. A view that cannot be searched: FOUND.
 */
enum found { FOUND, NOT_FOUND, NOT_SEARCHED };
enum found screen_search(struct screen *screen, const char *pattern, enum list_search where);

#endif
