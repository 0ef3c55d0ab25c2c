/* SPDX-License-Identifier: MIT */
/*
 * The one table of keys: which keys do what, and what the key bar and the help say about them. A key has the same
 * meaning in every view.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A key is a Unicode code point (1 to 26: Ctrl and a letter), or one of these. KEYS_UP and later are above Unicode. */
enum {
	KEYS_TAB = '\t', KEYS_ENTER = '\r', KEYS_ESCAPE = 27, KEYS_BACKSPACE = 127,
	KEYS_UP = 0x110000, KEYS_DOWN, KEYS_LEFT, KEYS_RIGHT, KEYS_PAGE_UP, KEYS_PAGE_DOWN,
	KEYS_HOME, KEYS_END, KEYS_BACK_TAB, KEYS_F0,
};
#define KEYS_F(n) (KEYS_F0 + (n))
#define KEYS_CTRL(letter) (31 & (letter))

enum action {
	ACTION_NONE,
	ACTION_NEXT_VIEW, ACTION_FUNCTIONS, ACTION_TREE, ACTION_FLAME, ACTION_HEAT, ACTION_THREADS, ACTION_ANNOTATE,
	ACTION_EVENTS, ACTION_TIMELINE, ACTION_MEMORY, ACTION_CONSOLE,
	ACTION_UP, ACTION_DOWN, ACTION_LEFT, ACTION_RIGHT,
	ACTION_PAGE_UP, ACTION_PAGE_DOWN, ACTION_TOP, ACTION_BOTTOM,
	ACTION_SEARCH, ACTION_NEXT, ACTION_PREVIOUS, ACTION_FILTER,
	ACTION_SORT, ACTION_SORT_LEFT, ACTION_SORT_RIGHT, ACTION_INVERT,
	ACTION_SORT_CPU, ACTION_SORT_TIME,
	ACTION_UNFOLD, ACTION_FOLD, ACTION_HOT, ACTION_ALL, ACTION_TURN, ACTION_FLIP, ACTION_RECURSION, ACTION_AROUND,
	ACTION_FORM, ACTION_HOTTEST, ACTION_WAKER,
	ACTION_GROUP, ACTION_OPEN, ACTION_WINDOW, ACTION_BEFORE, ACTION_AFTER, ACTION_WIDEN, ACTION_NARROW, ACTION_LIVE,
	ACTION_ZERO, ACTION_FREEZE, ACTION_BASELINE, ACTION_IDLE, ACTION_DISMISS,
	ACTION_FASTER, ACTION_SLOWER, ACTION_STEP, ACTION_EARLIER, ACTION_LATER, ACTION_TIME,
	ACTION_NEXT_BOOT, ACTION_PREVIOUS_BOOT,
	ACTION_RUN, ACTION_MARK, ACTION_LATENCY, ACTION_KEEP, ACTION_SNAPSHOT, ACTION_SAVE_AS,
	ACTION_NEXT_TAB, ACTION_PREVIOUS_TAB,
	ACTION_HELP, ACTION_BACK, ACTION_REDRAW, ACTION_SUSPEND, ACTION_QUIT,
	ACTIONS,
};

enum { KEYS_PER_ROW = 4, KEYS_ROWS = ACTIONS - 1 };

struct key {
	uint32_t codes[KEYS_PER_ROW];	/* any of these keys; the key bar shows the first; 0: no further key */
	enum action action;
	const char *name;		/* in the settings, and in {} for keys_text */
	const char *bar;		/* the label on the key bar; NULL: it is not there */
	const char *help;
};

struct keys {				/* one row for each action, as the help shows them */
	struct key rows[KEYS_ROWS];
	bool tabs;			/* there are tabs, so their keys are shown */
	bool console;			/* ktop has started QEMU, so the key of its console is shown */
	bool replay;			/* a recording is played, so its keys are shown, and act */
};

extern const struct keys keys_standard;

/* True: the key bar and the help show this row. False: its keys are for tabs, a recording, a console: there is none. */
bool keys_shown(const struct keys *keys, const struct key *row);

bool keys_of_replay(const struct key *row);	/* a key of the player of recordings */

/* The action of a key; ACTION_NONE: it has none. Without a recording, the keys of the player have none. */
enum action keys_action(const struct keys *keys, uint32_t code);

uint32_t keys_code(const struct keys *keys, enum action action);	/* the action's first key; 0: it has none */

/* Writes the name of the action's first key; "": it has none. */
enum { KEYS_NAME = 16 };
void keys_first(const struct keys *keys, enum action action, char name[KEYS_NAME]);

/* Writes the name of a key: "F3", "Ctrl-C", "PgUp", "/". Returns `name`. */
const char *keys_name(uint32_t code, char name[KEYS_NAME]);

/* Copies the text, with a key in place of each action's name in {}: "{profile} starts it." Returns `filled`. */
enum { KEYS_TEXT = 256 };
const char *keys_text(const struct keys *keys, const char *text, char filled[KEYS_TEXT]);

/*
 * Sets the keys of the action with this name. `words`: names as of keys_name, or "none"; they end with NULL. A key that
 * another action had is taken from it. False with "why; what to do" in `error`; then nothing has changed.
 */
bool keys_set(struct keys *keys, const char *name, char *const *words, char **error);
void keys_write(const struct key *row, FILE *to);	/* writes these words, each behind a space */

/* ---- input ---- */

/* One event: what the user does at the terminal, or what a signal asks. */

enum input_kind {
	INPUT_KEY, INPUT_PASTE, INPUT_CLICK, INPUT_RELEASE, INPUT_SCROLL_UP, INPUT_SCROLL_DOWN,
	INPUT_RESIZE, INPUT_SUSPEND, INPUT_CONTINUE, INPUT_QUIT,
};

struct input {
	enum input_kind kind;
	uint32_t code;			/* INPUT_KEY: as a key's; INPUT_PASTE: a character; 0: none, to be ignored */
	int row, column;		/* INPUT_CLICK, INPUT_RELEASE: where the button was pressed, or let go */
};

#endif
