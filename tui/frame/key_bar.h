/* SPDX-License-Identifier: MIT */
/*
 * The foot of the screen. Its last line has as many keys with their labels as fit; labels can be clicked. Above it are
 * the status, which may be a prompt, and the row of time.
 */
#ifndef KEY_BAR_H
#define KEY_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/terminal/keys.h"

struct canvas;
struct place;
struct scope;
struct time_line;

void key_bar_draw(const struct keys *keys, struct canvas *canvas, struct place place);

/* The action of a click on `column`, in a bar of so many columns; ACTION_NONE: there is no label. */
enum action key_bar_action(const struct keys *keys, int columns, int column);

/* A bar of other keys, while those of the table do not count. The labels end with one that is NULL, and all fit. */
enum { KEY_LABELS = 4 };
struct key_label {
	uint32_t code;
	const char *label;
};
void key_bar_draw_own(const struct key_label *labels, struct canvas *canvas, struct place place);
uint32_t key_bar_own_key(const struct key_label *labels, int column);	/* of a click; 0: there is no label */

/* ---- the status ---- */

/*
 * The status line. It shows what an action did for 3 s, and what failed until a key is pressed. With nothing to say it
 * shows a remark. Times are those of util_now, given by the caller.
 */

struct status_line {			/* starts as { 0 } */
	char text[512];			/* the message; "": none */
	bool failed;			/* it tells a failure */
	bool profiler;			/* it is about starting or stopping the profiler: see status_profiler */
	bool view;			/* it explains the view that is shown: see status_view_left */
	uint64_t until;			/* when a message that is no failure goes */
};

/* Shows a message. False: the line keeps a failure that nobody has seen, and the message is no failure. */
bool status_say(struct status_line *line, bool failed, const char *text, uint64_t now);

/* Shows a message that explains a view. It goes with the view. */
void status_explain(struct status_line *line, const char *text, uint64_t now);
void status_view_left(struct status_line *line);

void status_seen(struct status_line *line);			/* a key or click came: a failure goes */
void status_profiler(struct status_line *line);			/* the profiler started or stopped: its failure goes */
bool status_expire(struct status_line *line, uint64_t now);	/* true: a message has gone */

/* Draws the message, or else `remark`. A long message grows upward, to at most three rows. */
void status_draw(const struct status_line *line, struct canvas *canvas, struct place place,
	const char *remark);

/* Draws a question in its place: it stays until the user has answered. */
void status_ask(struct canvas *canvas, struct place place, const char *question);

/* ---- the prompt ---- */

/* A line at the bottom of the screen in which the user types: a name to search, a filter, a time. */

/* What a key did: the text changed; it is the same; the text is complete; the prompt was left. */
enum prompt_event { PROMPT_CHANGED, PROMPT_SAME, PROMPT_DONE, PROMPT_LEFT };

struct prompt {
	const char *label;		/* NULL: no prompt is open */
	char hint[96];			/* shown behind the text if all of it fits */
	char text[128];
	size_t size;
};

/* Borrows the label while the prompt is open; copies hint and text, as far as they fit. */
void prompt_open(struct prompt *prompt, const char *label, const char *hint, const char *text);

/* True: a prompt uses this key, as a character or to edit or end the line. */
bool prompt_takes(uint32_t code);

/* PROMPT_DONE (Enter) and PROMPT_LEFT (Esc, or Backspace on an empty line) close the prompt; its text stays. */
enum prompt_event prompt_key(struct prompt *prompt, uint32_t code);

/* `bad`: what is wrong with the text, shown in place of the hint; NULL: nothing. */
void prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct place place,
	const char *bad);

/* ---- the row of time ---- */

/*
 * The time line at the foot of each view: a column for each slot, as high as the share of busy CPUs, or of the function
 * that was chosen; the window stands in brackets. The mouse chooses a window on it.
 */

size_t time_row_slots(int columns);	/* as many as a row of so many columns has room for; 0: none */

/* `line`: NULL: there is none yet. */
void time_row_draw(struct canvas *canvas, struct place place, const struct time_line *line, const struct scope *scope);

struct time_slot {			/* guest ns; end 0: there is none */
	uint64_t begin, end;
};

/* The slot at a column of the row; before the first and behind the last slot it is the nearest one. */
struct time_slot time_row_at(struct place place, const struct time_line *line, int column);

#endif
