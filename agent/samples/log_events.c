/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/store/sample_log.h"
#include "agent/store/trace_log.h"
#include "log_events.h"

struct log_events {
	struct sample_log *log;
	struct filter filter;
	uint64_t from, to;
	struct set_event_kind *kinds;	/* as in the log */
};

struct set_events {			/* a reader */
	const struct log_events *events;
	struct trace_log_reader *reader;
};

static void free_events(void *context)
{
	struct log_events *events = context;

	sample_log_release(events->log);
	free(events->kinds);
	free(events);
}

static struct set_events *open_events(void *context)
{
	struct set_events *reader = util_alloc(sizeof(*reader));

	reader->events = context;
	reader->reader = trace_log_open(sample_log_traces(reader->events->log));
	return reader;
}

static bool next_event(struct set_events *reader, struct set_event *event)
{
	const struct log_events *events = reader->events;
	struct trace_log_row row;

	do {
		if (!trace_log_next(reader->reader, &row))
			return false;
	} while (row.time < events->from || row.time >= events->to || !filter_passes_cpu(&events->filter, row.cpu));
	*event = (struct set_event) { .time = row.time, .cpu = row.cpu, .kind = &events->kinds[row.kind] };
	for (uint32_t i = 0; i < event->kind->count; i++)
		event->values[i] = row.values[i];
	return true;
}

static bool failed(const struct set_events *reader)
{
	return trace_log_failed(reader->reader);
}

static void close_events(struct set_events *reader)
{
	trace_log_close(reader->reader);
	free(reader);
}

static struct set_event_kind kind_of(const struct trace_log_kind *kind)
{
	struct set_event_kind own = {
		.name = kind->name, .lost = kind->lost, .role = kind->role, .count = kind->count,
	};

	memcpy(own.role_values, kind->role_values, sizeof(own.role_values));
	for (uint32_t i = 0; i < own.count; i++)
		own.values[i] = (struct set_event_value) { kind->values[i].name, kind->values[i].is_signed };
	return own;
}

void log_events_give(struct sample_set *set, struct sample_log *log, const struct filter *filter, uint64_t from,
	uint64_t to)
{
	static const struct set_events_table table = {
		.open = open_events, .next = next_event, .failed = failed, .close = close_events, .free = free_events,
	};
	const struct trace_log *traces = sample_log_traces(log);
	uint32_t count = trace_log_kinds(traces);
	struct log_events *events;

	if (!count)
		return;
	events = util_alloc(sizeof(*events));
	*events = (struct log_events) {
		.log = sample_log_hold(log), .filter = *filter, .from = from, .to = to,
		.kinds = util_grow(NULL, count, sizeof(*events->kinds)),
	};
	for (uint32_t i = 0; i < count; i++)
		events->kinds[i] = kind_of(trace_log_kind(traces, i));
	sample_set_give_events(set, &table, events);
}
