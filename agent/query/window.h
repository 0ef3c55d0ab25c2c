/* SPDX-License-Identifier: MIT */
/* What a reader's question is about: the slices of its range, the names as they are now, and what passes its filter. */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/question/grouping.h"
#include "agent/query/question/question.h"
#include "agent/store/store.h"
#include "match.h"
#include "node_functions.h"

struct window {
	struct query_inputs inputs;	/* its store is that of the range, if that is fine */
	struct store *whole;		/* the store of all samples */
	struct node_functions *nodes;	/* shared by all readers, as are these: */
	const struct fine_ranges *fines;
	struct fine_range *fine;	/* that of the question; held; NULL: it has none */
	uint32_t reader;		/* the number of this one */
	const atomic_bool *stop;	/* see query_heed */
	/* The functions for idle time, and for samples without a stack. */
	uint32_t idle, unknown;

	struct question question;	/* the last one; all below is made from it */
	struct stack_filter stack_filter;
	struct grouping grouping;
	struct whos whos;
	struct who_table *who_table;	/* that of `whos`; held; NULL: it has met none */
	uint64_t store_version, threads_generation;
	struct span span;		/* the slices of its range */
	uint64_t to;			/* the end of its range: never after now */
	uint64_t slices;		/* a hash of what these slices are */
	uint64_t renewed;		/* grows when sums of slices, of whatever kind, are not right any more */
	uint64_t looked;		/* grows when the answer may be another one than before */
};

/* `nodes` and `fines` are borrowed, as are the inputs. window_clear frees what is remembered. */
void window_init(struct window *window, const struct query_inputs *inputs, struct node_functions *nodes,
	const struct fine_ranges *fines, uint32_t reader);
void window_clear(struct window *window);

/* To be called first for each question. Returns at once if nothing has changed. */
void window_look(struct window *window, const struct question *question);

struct range {				/* ns of guest time */
	uint64_t from, to;
};

/* What the slices of the span cover: from the beginning of the first to the end of the last. */
struct range window_range(const struct window *window);

uint32_t window_cpus(const struct window *window);	/* one more than the highest CPU of these slices */

/* What decides which counts pass the filter. Valid until the next look. */
struct match window_match(struct window *window);

#endif
