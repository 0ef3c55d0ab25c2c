/* SPDX-License-Identifier: MIT */
/*
 * The columns of the function table: their heads and widths, which of them there is room for, and
 * what a row says in each.
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

struct columns {			/* those wanted, FUNCTION among them */
	int order[COLUMNS];		/* of the table of columns, from left to right */
	size_t count;
};

extern const struct columns columns_standard;

/* Of the table of columns. */
int column_named(const char *name);		/* COLUMNS: none is called so */
const char *column_name(int column);
enum table_column column_sort(int column);	/* TABLE_COLUMNS: nothing to sort by */

struct column_slot {			/* a column that is shown */
	int index;			/* of the table of columns */
	int column, width;		/* from the area's left side */
};

struct column_layout {
	struct column_slot slots[COLUMNS];
	size_t count;
};

/* The least important columns go first; what room is left, the others share. */
struct column_layout column_layout(const struct columns *wanted, int columns);

/* `sort` is marked with an arrow; `machines`: where a CPU is a machine. */
void column_heads(struct canvas *canvas, struct place place, const struct column_layout *layout,
	enum table_column sort, bool invert, bool machines);

/* What the head at this column of the area sorts by, the trend's by self; TABLE_COLUMNS: nothing. */
enum table_column column_at(const struct column_layout *layout, int column);

/* The next shown column that can be sorted by, to the right (step 1) or left (-1), and around. */
enum table_column column_next(const struct column_layout *layout, enum table_column sort, int step);

struct column_row {			/* a row and what is needed to draw it */
	const struct function_table *functions;
	const struct row *row;
	const char *match;		/* part of the name to be marked, or "" */
};
void column_row(struct canvas *canvas, struct place place, const struct column_layout *layout,
	const struct column_row *row);

/* "12.34", or "~12.34" when fewer than about 30 samples stand behind it. */
enum { COLUMN_SHARE = 16 };
const char *column_self(const struct table *table, const struct row *row, char text[COLUMN_SHARE]);
const char *column_total(const struct table *table, const struct row *row, char text[COLUMN_SHARE]);

/* Where the function's source is, as far as the answer knows; NULL: not known yet. */
const char *column_source(const struct function_table *functions, uint32_t function);

#endif
