/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "agent/trace/pairs.h"
#include "agent/trace/trace_order.h"
#include "trace_spans.h"

enum { HELD = 1 << 16 };		/* events: as far as those of one CPU come before another's */

struct gap {				/* events of a CPU are missing since its last one before */
	uint64_t last;			/* the time of its last event */
	bool open;
	uint64_t since;
	struct set_event lost;
};

struct spans {
	const struct trace_spans_sink *sink;
	struct pairs *pairs;
	struct gap *gaps;		/* by CPU */
	uint64_t newest;		/* the latest time of all */
	bool alone;			/* the event that is being added lacks its beginning */
};

/* Of all but pairs, only the values that their role needs are known. */
static void tell_alone(const struct spans *spans, const struct trace_event *event)
{
	const struct set_event_kind *kind = event->of;
	struct set_event own = { .time = event->time, .cpu = event->cpu, .kind = kind, .stack = event->stack };
	bool other = event->role >= ROLE_PAIR_BEGIN;
	uint32_t told = other ? UINT32_MAX : 0;

	if (other)
		memcpy(own.values, event->values, sizeof(own.values));
	for (uint32_t i = 0; i < ROLE_VALUES && !other; i++) {
		uint8_t value = kind->role_values[i];

		if (value >= kind->count)
			continue;
		own.values[value] = event->values[i];
		told |= 1u << value;
	}
	spans->sink->alone(spans->sink->context, &own, ~told);
}

static void end_gap(const struct spans *spans, struct gap *gap, uint64_t time)
{
	gap->lost.time = time > gap->since ? time : gap->since;
	if (gap->open)
		spans->sink->lost(spans->sink->context, &gap->lost, gap->since);
	gap->open = false;
}

/* Losses that follow each other, before it is sure that nothing is missing, are one. */
static void meet_mark(const struct spans *spans, struct gap *gap, const struct trace_event *event)
{
	const struct set_event_kind *kind = event->of;

	if (kind->mark == TRACE_SURE) {
		end_gap(spans, gap, event->time);
		return;
	}
	if (!gap->open) {
		gap->since = gap->last ? gap->last : event->time;
		gap->lost = (struct set_event) { .cpu = event->cpu, .kind = kind };
	}
	gap->open = true;
	gap->lost.values[0] += event->lost;
}

static void take(void *context, const struct trace_event *event)
{
	struct spans *spans = context;
	struct gap *gap = &spans->gaps[event->cpu];
	const struct set_event_kind *kind = event->of;
	struct set_event other = { .time = event->time, .cpu = event->cpu, .kind = kind, .stack = event->stack };
	struct trace_event own = *event;

	if (event->role == ROLE_WAKE)
		trace_kind_role_values(kind->role_values, event->values, own.values);
	spans->alone = false;
	pairs_add(spans->pairs, &own);
	if (kind->mark != TRACE_EVENT)
		meet_mark(spans, gap, event);
	gap->last = event->time;
	spans->newest = event->time > spans->newest ? event->time : spans->newest;
	if (spans->alone)
		tell_alone(spans, event);
	if (kind->mark != TRACE_EVENT || (event->role != ROLE_NONE && event->role != ROLE_WAKE))
		return;
	memcpy(other.values, event->values, sizeof(other.values));
	spans->sink->event(spans->sink->context, &other);
}

/* A wake is an event, too: its thread may not have slept. */
static void add(struct trace_order *order, const struct set_event *event)
{
	const struct set_event_kind *kind = event->kind;
	struct trace_event own = {
		.time = event->time, .cpu = event->cpu, .of = kind, .id = kind->pair, .pair = kind->pair,
		.stack = event->stack,
		.role = kind->role == ROLE_SINGLE ? ROLE_NONE : kind->role,
		.lost = kind->mark == TRACE_LOST ? event->values[0] : 0,
		.doubt = kind->mark == TRACE_LOST || kind->mark == TRACE_SURE,
	};

	memcpy(own.role_values, kind->role_values, sizeof(own.role_values));
	if (own.role == ROLE_NONE || own.role == ROLE_WAKE || own.role >= ROLE_PAIR_BEGIN)
		memcpy(own.values, event->values, sizeof(own.values));
	else
		trace_kind_role_values(kind->role_values, event->values, own.values);
	trace_order_add(order, &own);
}

static void begin(void *context, const struct trace_span *span)
{
	const struct trace_spans_sink *sink = ((struct spans *)context)->sink;

	sink->begin(sink->context, span);
}

static void end(void *context, const struct trace_span *span)
{
	const struct trace_spans_sink *sink = ((struct spans *)context)->sink;

	sink->end(sink->context, span);
}

static void meet_alone(void *context)
{
	((struct spans *)context)->alone = true;
}

/* Threads and interrupts have ended with the last event of their CPU. */
static void add_open(void *context, const struct trace_span *span)
{
	const struct spans *spans = context;
	struct trace_span open = *span;

	open.end = spans->newest > span->begin ? spans->newest : span->begin;
	spans->sink->open(spans->sink->context, &open);
}

const char *trace_span_name(const struct sample_set *set, enum span_kind kind, uint64_t number,
	char text[TRACE_SPAN_NAME])
{
	const char *called = sample_set_called(set, span_role(kind), number);
	const char *pair = kind == SPAN_PAIR ? sample_set_called(set, ROLE_PAIR_BEGIN, SPAN_EVENT(number)) : "";
	char plain[SPAN_TEXT];

	if (*pair && !*called && (uint32_t)number != UINT32_MAX)
		return util_print(text, TRACE_SPAN_NAME, "%s %" PRIu32, pair, (uint32_t)number);
	if (*pair)
		return util_print(text, TRACE_SPAN_NAME, "%s%s%s", pair, *called ? " " : "", called);
	if (*called)
		return util_print(text, TRACE_SPAN_NAME, "%s %s", span_words[kind], called);
	return util_print(text, TRACE_SPAN_NAME, "%s", span_text(kind, number, plain));
}

bool trace_spans_read(const struct sample_set *set, const struct trace_spans_sink *sink, char **error)
{
	struct spans spans = { .sink = sink };
	struct trace_order *order;
	struct set_events *reader;
	struct set_event event;
	bool failed, full;

	if (!set->events)
		return true;
	spans.pairs = pairs_new(set->budget, &(struct pairs_sink) {
		.context = &spans, .begin = begin, .end = end, .alone = meet_alone });
	spans.gaps = util_alloc(TRACE_SPANS_CPUS * sizeof(*spans.gaps));
	order = trace_order_new(set->budget, HELD, take, &spans);
	reader = set->events->open(set->events_context);
	while (!sink->stop(sink->context) && set->events->next(reader, &event))
		if (event.kind->mark == TRACE_CHANGED)
			pairs_changed(spans.pairs, event.time);
		else if (event.cpu < TRACE_SPANS_CPUS)
			add(order, &event);
	trace_order_end(order);
	pairs_end(spans.pairs);
	pairs_under_way(spans.pairs, add_open, &spans);
	for (uint32_t cpu = 0; cpu < TRACE_SPANS_CPUS; cpu++)
		end_gap(&spans, &spans.gaps[cpu], spans.newest);
	failed = set->events->failed(reader);
	full = pairs_counts(spans.pairs).refused;
	set->events->close(reader);
	trace_order_free(order);
	pairs_free(spans.pairs);
	free(spans.gaps);
	if (full)
		return util_fail(error, "%s", sample_set_no_memory);
	return !failed || util_fail(error, "the temporary file with the trace events cannot be read; export again");
}
