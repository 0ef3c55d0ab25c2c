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
struct vitals;

enum view_found { VIEW_FOUND, VIEW_NOT_FOUND, VIEW_NOT_SEARCHED };	/* not searched: there is no pattern yet */

struct view {
	const char *name;
	void *(*new)(const struct config *config);	/* the settings must outlive the view */
	void (*free)(void *self);

	/*
	 * The question for what was drawn last, within the scope. It lives until the next call. NULL: there is no room
	 * to show an answer, so nothing is asked. A view without a question leaves out `ask` and `show`.
	 */
	const struct request *(*ask)(void *self, const struct scope *scope);

	/*
	 * What to draw from now on: the machine's vitals, and the newest answer (NULL before the first). All are
	 * borrowed until the next call. The view may sort the answer's table.
	 */
	void (*show)(void *self, const struct vitals *vitals, struct answer *answer, const struct scope *scope);
	void (*draw)(void *self, struct canvas *canvas, struct area area);

	bool (*act)(void *self, enum action action);		/* false: the action is none of the view's */
	void (*click)(void *self, int row, int column);		/* a place of the canvas, as drawn last */

	/*
	 * Remembers the pattern, marks it, and moves to a row that has it. With "", LIST_HERE forgets the pattern, and
	 * the others search the one that is remembered. NULL: the view cannot be searched.
	 */
	enum view_found (*search)(void *self, const char *pattern, enum list_search where);
};

#endif
