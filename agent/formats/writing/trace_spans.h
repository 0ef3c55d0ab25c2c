/* SPDX-License-Identifier: MIT */
/* What took time, out of a set's trace events (agent/trace/pairs.h), and all other events. */
#ifndef TRACE_SPANS_H
#define TRACE_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/trace/span.h"

struct sample_set;
struct set_event;

enum { TRACE_SPANS_CPUS = 4096 };	/* as the decoder gives them at most */

struct trace_spans_sink {
	void *context;
	/* As in pairs.h, but no SPAN_SINGLE: these are events. Stacks are the set's, as in struct set_event. */
	void (*begin)(void *context, const struct trace_span *span);
	void (*end)(void *context, const struct trace_span *span);
	void (*open)(void *context, const struct trace_span *span);	/* has not ended when the events are over */
	void (*event)(void *context, const struct set_event *event);	/* any other */
	/* An end without its beginning. Bit i of `untold`: its value i is not known here. */
	void (*alone)(void *context, const struct set_event *event, uint32_t untold);
	/* So many of the CPU as the value says are missing somewhere between `since` and its time. */
	void (*lost)(void *context, const struct set_event *event, uint64_t since);
	bool (*stop)(void *context);	/* before each event; true: no more of them are read */
};

/* "syscall read", "lock inode", "irq 4": by its name, or its number where it has none. Returns `text`. */
enum { TRACE_SPAN_NAME = 96 };
const char *trace_span_name(const struct sample_set *set, enum span_kind kind, uint64_t number,
	char text[TRACE_SPAN_NAME]);

/* All but losses comes in the order in which it ends. False with `error` set: events are missing. */
bool trace_spans_read(const struct sample_set *set, const struct trace_spans_sink *sink, char **error);

#endif
