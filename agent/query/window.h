/* SPDX-License-Identifier: MIT */
/*
 * What makes a reader's next, similar question cheap. Each of the newest slices has a digest, which is made
 * anew only when the slice has changed. One more digest holds all slices before them, and slices are only
 * added to it. So samples are walked when they come, not each time that they are looked at.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/store/span.h"
#include "naming.h"
#include "digest.h"
#include "question.h"
#include "stack_filter.h"

enum { WINDOW_SECONDS = 61 };		/* enough for all the whole seconds of a trend */

struct window {
	struct query_inputs inputs;
	struct naming *naming;		/* shared by all readers */
	uint32_t reader;		/* the number of this one */
	const atomic_bool *stop;	/* see query_heed */
	/* The functions for idle time, and for samples without a stack. */
	uint32_t idle, unknown;

	struct question question;	/* the last one; all below is made from it */
	struct stack_filter stack_filter;
	uint64_t store_version, threads_generation;
	struct span span;		/* the slices of its range */
	uint64_t to;			/* the end of its range: never after now */
	uint64_t given_up;		/* store_given_up() when `past` was begun: if it grows, a slice may have gone */

	uint64_t serial;		/* of the digest that has changed last */
	struct digest **recent;		/* of one slice each, the last of them before span.end */
	size_t recent_count;
	struct digest *past;		/* slices from span.first to the first recent one; NULL: none */
	bool digested;			/* `recent` and `past` are of this question */
};

/* `naming` is borrowed, as are the inputs. window_clear frees the digests. */
void window_init(struct window *window, const struct query_inputs *inputs, struct naming *naming, uint32_t reader);
void window_clear(struct window *window);

/*
 * One of the two must be called first for each question. Both return at once if nothing has changed.
 * window_look is enough for a caller that walks the slices; window_update makes the digests, too.
 */
void window_look(struct window *window, const struct question *question);
void window_update(struct window *window, const struct question *question);

/* The digests that make up the range, valid until the next update; NULL: there is no more. */
const struct digest *window_digest(const struct window *window, size_t index);

#endif
