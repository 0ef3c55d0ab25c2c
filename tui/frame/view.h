/* SPDX-License-Identifier: MIT */
/*
 * A view: one way to look at a profile. It asks its own question, and draws the answer in the area that
 * it is given; it knows neither the terminal nor the session nor other views. `self` is what its `new` gave.
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

enum view_found { VIEW_FOUND, VIEW_NOT_FOUND, VIEW_NOT_SEARCHED };

struct view {
	const char *name;
	void *(*new)(const struct config *config);	/* which outlives the view */
	void (*free)(void *self);

	/*
	 * Its question, as drawn last, of the scope; good until the next call. NULL: there is nothing to ask, since
	 * there is no room to show it. A view without a question of its own leaves both out.
	 */
	const struct request *(*ask)(void *self, const struct scope *scope);

	/*
	 * What is to be shown from now on: how the machine is, and the newest answer, NULL before the first. All are
	 * borrowed until the next call; the answer may be sorted.
	 */
	void (*show)(void *self, const struct vitals *vitals, struct answer *answer, const struct scope *scope);
	void (*draw)(void *self, struct canvas *canvas, struct area area);

	bool (*act)(void *self, enum action action);		/* false: not its own */
	void (*click)(void *self, int row, int column);		/* as drawn last; of the canvas */

	/*
	 * May be NULL. Remembers the pattern, and marks it; "": LIST_HERE forgets it, the others
	 * look for what is remembered.
	 */
	enum view_found (*search)(void *self, const char *pattern, enum list_search where);
};

#endif
