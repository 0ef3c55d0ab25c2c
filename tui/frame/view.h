/* SPDX-License-Identifier: MIT */
/*
 * A view: one way to look at a picture. It draws in the area that it is given, and knows neither
 * the terminal nor the session nor other views. `self` is what its `new` gave.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "list.h"

struct config;
struct picture;
struct scope;

struct view_needs {		/* what the next picture is to hold; functions of symbols.h */
	uint32_t visible[256];
	size_t visible_count;
	uint32_t selected;
};

enum view_found { VIEW_FOUND, VIEW_NOT_FOUND, VIEW_NOT_SEARCHED };

struct view {
	const char *name;
	void *(*new)(const struct config *config);	/* which outlives the view */
	void (*free)(void *self);

	/* What is to be shown from now on; both are borrowed until the next call. */
	void (*show)(void *self, struct picture *picture, const struct scope *scope);
	void (*draw)(void *self, struct canvas *canvas, struct area area);

	bool (*act)(void *self, enum action action);		/* false: not its own */
	void (*click)(void *self, int row, int column);		/* as drawn last; of the canvas */

	/*
	 * May be NULL. Remembers the pattern, and marks it; "": LIST_HERE forgets it, the others
	 * look for what is remembered.
	 */
	enum view_found (*search)(void *self, const char *pattern, enum list_search where);
	void (*needs)(const void *self, struct view_needs *needs);
};

#endif
