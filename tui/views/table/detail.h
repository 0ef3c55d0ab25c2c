/* SPDX-License-Identifier: MIT */
/* The line below a table: all that its answer tells of the row under the cursor. */
#ifndef DETAIL_H
#define DETAIL_H

struct function_table;
struct row;
struct vitals;

enum { DETAIL = 2048 };			/* bytes of the line */

void detail_write(const struct function_table *functions, const struct vitals *vitals, const struct row *row,
	char text[DETAIL]);

#endif
