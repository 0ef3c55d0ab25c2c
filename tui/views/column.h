/* SPDX-License-Identifier: MIT */
/*
 * The columns of the function table: their heads and widths, which of them fit, and what a row shows in each.
 */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/query/query.h"

struct canvas;
struct function_table;
struct place;

enum { COLUMNS = 8 };

struct columns {			/* the columns that are wanted, FUNCTION among them */
	int order[COLUMNS];		/* indexes of the table of columns (column.c), from left to right */
	size_t count;
};

extern const struct columns columns_standard;

/* Indexes of the table of columns, their names, and what they sort by. */
int column_named(const char *name);		/* COLUMNS: no column has this name */
const char *column_name(int column);
enum table_column column_sort(int column);	/* TABLE_COLUMNS: it cannot be sorted by */

struct column_slot {			/* a column that is shown */
	int index;			/* in the table of columns */
	int column, width;		/* `column` counts from the area's left side */
};

struct column_layout {
	struct column_slot slots[COLUMNS];
	size_t count;
};

/* Chooses the columns that fit: the least important are left out first. The others share the room that is left. */
struct column_layout column_layout(const struct columns *wanted, int columns);

/* Draws the heads, and marks `sort` with an arrow. `machines`: the table is over all machines, and "CPU" reads "VM". */
void column_heads(struct canvas *canvas, struct place place, const struct column_layout *layout,
	enum table_column sort, bool invert, bool machines);

/* What the head at this column of the area sorts by (the trend's: self). TABLE_COLUMNS: there is no head. */
enum table_column column_at(const struct column_layout *layout, int column);

/* The next shown column that can be sorted by, to the right (step 1) or left (-1), around the ends. */
enum table_column column_next(const struct column_layout *layout, enum table_column sort, int step);

struct column_row {			/* a row and what is needed to draw it */
	const struct function_table *functions;
	const struct row *row;
	const char *match;		/* the pattern to be marked in the name; "": none */
};
void column_row(struct canvas *canvas, struct place place, const struct column_layout *layout,
	const struct column_row *row);

/* A share in percent: "12.34", or "~12.34" if it rests on fewer than about 30 samples. */
enum { COLUMN_SHARE = 16 };
const char *column_self(const struct table *table, const struct row *row, char text[COLUMN_SHARE]);
const char *column_total(const struct table *table, const struct row *row, char text[COLUMN_SHARE]);

/* The function's source line, as the answer has it; NULL: not known yet. */
const char *column_source(const struct function_table *functions, uint32_t function);

#endif
