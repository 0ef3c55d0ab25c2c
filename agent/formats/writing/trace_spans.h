/* SPDX-License-Identifier: MIT */
/*
 * What took time, out of a set's trace events: which thread a CPU ran, its interrupts, and the system calls of each
 * thread. Where events of a CPU were lost, what was under way there ends with the last event known before, and is
 * marked: its own end may be among those that were lost. So does what begins before its predecessor has ended. What has
 * not ended when the events are over ends with the last one of its CPU; such a call is left out, and so is a call
 * without its beginning.
 */
#ifndef TRACE_SPANS_H
#define TRACE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

struct sample_set;
struct set_event;

enum span_kind { SPAN_THREAD, SPAN_INTERRUPT, SPAN_CALL };

struct trace_span {
	enum span_kind kind;
	uint32_t cpu;			/* where it began; below TRACE_SPANS_CPUS */
	uint64_t thread;		/* that runs, or calls */
	uint64_t number;		/* of the interrupt, or of the system call */
	uint64_t begin, end;		/* guest ns */
	uint64_t result;		/* of a call */
	bool first;			/* of a call: its thread had none before */
	bool lost;			/* events are missing: it ends here for this reason alone */
};

enum { TRACE_SPANS_CPUS = 4096 };	/* as the decoder gives them at most */

struct trace_spans_sink {
	void *context;
	void (*begin)(void *context, const struct trace_span *span);	/* of all but calls; its end is not known yet */
	void (*end)(void *context, const struct trace_span *span);	/* those within it have ended */
	void (*event)(void *context, const struct set_event *event);	/* any other event; or that events were lost */
	bool (*stop)(void *context);	/* before each event; true: no more of them are read */
};

/* Times of a CPU never go back. False with `error` set: events are missing. */
bool trace_spans_read(const struct sample_set *set, const struct trace_spans_sink *sink, char **error);

#endif
