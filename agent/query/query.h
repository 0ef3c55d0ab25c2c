/* SPDX-License-Identifier: MIT */
/*
 * One question to the store: a range, a filter; and its answer: a table of functions. All that a
 * person sees or saves comes from here. Weights are in sampling periods; percentages are shares of
 * the sum of the weights in the range that pass the filter.
 */
#ifndef QUERY_H
#define QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"
#include "question.h"

struct budget;
struct symbols;

enum { TABLE_TREND = 60 };		/* trend columns, newest last, one second each */

/* Idle time is self and total of "[idle]", whatever code the guest idles in. */
struct row {
	uint32_t function;
	uint64_t self, total;		/* weights; total counts a function once per stack */
	uint64_t samples;		/* with this function as the leaf, not weighted */
	uint64_t *cpus;			/* that ran it: a bit each, table->words words */
};

struct caller {
	uint32_t function;
	uint64_t weight;
};

struct table {
	uint64_t from, to;		/* the range really used */
	uint64_t weight, samples;	/* of all that passed */
	uint64_t time;			/* ns of CPUs behind the weight: by the rates of then; 0: not known */
	uint64_t mode[MODES];		/* weights, of all that passed */
	uint64_t missed;		/* in gaps, of any thread and mode; not in `weight` */
	size_t count, room;
	struct row *rows;
	uint64_t *cpus;			/* of all rows */
	uint32_t words;
	struct budget *budget;		/* that has paid for the room */
};

enum table_column {
	COLUMN_SELF, COLUMN_TOTAL, COLUMN_HITS, COLUMN_CPU, COLUMN_FUNCTION, COLUMN_OBJECT,
	COLUMN_SOURCE,
	TABLE_COLUMNS,
};

struct query *query_new(const struct query_inputs *inputs);
void query_free(struct query *query);

/*
 * From now on a question is given up as soon as this is set: its answer is empty, or a part, and of no use; the
 * next one begins anew. NULL: none is.
 */
void query_heed(struct query *query, const atomic_bool *stop);

/*
 * What makes the next, similar question cheap is kept for each reader (window.h), so that readers with different
 * windows or filters do not undo each other's work. Where there are too many of them, a new one is QUERY_ANYBODY,
 * whose answers are as right, and take longer when others are, too.
 */
enum { QUERY_ANYBODY, QUERY_READERS = 8 };

uint32_t query_reader_new(struct query *query);
void query_reader_free(struct query *query, uint32_t reader);

/* How much was walked for a reader so far: each digest of a slice that was made, or added to. */
uint64_t query_walked(const struct query *query, uint32_t reader);

struct table *query_table(struct query *query, const struct question *question);

/* An empty table of so many rows at first, for CPUs below 64 * words; and one row more in it. */
struct table *table_new(struct budget *budget, size_t room, uint32_t words);
struct row *table_add(struct table *table, uint32_t function);
struct table *table_copy(const struct table *table);
void table_shrink(struct table *table);		/* to the rows that it has */
void table_free(struct table *table);

/*
 * Numbers: larger first, texts in order; `invert` turns that round. Source: object, then address,
 * which is the order of lines within a file. Equal rows stand by self, total, id: in one order
 * from table to table.
 */
void table_sort(struct table *table, const struct symbols *symbols, enum table_column column,
	bool invert);

/* "0-2,7": the CPUs that ran it; a "+" stands for what does not fit. Returns `text`. */
const char *table_cpus(const struct table *table, const struct row *row, char *text, size_t size);

/*
 * Self weight of one function in each of the last whole seconds before the range's end, also those
 * before its beginning; the filter applies.
 */
void query_trend(struct query *query, const struct question *question, uint32_t function,
	uint64_t trend[TABLE_TREND]);

/*
 * The functions that called this one directly, itself among them when it recurses, heaviest first;
 * each with the weight of the stacks in which it did. Returns how many of `size` were written.
 */
size_t query_callers(struct query *query, const struct question *question, uint32_t function,
	struct caller *callers, size_t size);

/*
 * What was inlined where samples found this function as their leaf: the innermost function there,
 * heaviest first, as far as it is known. `whole` is the weight that was looked at: the newest of the
 * range, some ten thousand samples. Returns how many of `size` were written.
 */
size_t query_inlined(struct query *query, const struct question *question, uint32_t function,
	struct caller *inlined, size_t size, uint64_t *whole);

/* Per CPU, whatever the filter: weights of the range, and of the seconds of a trend. */
struct cpu_series {
	uint64_t mode[MODES], missed;
	uint64_t (*trend)[MODES];	/* TABLE_TREND of them, the caller's; NULL: not wanted */
};

/*
 * Fills all `size`, adding to trends, of which several may be one; returns one more than the highest CPU that had
 * anything.
 */
size_t query_cpus(struct query *query, const struct question *question, struct cpu_series *cpus,
	size_t size);

/*
 * Each distinct (functions, thread, process, mode) that passes, once, for exporters; their weights
 * add up to the table's. Idle time is the one frame [idle], a sample without a stack [unknown].
 * What was inlined is a frame behind the function that it is in, when the question wants that.
 * False, before the first: there is no memory for all of them.
 */
struct query_stack {
	const uint32_t *functions;	/* root first; good during the call */
	size_t depth;
	uint32_t thread, process;
	enum mode mode;
	bool cut;			/* some callers are missing */
	uint64_t weight, samples;
};
bool query_stacks(struct query *query, const struct question *question,
	void (*each)(void *context, const struct query_stack *stack), void *context);

/* Of how many addresses in these stacks is not known yet what is inlined there? They are asked for. */
uint32_t query_unread(struct query *query, const struct question *question);

/* Calls that are in no answer about callers: there is no memory for them. */
uint64_t query_refused(const struct query *query);

#endif
