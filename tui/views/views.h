/* SPDX-License-Identifier: MIT */
/* The views: each is a file view_NAME.c, and the screen has a table of them (screen_views.c). */
#ifndef VIEWS_H
#define VIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/frame/view.h"

struct console;

/* ---- functions ---- */

/*
 * The first view: the table of functions, or of what the scope groups them by, and a line of detail about the row under
 * the cursor. The view of threads is the same for threads or processes, with their use of CPUs.
 */
extern const struct view view_functions, view_threads;

/* ---- tree ---- */

/*
 * The call tree, top-down or bottom-up, whose rows fold and unfold; and the callers and callees of one function, with
 * the function in the middle. The cursor stays on its row's path while numbers move.
 */
extern const struct view view_tree;

/* ---- flame ---- */

/*
 * The call tree as cells, one row a depth, each as wide as its share: an icicle, or a flame. Siblings are in the order
 * of their names, so that they stand still while numbers move. A cell's colour is its function's, in every run.
 */
extern const struct view view_flame;

/* ---- heat ---- */

/*
 * A heat map of the last 160 s: a column is a second, a row is a part of each second, and a cell is as bright as its
 * share of the CPU time. It is about all that is busy, or about the function that was chosen in another view. A range,
 * chosen by keys or the mouse, becomes the window of every view.
 */
extern const struct view view_heat;

/* ---- events ---- */

/*
 * What the guest's trace events say took time: a row for each system call and each interrupt, and how the durations of
 * the row under the cursor are spread: beside the table where there is room, else in a line below it. What was lost is
 * told below the rows.
 */
extern const struct view view_events;

/* ---- timeline ---- */

/*
 * What each CPU and each thread did in the window, out of the guest's trace events: a row for each, a column for each
 * part of the time, and a cursor of a row and a time, of which the line below tells all. Where the window is narrow,
 * or the cursor was put on a time, the keys of the window move and widen it around that time, down to microseconds.
 */
extern const struct view view_timeline;

/* Puts the cursor there. The window is the caller's. */
void view_timeline_go(void *self, const struct view_moment *moment);

/* ---- memory ---- */

/*
 * What the guest's allocators have given out and not taken back: a row for each allocator and each place in the code
 * that has asked it. Where there is room, the last minute and the stack of the row under the cursor are beside it.
 */
extern const struct view view_memory;

/* ---- annotate ---- */

/*
 * One function's code: source lines, under each its instructions, and the share of the function's samples on each. The
 * cursor stays on its line while numbers move. The function is the one that was under the cursor of the view before.
 */
extern const struct view view_annotate;

/*
 * The cursor goes to the hottest code of this source line, "mm/page.c:120", as soon as that is known, unless the cursor
 * is moved before. If the function has no code of the line, nothing changes.
 */
void view_annotate_go(void *self, const char *line);

/* ---- function ---- */

/*
 * A function's page: its callers and callees as whole chains, who runs it, on which CPUs, its hot lines, its trend. The
 * page is about the function that was chosen last (`choose`).
 */
extern const struct view view_function;

/* Adds the way to the page from which a step into another view was made. `row`: as `open` gave it. */
void view_function_way(const void *self, uint64_t row, struct view_way *way);

/* ---- console ---- */

/* The console of a QEMU that ktop has started: its newest lines; and what is typed here goes to the guest. */
extern const struct view view_console;

void view_console_begin(void *self, struct console *console);	/* borrowed; NULL: there is none */
bool view_console_changed(void *self);			/* something has come since it was drawn */

/* While the user types to the guest, each key and each pasted character goes there: codes as in keys.h. */
bool view_console_types(const void *self);
void view_console_look(void *self);			/* the user only looks at it from now on */
bool view_console_type(void *self, uint32_t code);	/* false: the guest has not taken it */

/* ---- help ---- */

/* The help: the keys, from their table, and how to read the screen. */
extern const struct view view_help;

/* ---- formats ---- */

/* The formats in which a snapshot can be saved, as a list to choose from. It covers a view, as the help does. */
extern const struct view view_formats;

/* Marks the last format, and puts the cursor on it. A format is its number in the list of save_format.h. */
void view_formats_begin(void *self, size_t last);

/* Hands out the format that was chosen, and forgets it. False: none was. */
bool view_formats_taken(void *self, size_t *format);

#endif
