/* SPDX-License-Identifier: MIT */
/* What a row of a table shows in each of its columns. */
#ifndef ROW_CELL_H
#define ROW_CELL_H

#include <stdbool.h>
#include <stdint.h>

struct caller;
struct canvas;
struct function_table;
struct place;
struct row;
struct table;

struct row_drawn {			/* a row and what is needed to draw it */
	const struct function_table *functions;
	const struct row *row;
	const char *match;		/* the pattern to be marked in the name; "": none */
	bool usage;			/* set by column_row */
};

enum { ROW_NARROW = 6 };		/* columns: a share in a place that is no wider has one decimal */

void row_draw_self(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_total(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_hits(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_trend(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_cpus(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_name(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_object(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_source(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_ran(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_kernel(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_user(struct canvas *canvas, struct place place, const struct row_drawn *row);
void row_draw_change(struct canvas *canvas, struct place place, const struct row_drawn *row);	/* of self */

/* A share in percent: "12.34", or "~12.34" if it rests on fewer than about 30 samples. */
enum { ROW_SHARE = 16 };
const char *row_self_share(const struct table *table, const struct row *row, char text[ROW_SHARE]);
const char *row_total_share(const struct table *table, const struct row *row, char text[ROW_SHARE]);

/* The function that a visible row ran most (query_ran); NULL: the row is not visible. */
const struct caller *row_ran(const struct function_table *functions, uint32_t row);

/* The function's source line, as the answer has it; NULL: not known yet. */
const char *row_line(const struct function_table *functions, uint32_t function);

#endif
