/* SPDX-License-Identifier: MIT */
/*
 * What a guest's trace events say took time, live: events as they come, put in order, paired, and kept as rows. Used by
 * one thread.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "allocations.h"
#include "pairs.h"
#include "slowest.h"
#include "span_rows.h"

struct budget;
struct event;
struct trace;

struct trace_counts {
	uint64_t events;		/* that came */
	uint64_t lost;			/* that did not come, though they were written */
	uint64_t late;			/* trace_order_late */
	struct pairs_counts pairs;
};

/* Who is told of calls as they begin and as they end, and of losses, in order of time. */
struct trace_watcher {
	void *context;
	void (*begun)(void *context, const struct trace_span *call);	/* it has no end */
	void (*call)(void *context, const struct trace_span *call);
	void (*lost)(void *context, uint64_t time, uint32_t cpu, uint64_t count);	/* so many events of this CPU */
};

/*
 * `wait` gets each sleep that has ended; `sure` is told where nothing is missing any more of a CPU of which events were
 * lost, before its next packet; `context` is theirs.
 */
struct trace *trace_new(struct budget *budget, void (*wait)(void *context, const struct trace_span *span),
	void (*sure)(void *context, uint64_t time, uint32_t cpu), void *context);
void trace_free(struct trace *trace);	/* NULL is allowed */

void trace_watch(struct trace *trace, const struct trace_watcher *watcher);	/* borrowed; NULL: nobody is told */

/* An EVENT_TRACE. `time`: guest ns, as all times here. Returns its stack, as in struct trace_span. */
uint32_t trace_add(struct trace *trace, uint64_t time, const struct event *event);

/* The event of this id, CPU and time, which comes next, carries this stack: a node of stacks.h, or STACKS_NONE. */
void trace_stack(struct trace *trace, uint64_t time, uint32_t cpu, uint16_t id, uint32_t node);

/*
 * A packet begins, whose events come next: those of all packets before it have come. A full ring drops the newest
 * event, and tells so with the oldest: events are missing somewhere from here on, until all has come that the ring may
 * have held then, or an empty packet has.
 */
struct trace_packet {
	uint32_t cpu;
	uint32_t bytes;			/* of its events on the wire; an event takes more of a ring */
	uint32_t ring;			/* the size of the CPU's ring in bytes; 0: not known */
	uint64_t begin, end;
	uint64_t lost;			/* so many events of this CPU are missing */
};
void trace_packet(struct trace *trace, const struct trace_packet *packet);

/*
 * From this time on, other events are traced (pairs_changed). `memory`: or again those of the allocators, which may
 * have been missing before.
 */
void trace_changed(struct trace *trace, uint64_t time, bool memory);

void trace_end(struct trace *trace);	/* nothing is under way: all events that have come are in the rows */
bool trace_is_whole(const struct trace *trace, uint64_t to);	/* all events before this time are in the rows */

uint64_t trace_until(const struct trace *trace);	/* trace_order_until */
const struct pairs *trace_pairs(const struct trace *trace);	/* what is under way */
const struct span_rows *trace_rows(const struct trace *trace);
const struct allocations *trace_allocations(const struct trace *trace);
const struct slowest *trace_slowest(const struct trace *trace);	/* of all but threads on CPUs and single events */
struct trace_counts trace_counts(const struct trace *trace);

#endif
