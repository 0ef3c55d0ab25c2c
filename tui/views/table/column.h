/* SPDX-License-Identifier: MIT */
/*
 * The columns of the function table: their heads and widths, which of them fit, and what a row shows in each. Behind
 * them what a row leads to, and the line below the table.
 */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/table.h"

struct canvas;
struct function_table;
struct place;
struct symbols;
struct view_chosen;
struct vitals;

enum { COLUMNS = 12 };

struct columns {			/* the columns that are wanted, FUNCTION among them */
	int order[COLUMNS];		/* indexes of the table of columns (column.c), from left to right */
	size_t count;
	int least;			/* columns of a name that are kept free for it */
	bool usage;			/* shares tell the use of CPUs: 100 % is one CPU all the time */
};

extern const struct columns columns_standard, columns_threads;

/* Indexes of the table of columns, their names in settings, and what they sort by. */
int column_named(const char *name);		/* COLUMNS: no column that can be set has this name */
const char *column_name(int column);
enum table_column column_sort(int column);	/* TABLE_COLUMNS: it cannot be sorted by */

struct column_slot {			/* a column that is shown */
	int index;			/* in the table of columns */
	int column, width;		/* `column` counts from the area's left side */
};

struct column_layout {
	struct column_slot slots[COLUMNS];
	size_t count;
	bool usage;			/* as in `columns` */
	bool waits;			/* as in what was needed */
};

struct column_needs {
	int name, object;		/* columns of the longest texts of these; 0: not known */
	bool waits;			/* rows tell for how long a thread has waited, and can be sorted by that */
};

/*
 * Chooses the columns that fit: the least important are left out first. The others share the room that is left. Names
 * have no more than they need. `change`: behind the column of self there is that of its change since the baseline.
 */
struct column_layout column_layout(const struct columns *wanted, int columns, bool change, struct column_needs needs);

/* True: the answer has to tell in which function each row ran most. */
bool column_wants_ran(const struct column_layout *layout);

/* Draws the heads, as the answer's rows want them, and marks `sort` with an arrow. */
void column_heads(struct canvas *canvas, struct place place, const struct column_layout *layout,
	enum table_column sort, bool invert, const struct function_table *functions);

/* What the head at this column of the area sorts by (the trend's: self). TABLE_COLUMNS: there is no head. */
enum table_column column_at(const struct column_layout *layout, int column);

/* The next shown column that can be sorted by, to the right (step 1) or left (-1), around the ends. */
enum table_column column_next(const struct column_layout *layout, enum table_column sort, int step);

struct row_drawn {			/* a row and what is needed to draw it */
	const struct function_table *functions;
	const struct row *row;
	const char *match;		/* the pattern to be marked in the name; "": none */
	bool usage;			/* set by column_row */
};

void column_row(struct canvas *canvas, struct place place, const struct column_layout *layout,
	struct row_drawn row);

/* ---- one step deeper ---- */

/* What one step deeper from a row of a table is: samples that a filter chooses, the code of a line, or nothing. */

/* The row of idle time has no code, so a function of this name in an object is another one. */
bool deeper_is_idle(const struct symbols *symbols, const struct row *row);

/* The tree_name (agent/query/tree/tree.h) of the row's function; 0: the row is none. */
uint64_t deeper_name(const struct function_table *functions, const struct row *row);

/* The words of a filter for the samples of the row; "": there are none. Returns `words`. */
const char *deeper_words(const struct function_table *functions, const struct row *row, char *words, size_t size);

/*
 * "mm/page.c:120", if the row is a line; `*of` is the function whose code it is. Of several functions it is the one
 * with the most time there. "": the row is no line, or its function is not known.
 */
const char *deeper_line(const struct function_table *functions, const struct row *row, struct view_chosen *of);

/* Why there is no step deeper: "not opened: why; what to do". */
const char *deeper_refusal(const struct function_table *functions, const struct row *row);

/* ---- detail: the line below ---- */

/* The line below a table: all that its answer tells of the row under the cursor. */

enum { DETAIL_TEXT = 2048 };		/* bytes of the line */

void detail_write(const struct function_table *functions, const struct vitals *vitals, const struct row *row,
	char text[DETAIL_TEXT]);

#endif
