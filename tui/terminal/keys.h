/* SPDX-License-Identifier: MIT */
/*
 * One table of keys: what is pressed, what it does, what the key bar and the help say about it.
 * One key has one meaning in every view.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A key is a Unicode code point (1 to 26: with Ctrl), or one of these, which lie above them all. */
enum {
	KEYS_TAB = '\t', KEYS_ENTER = '\r', KEYS_ESCAPE = 27, KEYS_BACKSPACE = 127,
	KEYS_UP = 0x110000, KEYS_DOWN, KEYS_LEFT, KEYS_RIGHT, KEYS_PAGE_UP, KEYS_PAGE_DOWN,
	KEYS_HOME, KEYS_END, KEYS_BACK_TAB, KEYS_F0,
};
#define KEYS_F(n) (KEYS_F0 + (n))
#define KEYS_CTRL(letter) ((letter) & 31)

enum action {
	ACTION_NONE,
	ACTION_UP, ACTION_DOWN, ACTION_LEFT, ACTION_RIGHT,
	ACTION_PAGE_UP, ACTION_PAGE_DOWN, ACTION_TOP, ACTION_BOTTOM,
	ACTION_SEARCH, ACTION_NEXT, ACTION_PREVIOUS, ACTION_FILTER,
	ACTION_SORT, ACTION_SORT_LEFT, ACTION_SORT_RIGHT, ACTION_INVERT,
	ACTION_WINDOW, ACTION_ZERO, ACTION_FREEZE, ACTION_IDLE, ACTION_DISMISS,
	ACTION_FASTER, ACTION_SLOWER, ACTION_STEP, ACTION_EARLIER, ACTION_LATER, ACTION_TIME,
	ACTION_NEXT_BOOT, ACTION_PREVIOUS_BOOT,
	ACTION_RUN, ACTION_SNAPSHOT, ACTION_NEXT_TAB, ACTION_PREVIOUS_TAB,
	ACTION_HELP, ACTION_BACK, ACTION_REDRAW, ACTION_SUSPEND, ACTION_QUIT,
	ACTIONS,
};

enum { KEYS_PER_ROW = 4, KEYS_ROWS = ACTIONS - 1 };

struct key {
	uint32_t codes[KEYS_PER_ROW];	/* any of them; the first is the one on the key bar */
	enum action action;
	const char *name;
	const char *bar;		/* label on the key bar; NULL: not on it */
	const char *help;
};

struct keys {				/* one row for each action, as the help shows them */
	struct key rows[KEYS_ROWS];
	bool tabs;			/* there are some */
	bool replay;			/* a recording is played */
};

extern const struct keys keys_standard;

/* False: of no use without tabs, or without a recording, and there is none. */
bool keys_shown(const struct keys *keys, const struct key *row);

/* A key of a recording is none without one. */
enum action keys_action(const struct keys *keys, uint32_t code);

/* How a key is called: "F3", "Ctrl-C", "PgUp", "/". Returns `name`. */
enum { KEYS_NAME = 16 };
const char *keys_name(uint32_t code, char name[KEYS_NAME]);

/* The text with a key in place of each action's name: "{profile} starts it." Returns `filled`. */
enum { KEYS_TEXT = 256 };
const char *keys_text(const struct keys *keys, const char *text, char filled[KEYS_TEXT]);

/*
 * The keys of the action with this name: words as keys_name says them, or "none"; the last word is
 * NULL. Another action that had one of them has it no more. False with "why; what to do" in
 * `error`, and nothing changed.
 */
bool keys_set(struct keys *keys, const char *name, char *const *words, char **error);
void keys_write(const struct key *row, FILE *to);	/* such words, each behind a space */

#endif
