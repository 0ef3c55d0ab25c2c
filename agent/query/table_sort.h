/* SPDX-License-Identifier: MIT */
/* The order of a table's rows. One owner, as the table. */
#ifndef TABLE_SORT_H
#define TABLE_SORT_H

#include <stdbool.h>
#include <stddef.h>

struct symbols;
struct table;

enum table_column {
	COLUMN_SELF, COLUMN_TOTAL, COLUMN_HITS, COLUMN_CPU, COLUMN_FUNCTION, COLUMN_OBJECT,
	COLUMN_SOURCE, COLUMN_KERNEL, COLUMN_USER, COLUMN_CHANGE,
	TABLE_COLUMNS,
};

/*
 * Sorts numbers with the larger first, texts in alphabetical order; `invert` turns that round. The order by
 * source is by object, then by address, which is the order of lines within a file. The order by change
 * puts the largest first, whether it is more or less; without a baseline all are equal. Equal rows are ordered
 * by self, total and id, so that they keep their order from table to table.
 */
void table_sort(struct table *table, const struct symbols *symbols, enum table_column column,
	bool invert);

/*
 * As table_sort, but equal rows are ordered by name, object and address: an id tells when this process met the
 * function, and two reports of the same samples are the same. Slower, for what is sorted once.
 */
void table_sort_named(struct table *table, const struct symbols *symbols, enum table_column column);

/*
 * As table_sort for the rows that come first, `count` of them or more: the others follow in no order. Costs much less
 * for the columns of numbers. Returns how many are in order.
 */
size_t table_sort_first(struct table *table, const struct symbols *symbols, enum table_column column, bool invert,
	size_t count);

#endif
