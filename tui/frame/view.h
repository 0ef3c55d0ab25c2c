/* SPDX-License-Identifier: MIT */
/*
 * A view is one way to show a profile. It asks its own question, and draws the answer in a given area. It knows neither
 * the terminal nor the session nor other views. `self` is what its `new` returned. The screen's thread makes all calls.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "list.h"

struct answer;
struct config;
struct request;
struct scope;
struct view_way;
struct vitals;

enum { VIEW_NAME = 128 };		/* bytes of a function's name, with the terminating zero */

struct view_told {			/* what a view's newest answer tells */
	bool known, rows;		/* a guest has told of itself; there is something to show */
	uint64_t end;			/* the guest time at which it ends */
};

struct view_chosen {			/* the function under the cursor */
	uint64_t name;			/* its tree_name (agent/query/tree/tree.h); 0: there is none */
	bool put;			/* the cursor was put there: it does not just stay at the top */
	char text[VIEW_NAME];		/* its name as text, as far as there is room */
	uint64_t in_kernel;		/* function_in_kernel (agent/names/function.h) */
};

struct view_moment {			/* what is to be seen in Timeline */
	uint64_t from, to, at;		/* guest ns: a range, and a time in it; `to` 0: none */
	uint32_t thread, cpu;		/* EVENT_NONE: none */
	uint32_t machine;		/* of many: whose these are, by its place among them */
};

struct view {
	const char *name;
	void *(*new)(const struct config *config);	/* the settings must outlive the view */
	void (*free)(void *self);

	/*
	 * The question for what was drawn last, within the scope. It lives until the next call. NULL: there is no room
	 * to show an answer, so nothing is asked. A view without a question leaves out `ask` and `show`.
	 */
	const struct request *(*ask)(void *self, const struct scope *scope);
	/* Clears, in a copy of that question, what asks for details of rows. The rest decides which rows there are. */
	void (*forget_details)(struct request *request);

	/*
	 * What to draw from now on: the machine's vitals, and the newest answer (NULL before the first). All are
	 * borrowed until the next call has returned. The view may sort the answer's table.
	 */
	void (*show)(void *self, const struct vitals *vitals, struct answer *answer, const struct scope *scope);
	void (*draw)(void *self, struct canvas *canvas, struct area area);

	/* False: the answer is to another question than the view asks within this scope. Left out with `ask`. */
	bool (*takes)(const void *self, const struct answer *answer, const struct scope *scope);
	struct view_told (*told)(const void *self);	/* of the newest answer; left out likewise */

	/*
	 * The words of a filter that only the samples of the row under the cursor pass, for one step deeper; "":
	 * there are none. Valid until the next call. `row` is for `restore`, which puts the cursor back on this row as
	 * soon as it is there again. NULL: the view has no such rows.
	 */
	const char *(*open)(void *self, uint64_t *row);
	void (*restore)(void *self, uint64_t row);

	/* "not opened: what the row under the cursor is; what to do". NULL: nothing is to be said of it. */
	const char *(*closed)(void *self);

	/*
	 * "mm/page.c:120", where the row under the cursor is a line of a function, which is told in `of`: one step
	 * deeper is its code. "": it is no line. NULL: no row is.
	 */
	const char *(*line)(const void *self, struct view_chosen *of);

	/* False: the action is none of the view's. Any, and ACTION_NONE, ends a key's wait for an answer. */
	bool (*act)(void *self, enum action action);
	void (*click)(void *self, int row, int column);		/* a place of the canvas, as drawn last */
	void (*release)(void *self, int row, int column);	/* the mouse's button was let go there; NULL: ignored */

	/*
	 * Hands out the range of guest ns that was chosen, and forgets it. It becomes the window. False: there is none.
	 * NULL: the view has no ranges.
	 */
	bool (*range)(void *self, uint64_t *from, uint64_t *to);

	/* What the cursor is on, as a moment. False: on none. NULL: on none ever. */
	bool (*moment)(const void *self, struct view_moment *moment);

	/*
	 * Moves to a row whose name has the pattern; the scope's pattern is marked. False: there is none. NULL: the
	 * view cannot be searched.
	 */
	bool (*search)(void *self, const char *pattern, enum list_search where);

	/*
	 * chosen: the function under the cursor. choose: moves the cursor to this function, as soon as it is shown,
	 * unless the cursor is moved before. NULL: the view has no functions.
	 */
	struct view_chosen (*chosen)(void *self);
	void (*choose)(void *self, struct view_chosen chosen);
	bool any_chosen;			/* `choose` is called even if the cursor was not put there */
	/* Shows only the callers and callees of this function; `name` 0: all again. NULL: the view cannot. */
	void (*around)(void *self, struct view_chosen chosen);

	/*
	 * Adds the way through the view to where the cursor is (tab_row.h), such as a function's callers. The names
	 * live until the next call. NULL: no way leads through the view.
	 */
	void (*way)(void *self, struct view_way *way);
};

#endif
