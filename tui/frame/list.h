/* SPDX-License-Identifier: MIT */
/*
 * A list of rows with a cursor that follows its row: when the rows are sorted anew, the cursor moves with its row.
 * While that row is gone, the cursor keeps its place, or is at the top if there is no such place. Until somebody moves
 * it, and again after ACTION_TOP, the cursor stays at the top.
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
	uint64_t (*key)(const void *context, size_t row);	/* identifies the row, however rows are sorted */
	const char *(*name)(const void *context, size_t row);	/* the text that is searched */
};

struct list {				/* starts as { 0 } */
	size_t cursor, top;		/* the cursor's row; the first row on the screen */
	size_t height;			/* rows on the screen */
	size_t home;			/* `top` when the user last moved the cursor */
	uint64_t key;			/* the key of the row that the cursor was put on */
	bool follow;			/* the cursor follows that row; if not, it stays at the top */
};

enum list_search { LIST_HERE, LIST_NEXT, LIST_PREVIOUS };

/* Call it when the rows or the height have changed. */
void list_update(struct list *list, const struct list_rows *rows, size_t height);

/*
 * The rows show something else than before: the list goes to its top, and its cursor follows no row.
 */
void list_rewind(struct list *list);

/* The cursor follows the row with this key, from the next list_update on. */
void list_follow(struct list *list, uint64_t key);

/* Moves the cursor. False: the action is none of the list's. */
bool list_act(struct list *list, const struct list_rows *rows, enum action action);
void list_select(struct list *list, const struct list_rows *rows, size_t row);	/* beyond the end: the last row */

/* Puts the cursor on the nearest row whose name matches, around the end if needed. False: there is none. */
bool list_search(struct list *list, const struct list_rows *rows, const char *pattern,
	enum list_search where);

/* Where the pattern (util.h) is in the name; NULL: nowhere, or the pattern is empty. */
const char *list_match(const char *name, const char *pattern);

/* ---- wanted ---- */

/*
 * The rows of a list whose details a view asks for: those on the screen, and half as many around them; or all, if they
 * are few. They stay the same while all rows on the screen are among them: rows change places all the time, and a
 * question that changes costs an answer at once.
 */

enum { WANTED_ROWS = 256 };

struct wanted {				/* starts as { 0 } */
	uint64_t keys[WANTED_ROWS];
	size_t count;
};

/* After list_update with the same rows. */
void wanted_update(struct wanted *wanted, const struct list *list, const struct list_rows *rows);

#endif
