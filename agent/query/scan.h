/* SPDX-License-Identifier: MIT */
/*
 * Answers are sums over the samples of a range that pass a filter: one pass over the samples adds each to its stack's
 * leaf, and one over the nodes of all stacks, from the last to the first, adds up what is below each. (A caller has a
 * lower number than those it calls.) Tables, callers, trees and pages read these sums. Where a range only moves, the
 * first pass goes through the runs (run.h) that have come, and once more through those that have left.
 */
#ifndef SCAN_H
#define SCAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/hash.h"
#include "agent/query/question/grouping.h"
#include "agent/query/question/question.h"
#include "agent/store/store.h"
#include "agent/wire/event.h"
#include "match.h"
#include "table.h"

struct budget;
struct match;
struct run;
struct slice;
struct who_table;
struct window;

/*
 * Where sums are: those of no stack come first, then that of each node, at its number + SCAN_NODES. So STACKS_NONE +
 * SCAN_NODES is SCAN_UNKNOWN. Of a scan by who, behind SCAN_NODES are those of each number of who, or of each in each
 * context.
 */
enum { SCAN_IDLE, SCAN_UNKNOWN, SCAN_NODES };
enum { SCAN_WORDS_MAX = 16 };		/* of 64 CPUs each: as many as the row of a table tells apart */

struct scan_sum {
	uint64_t weight, samples;
};

struct scan_whole {			/* of all samples that passed */
	uint64_t weight, samples, mode[MODES];
	uint64_t time;			/* the ns of CPU behind the weight, where the period was known */
	uint64_t missed;		/* in gaps, on CPUs that pass */
};

struct scan_pair {			/* a row of the table, and a caller of it, or a function that ran in it */
	uint32_t row, function;
	uint32_t next;			/* the next pair of the row; HASH_NONE: there is none */
	uint64_t weight;		/* of the stacks that have it; each counts once; 0: none has it any more */
};

struct scan_row {			/* indices of pairs; HASH_NONE: it has none */
	uint32_t first, heaviest;
};

struct scan_pairs {
	struct scan_pair *list;
	uint32_t count, room;
	uint32_t empty;			/* so many have no weight */
	struct scan_row *rows;		/* by row */
	uint32_t row_count;
	struct hash by_pair;
	uint64_t refused;		/* additions to pairs that found no memory */
};

struct scan_run {
	struct run *run;		/* held */
	uint64_t period;		/* of its slice, when it was added */
	uint64_t looked;		/* the window's when it was last in the range */
};

struct scan {				/* starts as { 0 }, with `budget` and `number` */
	struct budget *budget;
	uint32_t number;		/* below RUN_MARKS; each has its own */
	bool by_who;			/* own sums are by whoever ran, and pairs, if the question asks for callers */
	uint32_t contexts;		/* places of each number then: 1, or CONTEXTS if the question asks for them */
	const struct window *window;	/* whose question this is of; NULL: of none */
	uint64_t looked, renewed;	/* the window's then */
	bool has_own, has_totals, has_cpus, has_cpus_below, has_pairs;	/* these are made: */
	struct scan_whole whole;
	struct scan_run *runs;		/* own sums are of these */
	uint32_t run_count, run_room;
	struct who_table *whos;		/* whose numbers they have; held; NULL: none yet */
	uint32_t *seen, seen_cpus;	/* by place and CPU: the samples in these runs; NULL: they are not summed up */
	uint32_t seen_room;		/* places */
	uint32_t count, room;		/* places */
	struct scan_sum *own;		/* what ran there */
	uint32_t *ran, ran_count;	/* the places where anything ran */
	uint32_t below_room;		/* places of what follows */
	uint64_t *totals;		/* the weight there and below */
	uint32_t *rows;			/* by function, its own; where there is no total: not set */
	uint64_t *cpus;			/* `words` words for each: bits of the CPUs that ran there or below */
	uint32_t words;			/* 0: there was no memory */
	struct scan_pairs pairs;
	uint32_t pairs_of;		/* the only row that has pairs; FUNCTION_NONE: all have */
};

void scan_clear(struct scan *scan);

/*
 * Where memory is short, gives up the runs that are held, and all else unless it is in use: the next sums begin anew.
 * To be called now and then.
 */
void scan_spare(struct scan *scan, bool in_use);

/* To be called first, when the window has looked. What was made for another question is forgotten. */
void scan_begin(struct scan *scan, const struct window *window, bool by_who);

/*
 * These make what is not made yet: own sums; totals and rows; pairs of callers and callees, or by line of functions. By
 * who there are own sums alone.
 */
void scan_own(struct scan *scan, struct window *window, bool cpus);
void scan_totals(struct scan *scan, struct window *window, bool cpus);
void scan_node_pairs(struct scan *scan, struct window *window, uint32_t of);

/* In a scan by who: the number that a place is of, and the context. */
static inline uint32_t scan_place_who(const struct scan *scan, uint32_t place, enum context *context)
{
	*context = (enum context)((place - SCAN_NODES) % scan->contexts);
	return (place - SCAN_NODES) / scan->contexts;
}

/* The first of a row's pairs, and the heaviest. NULL: it has none. */
static inline const struct scan_pair *scan_pairs_of(const struct scan_pairs *pairs, uint32_t row)
{
	return row < pairs->row_count && pairs->rows[row].first != HASH_NONE ? &pairs->list[pairs->rows[row].first] :
		NULL;
}

static inline const struct scan_pair *scan_heaviest(const struct scan_pairs *pairs, uint32_t row)
{
	return row < pairs->row_count && pairs->rows[row].heaviest != HASH_NONE ?
		&pairs->list[pairs->rows[row].heaviest] : NULL;
}

/* ---- what a question is about ---- */

struct range {				/* ns of guest time */
	uint64_t from, to;
};

/* What a reader's question is about: the slices of its range, the names as they are now, and what passes its filter. */

struct window {
	struct query_inputs inputs;	/* its store is that of the question's filter */
	struct query_inputs all;	/* with the stores of all samples, and of all waits */
	struct node_functions *nodes;	/* shared by all readers */
	const atomic_bool *stop;	/* see query_heed */
	/* The functions for idle time, and for samples without a stack. */
	uint32_t idle, unknown;

	struct question question;	/* the last one; all below is made from it */
	struct stack_filter stack_filter;
	struct grouping grouping;
	struct whos whos;
	struct who_table *who_table;	/* that of `whos`; held; NULL: it has met none */
	uint64_t store_version, threads_generation, renamed;	/* of `nodes`: the last */
	struct range covered;		/* from the first of its slices to the last; from > to: it has none */
	uint64_t to;			/* the end of its range: never after now */
	uint64_t slices;		/* a hash of what these slices are */
	uint32_t cpus;			/* one more than their highest CPU */
	uint64_t missed;		/* in their gaps, on CPUs that pass */
	uint64_t renewed;		/* grows when sums of slices, of whatever kind, are not right any more */
	uint64_t looked;		/* grows when the answer may be another one than before */
};

/* `nodes` is borrowed, as are the inputs. window_clear frees what is remembered. */
void window_init(struct window *window, const struct query_inputs *inputs, struct node_functions *nodes);
void window_clear(struct window *window);

/* To be called first for each question. Returns at once if nothing has changed. */
void window_look(struct window *window, const struct question *question);

/* Its slices. The window has looked. */
static inline struct slices window_slices(const struct window *window)
{
	return slices_in(window->inputs.store, window->question.from, window->question.to, false);
}

static inline bool window_is_empty(const struct window *window)		/* it has no slice */
{
	return window->covered.from > window->covered.to;
}

/* What the slices cover: from the beginning of the first to the end of the last. */
struct range window_range(const struct window *window);

/* What decides which counts pass the filter. Valid until the next look. */
struct match window_match(struct window *window);

#endif
