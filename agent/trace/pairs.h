/* SPDX-License-Identifier: MIT */
/*
 * Pairs the beginnings and ends that a guest's trace events tell of: which thread a CPU ran, its interrupts and
 * softirqs, the system calls of each thread, its waits: for something, and then for a CPU; locks: who waits for one,
 * and who holds it; and pairs of other events. Events may be missing, repeated or lie: what contradicts is ended and
 * counted, and nothing else suffers.
 *
 * Where events of a CPU were lost, or where other events are traced from then on, what was under way ends with the last
 * event known before, and is marked: its own end may be among those that are missing. So does what begins before its
 * predecessor has ended. A thread or interrupt that has not ended when the events are over ends with the last one
 * of its CPU; all else that has not is under way, or, where events are missing since it began, marked. A call without
 * its beginning is left out. A wait, or the hold of a lock, is left out unless its beginning and
 * end are known, and nothing is missing on any CPU in between: its thread may have run meanwhile. A pair of other
 * events is marked then; where it begins anew without an end, that is its end; an end without a beginning is single.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "span.h"
#include "trace_order.h"

struct budget;
struct pairs;

struct pairs_sink {
	void *context;
	/* Of threads and interrupts; its end is not known yet. */
	void (*begin)(void *context, const struct trace_span *span);
	void (*end)(void *context, const struct trace_span *span);	/* those within it have ended */
	void (*alone)(void *context);	/* what is being added is an end without its beginning; NULL: who cares */
};

struct pairs_counts {
	uint64_t beginnings, ends;	/* without the other, for no known loss */
	uint64_t refused;		/* events for which there was no memory */
};

struct pairs *pairs_new(struct budget *budget, const struct pairs_sink *sink);
void pairs_free(struct pairs *pairs);	/* NULL is allowed */

/* Takes an event, or a loss. They come in order of time (trace_order.h). */
void pairs_add(struct pairs *pairs, const struct trace_event *event);

/* From this time on, other events are traced. May come before events of that time, and earlier ones. */
void pairs_changed(struct pairs *pairs, uint64_t time);

/* What a thread does at `now`, by the events that have come. */
struct pairs_thread {
	struct trace_span now;		/* it runs, sleeps or is ready; without an end; `begin` 0: not known */
	struct trace_span call;		/* likewise, the call that it is in; `begin` 0: none, or not known */
	struct trace_span pair;		/* likewise, of pairs of other events, the last one that it began */
	struct trace_span wait;		/* likewise, its wait for a lock, with who holds that now; */
	bool held_last;			/* or with who held it last meanwhile, which may have been later */
	uint64_t woken, waker;		/* when it was woken last, 0: not known; by whom, EVENT_NONE: an interrupt */
	struct span_name woken_in;	/* the interrupt or softirq; SPAN_THREAD: none, or not known */
	uint32_t woken_at;		/* where: as the stack of a span */
	bool lost;			/* it is not known what it does, but it was, before events were lost; */
	bool other_lost;		/* likewise, who woke it, or holds the lock */
};
struct pairs_thread pairs_thread(const struct pairs *pairs, uint64_t thread, uint64_t now);

/* Events of a CPU were lost between these times, as far as the newest losses tell. */
bool pairs_lost(const struct pairs *pairs, uint64_t from, uint64_t to);

/* Who holds this lock at `now`, without an end; `begin` 0: nobody, or it is not known. */
struct trace_span pairs_hold(const struct pairs *pairs, uint64_t lock, uint64_t now);

/* Gives each thread of which it is known what it does at `now`. */
void pairs_threads(const struct pairs *pairs, uint64_t now, void (*each)(void *context, uint64_t thread),
	void *context);

/* Gives each call whose end has not come. `lost`: it may be missing. */
void pairs_calls(const struct pairs *pairs, void (*each)(void *context, const struct trace_span *call), void *context);

/* Gives each span that has begun and not ended, as far as that is known; its `end` says nothing. */
void pairs_under_way(const struct pairs *pairs, void (*each)(void *context, const struct trace_span *span),
	void *context);

/*
 * Gives each span that has begun, and of which it is not known whether it still goes on; of threads and handlers, none.
 * Its `end` is how far that was known. `lost`: something was told since.
 */
void pairs_unknown(const struct pairs *pairs, void (*each)(void *context, const struct trace_span *span),
	void *context);

void pairs_end(struct pairs *pairs);	/* no more events come */
struct pairs_counts pairs_counts(const struct pairs *pairs);

#endif
