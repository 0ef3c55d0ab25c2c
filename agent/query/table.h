/* SPDX-License-Identifier: MIT */
/*
 * A table of functions: the answer to a question (query.h). Weights are in sampling periods. One owner; its
 * memory is charged to a budget.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct change;
struct symbols;

enum { TABLE_TREND = 60 };		/* columns of a row's trend: one second each, newest last */

/* One function. Idle time is self and total of "[idle]", whatever code the guest idles in. */
struct row {
	uint32_t function;
	uint32_t base;			/* 1 + its index in the baseline's rows; 0: it is not in the baseline */
	uint64_t self, total;		/* weights; a function counts once in a stack's total */
	uint64_t samples;		/* whose leaf this function is, not weighted */
	uint64_t kernel, user;		/* the parts of self in these modes; where rows are who ran the samples */
	uint64_t waits;			/* of a thread: for so many ns it has waited (thread_now.h); 0: or not known */
	uint64_t *cpus;			/* the CPUs that ran it: a bit each, table->words words */
};

struct row_base {			/* what a function had in the baseline */
	uint64_t self, total, samples;
};

struct table_base {			/* the baseline: another range, under the same filter; as in struct table */
	uint64_t from, to;
	uint64_t weight, samples, time;
	struct row_base *rows;
	size_t count, room;
};

struct table {
	uint64_t from, to;		/* the range that the slices cover, in ns of guest time */
	uint64_t weight, samples;	/* of all samples that passed the filter */
	uint64_t time;			/* the ns of CPU behind the weight, by the rates at that time; 0: not known */
	uint64_t mode[MODES];		/* weights, of all samples that passed */
	uint64_t missed;		/* in gaps, whatever thread and mode; not in `weight` */
	bool unread;			/* rows are still to come: files or lines are being read (grouping.h) */
	size_t count, room;
	struct row *rows;
	uint64_t *cpus;			/* the bits of all rows */
	uint32_t words;
	struct table_base *base;	/* owned; NULL: there is no baseline */
	struct budget *budget;		/* has paid for `room`, and for the baseline's */
};

/*
 * An empty table with room for so many rows at first, for CPUs below 64 * words. table_add adds a row; rows
 * that were returned before may move. Neither table_add nor table_shrink may follow one that sorts.
 */
struct table *table_new(struct budget *budget, size_t room, uint32_t words);
struct row *table_add(struct table *table, uint32_t function);
void table_shrink(struct table *table);		/* frees the room without rows */
void table_free(struct table *table);

/*
 * The table `with` becomes the baseline of this one. A function that is in `with` alone gets a row, with weights of 0.
 * Not after one that sorts. Both tables have the same filter and grouping.
 */
void table_compare(struct table *table, const struct table *with);

/* Gives the table a baseline without rows; and what a row has in it, all zero at first. */
void table_add_base(struct table *table);
struct row_base *table_base_of(struct table *table, struct row *row);

/* How the row's self, or its total, has changed since the baseline, which there must be. */
struct change table_self_change(const struct table *table, const struct row *row);
struct change table_total_change(const struct table *table, const struct row *row);

/* Is this one of the CPUs that ran it? */
static inline bool table_has_cpu(const struct table *table, const struct row *row, unsigned cpu)
{
	return cpu < 64 * table->words && row->cpus[cpu / 64] >> cpu % 64 & 1;
}

/* Writes the CPUs that ran it, as "0-2,7"; a "+" stands for those that do not fit. Returns `text`. */
const char *table_cpus(const struct table *table, const struct row *row, char *text, size_t size);

/* ---- the order of rows ---- */

/* The order of a table's rows. One owner, as the table. */

struct table;

enum table_column {
	COLUMN_SELF, COLUMN_TOTAL, COLUMN_HITS, COLUMN_CPU, COLUMN_FUNCTION, COLUMN_OBJECT,
	COLUMN_SOURCE, COLUMN_KERNEL, COLUMN_USER, COLUMN_CHANGE, COLUMN_WAITS,
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
