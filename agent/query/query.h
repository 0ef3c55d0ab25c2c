/* SPDX-License-Identifier: MIT */
/*
 * Answers questions about the store: a question is a range and a filter, its answer a table of functions,
 * and more. All that a person sees or saves comes from here. Weights are in sampling periods. Percentages
 * are shares of the weight in the range that passes the filter.
 */
#ifndef QUERY_H
#define QUERY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/question/question.h"
#include "agent/wire/event.h"
#include "table.h"

struct tree;
struct tree_question;

struct caller {
	uint32_t function;
	uint64_t weight;
};

struct query *query_new(const struct query_inputs *inputs);
void query_free(struct query *query);

/*
 * From now on, a question is given up as soon as *stop is set. Its answer is then empty or partial, and of
 * no use; the next question starts afresh. NULL: no question is given up.
 */
void query_heed(struct query *query, const atomic_bool *stop);

/* Gives memory back that only makes the next answer cheaper, where memory is short. To be called now and then. */
void query_spare(struct query *query);

/*
 * For each reader the query keeps what it has found out about names under this filter and grouping, what is unfolded
 * in a tree, and trends. So readers do not undo each other's work. When there are too many, a new one gets
 * QUERY_ANYBODY: its answers are the same, but take longer when others ask as QUERY_ANYBODY, too.
 */
enum { QUERY_ANYBODY, QUERY_READERS = 20 };

uint32_t query_reader_new(struct query *query);
void query_reader_free(struct query *query, uint32_t reader);

/*
 * Moves the ends of the question's range to those of the slices that answer it, one at least if anything was sampled
 * then; where slices are long, that may be more than was asked for. A range of a second at most stays exact when its
 * slices become coarser (store.h).
 */
void query_round(struct query *query, struct question *question);

/* The same, but of slices alone, which answer a question that was not rounded. */
void query_cover(const struct query *query, struct question *question);

/* The caller frees the table (table_free). */
struct table *query_table(struct query *query, const struct question *question);

/*
 * The same for the range of a baseline, which seldom changes. The query owns the table, which is valid until this
 * reader's next question, and makes it anew when it has changed.
 */
const struct table *query_table_kept(struct query *query, const struct question *question);

/*
 * The self weights of `count` functions, TRENDS_MOST at most, in each of the last whole seconds before the range's end,
 * including those before its beginning. The filter applies.
 */
void query_trends(struct query *query, const struct question *question, const uint32_t *functions, size_t count,
	uint64_t (*trends)[TABLE_TREND]);

/*
 * The functions that called this one directly, heaviest first; it is among them if it recurses. `weight` is
 * that of the stacks that contain the call. Returns how many of `size` were written; none unless the question is by
 * function.
 */
size_t query_callers(struct query *query, const struct question *question, uint32_t function,
	struct caller *callers, size_t size);

/*
 * The function in which a thread or process ran most; of a line, the function in whose code it is, and the one with the
 * most weight there if there are several. The weight is 0 unless the question is by these and has `callers`.
 */
struct caller query_ran(struct query *query, const struct question *question, uint32_t row);

/* One CPU's weights in the range, and in the seconds of a trend. The filter does not apply. */
struct cpu_series {
	uint64_t mode[MODES], missed;
	uint64_t (*trend)[MODES];	/* TABLE_TREND of them, the caller's memory; NULL: not wanted */
};

/*
 * Fills all `size` entries, one for each CPU from 0 on. Adds to the trends, of which several may be the same
 * memory. Returns one more than the highest CPU that had anything.
 */
size_t query_cpus(struct query *query, const struct question *question, struct cpu_series *cpus,
	size_t size);

/*
 * Exporters get each distinct (functions, mode) that passes the filter, once; or that of each thread, if the question
 * wants threads. Those of one place come one after another. The weights add up to the table's. Idle time is the single
 * frame [idle], a sample without a stack [unknown]. If the question wants inlined functions, each is a frame behind the
 * function that it is in. False, and nothing was exported: there is no memory for all stacks, or the question was given
 * up.
 */
struct query_stack {
	const uint32_t *functions;	/* root first; valid during the call */
	size_t depth;
	uint32_t place;			/* from 0 on; the same for the same functions, if it is cut or not in both */
	uint32_t thread;		/* EVENT_NONE if the question wants none */
	enum mode mode;
	bool cut;			/* some callers are missing */
	uint64_t weight, samples;
};
bool query_stacks(struct query *query, const struct question *question,
	void (*each)(void *context, const struct query_stack *stack), void *context);

/*
 * Makes a tree, owned by the caller; never NULL: rows that fold and unfold, with the same weights as the stacks. The
 * question is by function; words of its filter without a colon are ignored. `kernel`: the name of the guest's kernel,
 * which is in the paths. The reader of the question keeps what makes the next answer cheap, for one question about a
 * tree.
 */
struct tree *query_tree(struct query *query, const struct question *question, const struct tree_question *wanted,
	const char *kernel);

/* Returns at how many addresses in these stacks it is not known yet what is inlined. Asks a worker to read these. */
uint32_t query_unread(struct query *query, const struct question *question);

/*
 * True: the filter of the question, which was answered last, asks for source files (file:) that a worker still reads.
 * The next answer may be another one.
 */
bool query_awaits_files(struct query *query, const struct question *question);

/* How many calls are missing in the answers about callers, because there was no memory for them. */
uint64_t query_refused(const struct query *query);

#endif
