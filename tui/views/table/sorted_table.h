/* SPDX-License-Identifier: MIT */
/*
 * What tables have in common whose rows a view sorts itself: columns under heads, of which some go where room is short;
 * a cursor; a line of detail below; notes at the foot. The view has the rows. Used by the screen's thread.
 */
#ifndef SORTED_TABLE_H
#define SORTED_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/frame/list.h"
#include "tui/terminal/canvas.h"

enum { SORTED_COLUMNS = 16 };		/* at most */

struct sorted_column {
	const char *head;
	int width;
	int keep;			/* when room is short, the column with the lowest one goes first; 0: it stays */
	bool left;			/* its texts begin at its left */
};

struct sorted_kind {
	const struct sorted_column *columns;
	int count;
	int name;			/* the column of names has the room that is left */
	int trend, trend_most;		/* the column of trends grows up to so many columns, and does not sort, */
	int trend_sorts;		/* but for its head, which sorts by this one */
};

struct sorted_table {			/* the view sets `kind` and `sort`; the rest starts zeroed */
	const struct sorted_kind *kind;
	struct list list;
	int sort;			/* a column */
	bool invert;
	int detail_from;		/* the first column of the line of detail that is shown */
	struct area area, rows;		/* of the last drawing: with heads; its rows alone */
	int from[SORTED_COLUMNS], width[SORTED_COLUMNS];	/* columns of `area`; width 0: left out */
};

/* How much room names have. */
struct sorted_names {
	int least, most;		/* columns: others go for the least; the most that they take */
	int wide;			/* trends grow while names have so many */
};

/* `hidden`: bits of columns that are left out. */
void sorted_lay_out(struct sorted_table *table, struct sorted_names names, uint32_t hidden);
struct place sorted_cell(const struct sorted_table *table, struct place row, int column);

/* `name`: the head of the column of names. */
void sorted_draw_heads(const struct sorted_table *table, struct canvas *canvas, const char *name);
void sorted_draw_name(struct canvas *canvas, struct place place, const char *name, const char *match);
void sorted_draw_cursor(struct canvas *canvas, struct place row);	/* that row is drawn */
void sorted_draw_detail(struct sorted_table *table, struct canvas *canvas, struct place place, const char *text);

/* Notes stand at the foot of the area, which gets smaller: by a third at most, but by a row at least. */
void sorted_draw_notes(struct canvas *canvas, struct area *area, const char *notes);
void sorted_note(char *notes, size_t size, const char *note);

/* Takes a place at the right off an area of `from` columns or more; else its `rows` are 0. `least`, `most`: columns. */
struct area sorted_take_beside(struct area *area, int from, int least, int most);

/* These two after sorted_lay_out, since the rows may have come after the last drawing. */

/* False: the action is none of the table's. *sorts: the rows are to be sorted anew. */
bool sorted_act(struct sorted_table *table, const struct list_rows *rows, enum action action, bool *sorts);
/* True: the rows are to be sorted anew. */
bool sorted_click(struct sorted_table *table, const struct list_rows *rows, int row, int column);

#endif
