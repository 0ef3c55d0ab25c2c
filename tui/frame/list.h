/* SPDX-License-Identifier: MIT */
/*
 * A list of rows with a cursor that follows what it stands on: when rows are sorted anew, the
 * cursor goes where its row goes. While that row is gone, the cursor stays in its place, or at the
 * top where there is no such place. Until somebody moves it, and again after ACTION_TOP, it stays
 * at the top.
 */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/terminal/keys.h"

struct list_rows {			/* borrowed for the call */
	const void *context;
	size_t count;
	uint32_t (*key)(const void *context, size_t row);	/* wherever it stands */
	const char *(*name)(const void *context, size_t row);	/* what is searched */
};

struct list {				/* starts as { 0 } */
	size_t cursor, top;		/* rows; top is the first on the screen */
	size_t height;			/* rows on the screen */
	size_t home;			/* where the user left `top` */
	uint32_t key;			/* of the row that the cursor was put on */
	bool follow;
};

enum list_search { LIST_HERE, LIST_NEXT, LIST_PREVIOUS };

/* To be called when the rows or the height have changed. */
void list_update(struct list *list, const struct list_rows *rows, size_t height);

/*
 * The rows are of something else than before: the list is at its top, and its cursor follows nothing.
 */
void list_rewind(struct list *list);

/* False: the action is not its own. */
bool list_act(struct list *list, const struct list_rows *rows, enum action action);
void list_select(struct list *list, const struct list_rows *rows, size_t row);

/* Puts the cursor on the nearest row whose name matches, around the end if need be. */
bool list_search(struct list *list, const struct list_rows *rows, const char *pattern,
	enum list_search where);

/* Where the pattern (pattern.h) stands in the name; NULL: nowhere, as the empty one does. */
const char *list_match(const char *name, const char *pattern);

#endif
