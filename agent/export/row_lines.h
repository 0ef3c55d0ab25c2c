/* SPDX-License-Identifier: MIT */
/*
 * The source lines of a table's rows, as far as they have been read: symbols_line is for the owner of the symbols
 * alone, but a table may be written by another thread.
 */
#ifndef ROW_LINES_H
#define ROW_LINES_H

struct symbols;
struct table;

/* By row: "file.c:41", or "". The texts live as long as the symbols. NULL: there is no memory. */
const char **row_lines_new(const struct table *table, struct symbols *symbols);
void row_lines_free(const char **lines, const struct table *table);	/* NULL is allowed */

#endif
