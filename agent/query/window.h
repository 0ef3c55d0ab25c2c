/* SPDX-License-Identifier: MIT */
/*
 * What makes a reader's next, similar question cheap. Each of the newest slices has a digest, to which
 * is added what comes to the slice. One more digest holds all slices before them, and slices are only
 * added to it. So samples are walked when they come, not each time that they are looked at. The sums over the range are
 * corrected by the digests that have come, gone or changed.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/query/question/grouping.h"
#include "agent/query/question/question.h"
#include "agent/store/fine_ranges.h"
#include "agent/store/span.h"
#include "digest.h"
#include "node_functions.h"
#include "passing.h"
#include "range_sums.h"
#include "stack_filter.h"

enum { WINDOW_SECONDS = 61 };		/* enough for all the whole seconds of a trend */

struct window {
	struct query_inputs inputs;	/* its store is that of the range, if that is fine */
	struct store *whole;		/* the store of all samples */
	struct node_functions *nodes;	/* shared by all readers, as are these: */
	const struct fine_ranges *fines;
	struct fine_range *fine;	/* that of the question; held; NULL: it has none */
	uint32_t reader;		/* the number of this one */
	const atomic_bool *stop;	/* see query_heed */
	uint64_t haste;			/* how many counts of runs are looked through in haste (haste.h) */
	/* The functions for idle time, and for samples without a stack. */
	uint32_t idle, unknown;

	struct question question;	/* the last one; all below is made from it */
	struct stack_filter stack_filter;
	struct grouping grouping;
	uint64_t store_version, threads_generation;
	struct span span;		/* the slices of its range */
	uint64_t to;			/* the end of its range: never after now */
	uint64_t given_up;		/* of the stretch that is `past` */

	uint64_t renewed;		/* grows when sums of slices, of whatever kind, are not right any more */
	uint64_t serial;		/* of the digest that has changed last */
	uint32_t sums_expected;		/* in the next digest: as many as in the last one */
	struct digest **recent;		/* of one slice each, the last of them before span.end */
	size_t recent_count;
	struct digest *past;		/* slices from span.first to the first recent one; NULL: none */
	struct digest_places places;	/* for the digest that is being made */
	struct range_sums sums;		/* of those that make up the range */
	uint64_t updated;		/* how often digests were looked through */
	bool digested;			/* `recent`, `past` and `sums` are of this question, */
	bool behind;			/* but not of its whole range yet; the newest slices come first */
};

/* `nodes` and `fines` are borrowed, as are the inputs. window_clear frees the digests. */
void window_init(struct window *window, const struct query_inputs *inputs, struct node_functions *nodes,
	const struct fine_ranges *fines, uint32_t reader);
void window_clear(struct window *window);

/*
 * One of these must be called first for each question. All return at once if nothing has changed. window_look is enough
 * for a caller that walks the slices; window_update makes the digests, too. If the question is hasty, it makes as many
 * as have time, and sets `behind`: window_go_on, called once for each answer, makes further ones.
 */
void window_look(struct window *window, const struct question *question);
void window_update(struct window *window, const struct question *question);
void window_go_on(struct window *window, const struct question *question);

struct range {				/* ns of guest time */
	uint64_t from, to;
};

/* What the slices of the span cover: from the beginning of the first to the end of the last. */
struct range window_range(const struct window *window);

/* What decides which counts pass the filter, after one of the two. Valid until the next. */
struct passing window_passing(struct window *window);

/* What a sum was made of: all slices from span.first to the one that ended at `end`. */
struct stretch {
	uint64_t begin, end, version;	/* over these slices */
	uint64_t given_up;		/* store_given_up() when it was begun: if it grows, a slice may have gone */
};

/* True if the stretch is still the first slices from span.first to `end`, and none of them has changed since. */
bool window_holds(const struct window *window, const struct stretch *stretch, size_t end);

/* The digests that make up the range, valid until the next update; NULL: there is no more. */
struct digest *window_digest(const struct window *window, size_t index);

#endif
