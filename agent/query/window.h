/* SPDX-License-Identifier: MIT */
/*
 * What makes the next, similar question cheap: a digest of each of the newest slices of a range,
 * made anew only when the slice has changed; and one digest of all before them, to which slices
 * are only ever added. Samples are thus walked when they come and not when they are looked at.
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

enum { WINDOW_SECONDS = 61 };		/* the whole seconds of a trend lie in them */

struct window {
	struct query_inputs inputs;
	struct naming *naming;		/* of all readers */
	uint32_t reader;		/* which of them this is */
	const atomic_bool *stop;	/* as query_heed has it */
	uint32_t idle, unknown;

	struct question question;	/* the last one, and what the rest was made from */
	uint64_t store_version, threads_generation;
	struct span span;		/* its slices */
	uint64_t to;			/* its end: never beyond now */
	uint64_t given_up;		/* of the store, when `past` was begun */

	uint64_t serial;		/* of the digest that was changed last */
	struct digest **recent;	/* one slice each, up to span.end */
	size_t recent_count;
	struct digest *past;		/* span.first up to `recent`; or NULL */
	bool digested;			/* both are of this question */
};

void window_init(struct window *window, const struct query_inputs *inputs, struct naming *naming, uint32_t reader);
void window_clear(struct window *window);

/*
 * Either is to be called first for each question, and is at once ready when nothing has changed: who walks the
 * slices himself takes a look; the other makes the digests as well.
 */
void window_look(struct window *window, const struct question *question);
void window_update(struct window *window, const struct question *question);

/* The digests that the range consists of, until the next update; NULL behind the last. */
const struct digest *window_digest(const struct window *window, size_t index);

#endif
