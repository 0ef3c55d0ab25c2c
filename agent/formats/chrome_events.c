/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/thread_names.h"
#include "agent/formats/writing/trace_spans.h"
#include "agent/samples/sample_set.h"
#include "chrome_events.h"
#include "agent/formats/writing/set_writing.h"

/* Each is a process of the trace; that of the samples is 1. */
enum group { RUNNING = 2, INTERRUPTS, CALLS, OTHERS, GROUPS };

static const char *const group_names[GROUPS] = {
	[RUNNING] = "running threads", [INTERRUPTS] = "interrupts", [CALLS] = "system calls", [OTHERS] = "events",
};

static const enum group group_of[] = {
	[SPAN_THREAD] = RUNNING, [SPAN_INTERRUPT] = INTERRUPTS, [SPAN_CALL] = CALLS,
};

struct chrome_events {
	const struct set_writing *writing;
	FILE *to;
	uint64_t count;			/* of events that were read */
	bool groups[GROUPS];		/* this group has its name */
	bool (*cpus)[GROUPS];		/* so has this CPU's track in it: TRACE_SPANS_CPUS of them */
	struct thread_names threads;
};

/* ---- names ---- */

static void put_name(const struct chrome_events *events, enum group group, uint64_t track, const char *kind,
	const char *name)
{
	fprintf(events->to, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu64, group, track);
	fprintf(events->to, ",\"name\":\"%s\",\"args\":{\"name\":", kind);
	json_text_put(events->to, name);
	fputs("}}", events->to);
}

static void tell_group(struct chrome_events *events, enum group group)
{
	if (!events->groups[group])
		put_name(events, group, 0, "process_name", group_names[group]);
	events->groups[group] = true;
}

static void tell_cpu(struct chrome_events *events, enum group group, uint32_t cpu)
{
	char name[32];

	tell_group(events, group);
	util_print(name, sizeof(name), "CPU %" PRIu32, cpu);
	if (!events->cpus[cpu][group])
		put_name(events, group, cpu + 1, "thread_name", name);
	events->cpus[cpu][group] = true;
}

static void put_head(const struct chrome_events *events, enum group group, uint64_t track, const char *phase,
	uint64_t time)
{
	fprintf(events->to, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRIu64, phase, group, track);
	fprintf(events->to, ",\"ts\":%" PRIu64 ".%03" PRIu64, time / 1000, time % 1000);
}

/* ---- spans ---- */

static void begin(void *context, const struct trace_span *span)
{
	struct chrome_events *events = context;
	char text[THREAD_NAME];

	tell_cpu(events, group_of[span->kind], span->cpu);
	put_head(events, group_of[span->kind], span->cpu + 1, "B", span->begin);
	if (span->kind == SPAN_INTERRUPT) {
		fprintf(events->to, ",\"cat\":\"irq\",\"name\":\"irq %" PRIu64 "\"}", span->number);
		return;
	}
	fputs(",\"cat\":\"sched\",\"name\":", events->to);
	json_text_put(events->to, thread_names_get(&events->threads, span->thread, text));
	fprintf(events->to, ",\"args\":{\"thread\":%" PRIu64 "}}", span->thread);
}

static void put_call(struct chrome_events *events, const struct trace_span *span)
{
	uint64_t time = span->end - span->begin;
	char text[THREAD_NAME];

	tell_group(events, CALLS);
	if (span->first)
		put_name(events, CALLS, span->thread, "thread_name",
			thread_names_get(&events->threads, span->thread, text));
	put_head(events, CALLS, span->thread, "X", span->begin);
	fprintf(events->to, ",\"dur\":%" PRIu64 ".%03" PRIu64 ",\"cat\":\"syscall\",\"name\":\"syscall %" PRIu64 "\"",
		time / 1000, time % 1000, span->number);
	if (span->lost)
		fputs(",\"args\":{\"lost\":true}}", events->to);
	else
		fprintf(events->to, ",\"args\":{\"result\":%" PRId64 "}}", (int64_t)span->result);
}

static void end(void *context, const struct trace_span *span)
{
	struct chrome_events *events = context;

	if (span->kind == SPAN_CALL) {
		put_call(events, span);
		return;
	}
	put_head(events, group_of[span->kind], span->cpu + 1, "E", span->end);
	fputs(span->lost ? ",\"args\":{\"lost\":true}}" : "}", events->to);
}

/* ---- all other events ---- */

static void put_other(void *context, const struct set_event *event)
{
	struct chrome_events *events = context;

	tell_cpu(events, OTHERS, event->cpu);
	put_head(events, OTHERS, event->cpu + 1, "i", event->time);
	fprintf(events->to, ",\"s\":\"t\",\"cat\":\"%s\",\"name\":", event->kind->lost ? "lost" : "event");
	json_text_put(events->to, event->kind->name);
	fputs(",\"args\":{", events->to);
	for (uint32_t i = 0; i < event->kind->count; i++) {
		const struct set_event_value *value = &event->kind->values[i];

		if (i)
			putc(',', events->to);
		json_text_put(events->to, value->name);
		if (value->is_signed)
			fprintf(events->to, ":%" PRId64, (int64_t)event->values[i]);
		else
			fprintf(events->to, ":%" PRIu64, event->values[i]);
	}
	fputs("}}", events->to);
}

static bool stop(void *context)
{
	struct chrome_events *events = context;
	uint64_t count = events->count++;

	return set_writing_step(events->writing, count, count + 1);
}

bool chrome_events_put(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct chrome_events events = { .writing = writing, .to = writing->to };
	const struct trace_spans_sink sink = { &events, begin, end, put_other, stop };
	bool whole;

	if (!set->events)
		return true;
	events.cpus = util_alloc(TRACE_SPANS_CPUS * sizeof(*events.cpus));
	thread_names_init(&events.threads, set);
	whole = trace_spans_read(set, &sink, error);
	thread_names_clear(&events.threads);
	free(events.cpus);
	return whole;
}
