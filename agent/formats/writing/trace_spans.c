/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "agent/trace/pairs.h"
#include "agent/trace/trace_order.h"
#include "trace_spans.h"

enum { HELD = 1 << 16 };		/* events: as far as those of one CPU come before another's */

struct spans {
	const struct trace_spans_sink *sink;
	struct pairs *pairs;
};

static void take(void *context, const struct trace_event *event)
{
	struct spans *spans = context;
	const struct set_event_kind *kind = event->of;
	struct set_event other = { .time = event->time, .cpu = event->cpu, .kind = kind };

	pairs_add(spans->pairs, event);
	if (event->role != ROLE_NONE)
		return;
	memcpy(other.values, event->values, sizeof(other.values));
	spans->sink->event(spans->sink->context, &other);
}

/* A viewer shows wakes as events: waits are what lies between the spans of a thread. */
static void add(struct trace_order *order, const struct set_event *event)
{
	const struct set_event_kind *kind = event->kind;
	bool plain = kind->role == ROLE_WAKE || kind->role == ROLE_SINGLE;
	struct trace_event own = {
		.time = event->time, .cpu = event->cpu, .of = kind, .id = kind->pair, .pair = kind->pair,
		.role = plain ? ROLE_NONE : kind->role,
		.lost = kind->lost ? event->values[0] : 0,
	};

	if (own.role == ROLE_NONE)
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

	if (span->kind < SPAN_SLEEP)
		sink->end(sink->context, span);
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
	spans.pairs = pairs_new(set->budget, &(struct pairs_sink) { .context = &spans, .begin = begin, .end = end });
	order = trace_order_new(set->budget, HELD, take, &spans);
	reader = set->events->open(set->events_context);
	while (!sink->stop(sink->context) && set->events->next(reader, &event))
		if (event.cpu < TRACE_SPANS_CPUS)
			add(order, &event);
	trace_order_end(order);
	pairs_end(spans.pairs);
	failed = set->events->failed(reader);
	full = pairs_counts(spans.pairs).refused;
	set->events->close(reader);
	trace_order_free(order);
	pairs_free(spans.pairs);
	if (full)
		return util_fail(error, "%s", sample_set_no_memory);
	return !failed || util_fail(error, "the temporary file with the trace events cannot be read; export again");
}
