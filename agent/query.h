/*
 * One question to the store: a range, a filter; and its answer: a table of functions. All that a
 * person sees or saves comes from here. Weights are in sampling periods; percentages are shares of
 * the sum of the weights in the range that pass the filter.
 */
#ifndef QUERY_H
#define QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

struct query_inputs {			/* of one epoch; borrowed */
	struct store *store;
	struct stacks *stacks;
	struct symbols *symbols;
	struct threads *threads;
};

struct filter {
	char pattern[128];		/* part of a function's name; "": all. Lower case: any case */
	uint32_t cpu;			/* EVENT_NONE: all */
	char thread[64];		/* part of a thread's or its process's name, or a number; "": all */
	unsigned modes;			/* bits 1 << enum mode; 0: all */
};

struct question {
	uint64_t from, to;		/* ns of guest time; to = UINT64_MAX: now, the window moves */
	struct filter filter;
};

enum { TABLE_TREND = 60 };		/* trend columns, newest last, one second each */

struct row {
	uint32_t function;
	uint64_t self, total;		/* weights; total counts a function once per stack */
	uint64_t samples;		/* with this function as the leaf, not weighted */
	uint64_t cpus[16];		/* bit set, CPU 0 to 1023 */
};

struct caller {
	uint32_t function;
	uint64_t weight;
};

struct table {
	uint64_t from, to;		/* the range really used */
	uint64_t weight, samples;	/* of all that passed */
	uint64_t mode[MODES];		/* weights, of all that passed */
	uint64_t missed;		/* weight in gaps, in no row's share */
	size_t count;
	struct row *rows;
};

enum table_column {
	COLUMN_SELF, COLUMN_TOTAL, COLUMN_HITS, COLUMN_CPU, COLUMN_FUNCTION, COLUMN_OBJECT, COLUMN_SOURCE,
	TABLE_COLUMNS,
};

/* Keeps what makes the next, similar question cheap (the running window). */
struct query *query_new(const struct query_inputs *inputs);
void query_free(struct query *query);

struct table *query_table(struct query *query, const struct question *question);	/* NULL: no memory */
void table_free(struct table *table);

/* Stable; names come from `symbols`. Larger first, texts in order; `invert` turns that round. */
void table_sort(struct table *table, const struct symbols *symbols, enum table_column column, bool invert);

/* Self weight of one function per second, ending at the range's end; the filter applies. */
void query_trend(struct query *query, const struct question *question, uint32_t function,
	uint64_t trend[TABLE_TREND]);

/* The functions that called this one, heaviest first; returns how many of `size` were written. */
size_t query_callers(struct query *query, const struct question *question, uint32_t function,
	struct caller *callers, size_t size);

/* Per CPU: shares of the range, and a column per second of the last 60, as weights. */
struct cpu_series {
	uint64_t mode[MODES], missed;
	uint64_t trend[TABLE_TREND][MODES];
};
size_t query_cpus(struct query *query, const struct question *question, struct cpu_series *cpus, size_t size);

/* Each distinct stack that passes, once, for exporters. Frames are functions, root first. */
struct query_stack {
	const uint32_t *functions;
	size_t depth;
	uint32_t thread, process;
	enum mode mode;
	bool cut;
	uint64_t weight;
};
void query_stacks(struct query *query, const struct question *question,
	void (*each)(void *context, const struct query_stack *stack), void *context);

#endif
