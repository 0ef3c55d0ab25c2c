/* SPDX-License-Identifier: MIT */
/*
 * The table as comma-separated values (RFC 4180), with a line of names first. Its input has a table. Any thread
 * may write it, while the input exists.
 */
#ifndef EXPORT_CSV_H
#define EXPORT_CSV_H

#include <stdatomic.h>

#include "export.h"

extern const struct export_format export_csv;

struct csv_options {
	const atomic_bool *stop;	/* true: the asker gives up, and the table ends; NULL: never */
};

_Static_assert(sizeof(struct csv_options) <= EXPORT_OPTIONS, "they fit into a choice");

static inline struct export_choice csv_choice(struct csv_options options)
{
	return export_choose(export_formats[EXPORT_CSV], &options, sizeof(options));
}

/* ---- row lines ---- */

/*
 * The source lines of a table's rows, as far as they have been read: symbols_line is for the owner of the symbols
 * alone, but a table may be written by another thread.
 */

struct symbols;
struct table;

/* By row: "file.c:41", or "". The texts live as long as the symbols. NULL: there is no memory. */
const char **row_lines_new(const struct table *table, struct symbols *symbols);
void row_lines_free(const char **lines, const struct table *table);	/* NULL is allowed */

#endif
