/* SPDX-License-Identifier: MIT */
/*
 * The JSON of Chrome's traces, for Perfetto and chrome://tracing. Both show complete events (ph X), while Perfetto
 * leaves out the format's own lists of samples; so what samples have in common becomes an event. Each CPU is a track.
 * The lowest event on it is the thread, those above are functions, from the first sample that has them to the last. An
 * event tells the samples in it, so the sums of a track are those of its lowest events.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/name_text.h"
#include "agent/formats/writing/row_reader.h"
#include "agent/formats/writing/set_writing.h"
#include "agent/formats/writing/text_list.h"
#include "agent/formats/writing/trace_spans.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"

/* An event that is not over. Of the thread's, `function` is an index of threads. */
struct open_event {
	uint32_t function;
	uint64_t samples, ns;
};

struct track {
	struct open_event *events;	/* the thread's, then those of functions, the root first */
	uint32_t count, room;
	uint64_t end;			/* of its last sample */
};

/* Each is a process of the trace; that of the samples is 1. */
enum group { RUNNING = 2, INTERRUPTS, CALLS, OTHERS, LOCKS, HOLDS, SPANS, WAITS, GROUPS };

static const char *const group_names[GROUPS] = {
	[RUNNING] = "running threads", [INTERRUPTS] = "interrupts", [CALLS] = "system calls", [OTHERS] = "events",
	[LOCKS] = "lock waits", [HOLDS] = "held locks", [SPANS] = "spans", [WAITS] = "waiting threads",
};

static const enum group group_of[] = {
	[SPAN_THREAD] = RUNNING, [SPAN_INTERRUPT] = INTERRUPTS, [SPAN_SOFTIRQ] = INTERRUPTS, [SPAN_CALL] = CALLS,
	[SPAN_LOCK] = LOCKS, [SPAN_HOLD] = HOLDS, [SPAN_PAIR] = SPANS,
	[SPAN_SLEEP] = WAITS, [SPAN_READY] = WAITS,
};

struct cpu_tracks {			/* of a CPU */
	bool told[GROUPS];		/* that in this group has its name */
	uint64_t since, until;		/* it is known all the time which thread ran; */
	bool runs;			/* until now, a slice of it is open */
	struct trace_span ready;	/* whose arrow leads to the thread that runs; `end` 0: none does */
};

struct chrome_events {
	const struct set_writing *writing;
	FILE *to;
	const struct sample_set *set;
	uint64_t count;			/* of events that were read */
	uint64_t pairs, arrows;		/* of those that were written */
	bool open;			/* the span that is written has not ended */
	bool groups[GROUPS];		/* this group has its name */
	struct cpu_tracks *cpus;	/* TRACE_SPANS_CPUS of them */
	struct thread_names threads;
	uint16_t *named;		/* by thread of the set: a bit for each group in which its track has its name */
};

struct chrome {
	const struct sample_set *set;
	FILE *to;
	struct cpu_list cpus;
	struct track *tracks;		/* by index in `cpus` */
	struct frame_list frames;
	struct text_list functions;	/* names and kinds */
};

/* ---- samples ---- */

static void put_function(FILE *to, const void *context, uint32_t index)
{
	static const char *const kinds[SET_KINDS] = { "kernel", "module", "user", "idle", "unknown" };
	const struct sample_set *set = context;

	json_text_put(to, set->functions[index].name);
	fprintf(to, ",\"cat\":\"%s\"", kinds[set->functions[index].kind]);
}

static void put_thread(const struct chrome *chrome, uint32_t index)
{
	json_text_put(chrome->to, index == SET_NONE ? "[no thread]" : chrome->set->threads[index].name);
	fputs(",\"cat\":\"thread\"", chrome->to);
}

/*
 * Beginnings and ends are events of their own, in the order in which they lie inside of each other. An event with a
 * duration would be ambiguous: which of two that last equally long is inside of the other? And tools add times as
 * floating point numbers: an end may then come behind the next beginning. The end has the name, too: some tools
 * compare it.
 */
static void put_event(const struct chrome *chrome, uint32_t track, uint32_t depth, const char *phase, uint64_t time)
{
	const struct open_event *event = &chrome->tracks[track].events[depth];

	fprintf(chrome->to, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%" PRIu32, phase, track + 1);
	fprintf(chrome->to, ",\"ts\":%" PRIu64 ".%03" PRIu64 ",\"name\":", time / 1000, time % 1000);
	if (depth)
		text_list_put(&chrome->functions, event->function, chrome->to);
	else
		put_thread(chrome, event->function);
}

static void put_args(const struct chrome *chrome, const struct open_event *event, bool thread)
{
	fprintf(chrome->to, ",\"args\":{\"samples\":%" PRIu64 ",\"ns\":%" PRIu64, event->samples, event->ns);
	if (thread && event->function != SET_NONE && chrome->set->threads[event->function].id != SET_NONE)
		fprintf(chrome->to, ",\"thread\":%" PRIu32, chrome->set->threads[event->function].id);
	fputs("}}", chrome->to);
}

/* Ends events until so many are left, the innermost first. */
static void end_events(struct chrome *chrome, uint32_t index, uint32_t left)
{
	struct track *track = &chrome->tracks[index];

	while (track->count > left) {
		put_event(chrome, index, --track->count, "E", track->end);
		put_args(chrome, &track->events[track->count], track->count == 0);
	}
}

static void begin_event(struct chrome *chrome, uint32_t index, uint32_t function, uint64_t begin)
{
	struct track *track = &chrome->tracks[index];

	if (track->count == track->room) {
		track->room = 2 * track->room + 64;
		track->events = util_grow(track->events, track->room, sizeof(*track->events));
	}
	track->events[track->count] = (struct open_event) { .function = function };
	put_event(chrome, index, track->count++, "B", begin);
	putc('}', chrome->to);
}

/* How many of the open events the row is in, too: its thread and frames, from the root on. */
static uint32_t common_events(const struct chrome *chrome, const struct track *track, uint32_t thread)
{
	uint32_t same = 0;

	if (track->count == 0 || track->events[0].function != thread)
		return 0;
	while (same + 1 < track->count && same < chrome->frames.count &&
		track->events[same + 1].function == chrome->frames.frames[same].function)
		same++;
	return same + 1;
}

/*
 * When a row began that ends now. A sample stands for the time before it. Samples do not come at equal distances: less
 * than a period that nothing stands for is no gap. Rows of one time, where times are rounded, follow each other.
 */
static uint64_t begin_of(const struct set_facts *facts, const struct track *track, const struct set_row *row)
{
	uint64_t begin;

	if (facts->grain)
		return row->time > track->end ? row->time : track->end;
	begin = row->time > row->ns ? row->time - row->ns : 0;
	return begin <= track->end + facts->period ? track->end : begin;
}

static void add_row(struct chrome *chrome, const struct set_row *row)
{
	const struct set_facts *facts = &chrome->set->facts;
	const struct set_sum *sum = &chrome->set->sums[row->sum];
	uint32_t index = cpu_list_index(&chrome->cpus, sum->who.cpu), same;
	struct track *track = &chrome->tracks[index];
	uint64_t begin = begin_of(facts, track, row);

	frame_list_read(&chrome->frames, chrome->set, sum->stack);
	same = begin == track->end ? common_events(chrome, track, sum->who.thread) : 0;
	end_events(chrome, index, same);
	if (same == 0)
		begin_event(chrome, index, sum->who.thread, begin);
	for (uint32_t i = track->count - 1; i < chrome->frames.count; i++)
		begin_event(chrome, index, chrome->frames.frames[i].function, begin);
	track->end = facts->grain ? begin + row->ns : row->time > begin ? row->time : begin;
	for (uint32_t i = 0; i < track->count; i++) {
		track->events[i].samples += row->samples;
		track->events[i].ns += row->ns;
	}
}

static void put_text_fact(FILE *to, const char *before, const char *name, const char *text)
{
	fprintf(to, "%s\"%s\":", before, name);
	json_text_put(to, text);
}

static void put_place(FILE *to, int process)
{
	fprintf(to, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":0,\"name\":\"process_sort_index\"", process);
	fprintf(to, ",\"args\":{\"sort_index\":%d}}", process);
}

static void put_head(const struct chrome *chrome, const char *title)
{
	const struct set_facts *facts = &chrome->set->facts;
	FILE *to = chrome->to;

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{", to);
	put_text_fact(to, "", "title", title);
	put_text_fact(to, ",", "machine", facts->machine);
	put_text_fact(to, ",", "kernel", facts->kernel);
	put_text_fact(to, ",", "version", facts->version);
	put_text_fact(to, ",", "arch", facts->arch);
	fprintf(to, ",\"samples\":\"%" PRIu64 "\",\"lost\":\"%" PRIu64 "\"", chrome->set->samples, facts->lost);
	fprintf(to, ",\"events_lost\":\"%" PRIu64 "\"", facts->events_lost);
	fprintf(to, ",\"period_ns\":\"%" PRIu64 "\",\"grain_ns\":\"%" PRIu64 "\"},\n", facts->period, facts->grain);
	fputs("\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":", to);
	json_text_put(to, *facts->machine ? facts->machine : "guest");
	fputs("}}", to);
	put_place(to, 1);
	for (uint32_t i = 0; i < chrome->cpus.count; i++) {
		fprintf(to,
			",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32 ",\"name\":\"thread_name\",\"args\":{\"name\":",
			i + 1);
		if (chrome->cpus.cpus[i] == SET_NONE)
			fputs("\"no CPU\"}}", to);
		else
			fprintf(to, "\"CPU %" PRIu32 "\"}}", chrome->cpus.cpus[i]);
	}
}

/* ---- trace events, as tracks beside those of the samples ---- */

static void put_event_name(const struct chrome_events *events, enum group group, uint64_t track, const char *kind,
	const char *name)
{
	fprintf(events->to, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu64, group, track);
	fprintf(events->to, ",\"name\":\"%s\",\"args\":{\"name\":", kind);
	json_text_put(events->to, name);
	fputs("}}", events->to);
}

static void tell_group(struct chrome_events *events, enum group group)
{
	if (events->groups[group])
		return;
	put_event_name(events, group, 0, "process_name", group_names[group]);
	put_place(events->to, group);
	events->groups[group] = true;
}

static void tell_cpu(struct chrome_events *events, enum group group, uint32_t cpu)
{
	char name[32];

	tell_group(events, group);
	util_print(name, sizeof(name), "CPU %" PRIu32, cpu);
	if (!events->cpus[cpu].told[group])
		put_event_name(events, group, cpu + 1, "thread_name", name);
	events->cpus[cpu].told[group] = true;
}

/* Once: Perfetto takes a name for that of the newest track with this number, in whatever group. */
static void tell_thread(struct chrome_events *events, enum group group, const struct trace_span *span)
{
	uint32_t index = thread_names_find(&events->threads, span->thread);
	char text[THREAD_NAME];

	tell_group(events, group);
	if (index != SET_NONE ? events->named[index] & 1u << group : !span->first)
		return;
	put_event_name(events, group, span->thread, "thread_name",
		thread_names_get(&events->threads, span->thread, text));
	if (index != SET_NONE)
		events->named[index] |= (uint16_t)(1u << group);
}

static void put_event_head(const struct chrome_events *events, enum group group, uint64_t track, const char *phase,
	uint64_t time)
{
	fprintf(events->to, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRIu64, phase, group, track);
	fprintf(events->to, ",\"ts\":%" PRIu64 ".%03" PRIu64, time / 1000, time % 1000);
}

static void put_name(const struct chrome_events *events, const struct trace_span *span)
{
	bool runs = span->kind == SPAN_THREAD;
	char name[TRACE_SPAN_NAME], text[THREAD_NAME];

	fprintf(events->to, ",\"cat\":\"%s\",\"name\":", runs ? "sched" : span_words[span->kind]);
	json_text_put(events->to, !runs ? trace_span_name(events->set, span->kind, span->number, name) :
		span->thread >= SET_NONE ? "idle" : thread_names_get(&events->threads, span->thread, text));
}

/*
 * Behind `before`, "stack":"mutex_lock < log_add < ...", as screens write it: the dots are callers that are missing.
 * Perfetto does not read the stackFrames of the format, but both viewers show arguments.
 */
static void put_stack(const struct chrome_events *events, const char *before, const char *name, uint32_t stack)
{
	const struct sample_set *set = events->set;

	if (!stack)
		return;
	fprintf(events->to, "%s\"%s\":\"", before, name);
	for (uint32_t at = stack - 1, above; at != SET_NONE; at = above) {
		const struct set_location *location = &set->locations[set->stacks[at].location];
		const struct set_line *line = &set->lines[location->first + location->count - 1];

		above = set->stacks[at].parent;
		json_text_put_part(events->to, set->functions[line->function].name);
		json_text_put_part(events->to, above != SET_NONE ? " < " : set->stacks[at].cut ? " < ..." : "");
	}
	putc('"', events->to);
}

static void begin_span(void *context, const struct trace_span *span)
{
	struct chrome_events *events = context;
	struct cpu_tracks *cpu = &events->cpus[span->cpu];

	tell_cpu(events, group_of[span->kind], span->cpu);
	put_event_head(events, group_of[span->kind], span->cpu + 1, "B", span->begin);
	put_name(events, span);
	if (span_is_handler(span->kind)) {
		fprintf(events->to, ",\"args\":{\"number\":%" PRIu64, span->number);
		put_stack(events, ",", "stack", span->stack);
		fputs("}}", events->to);
		return;
	}
	cpu->since = span->begin == cpu->until ? cpu->since : span->begin;
	cpu->runs = true;
	fprintf(events->to, ",\"args\":{\"thread\":%" PRIu64 "}}", span->thread);
}

/* Behind `before`: who that is; "": no thread. */
static void put_who(struct chrome_events *events, const char *before, uint64_t thread)
{
	char text[THREAD_NAME];

	fputs(before, events->to);
	json_text_put(events->to, thread >= SET_NONE ? "" : thread_names_get(&events->threads, thread, text));
}

static void put_waker(struct chrome_events *events, const struct trace_span *ready)
{
	char name[TRACE_SPAN_NAME];

	if (ready->waker != SET_NONE) {
		put_who(events, ",\"waker\":", ready->waker);
		return;
	}
	fputs(",\"waker\":", events->to);
	json_text_put(events->to, ready->woken_in_kind == SPAN_THREAD ? "an interrupt" :
		trace_span_name(events->set, ready->woken_in_kind, ready->woken_in, name));
}

/*
 * A call, or a wait: a thread is in one at a time; but a wait for a lock may be within another one. A wait for a CPU
 * begins when a sleep ends: these are beginnings and ends as above, or Perfetto drops some that it takes to overlap.
 */
static void put_call(struct chrome_events *events, const struct trace_span *span)
{
	enum group group = group_of[span->kind];
	uint64_t time = span->end - span->begin;
	bool woken = span->kind == SPAN_READY && span->number == READY_WOKEN;

	tell_thread(events, group, span);
	put_event_head(events, group, span->thread, group == WAITS ? "B" : "X", span->begin);
	if (group != WAITS)
		fprintf(events->to, ",\"dur\":%" PRIu64 ".%03" PRIu64, time / 1000, time % 1000);
	put_name(events, span);
	if (span->kind == SPAN_CALL) {
		fprintf(events->to, ",\"args\":{\"number\":%" PRIu64, span->number);
		if (!events->open && !span->lost)
			fprintf(events->to, ",\"result\":%" PRId64, (int64_t)span->result);
	} else {
		put_who(events, ",\"args\":{\"thread\":", span->thread);
		if (span->kind == SPAN_LOCK)
			put_who(events, ",\"holder\":", span->holder);
		else if (woken)
			put_waker(events, span);
	}
	put_stack(events, ",", woken ? "waker_stack" : "stack", span->stack);
	fputs(events->open ? ",\"open\":true}}" : span->lost ? ",\"lost\":true}}" : "}}", events->to);
	if (group == WAITS) {
		put_event_head(events, group, span->thread, "E", span->end);
		put_name(events, span);
		putc('}', events->to);
	}
}

static bool woken_in_interrupt(const struct trace_span *ready)
{
	return ready->waker == SET_NONE && ready->woken_in_kind != SPAN_THREAD;
}

/*
 * Viewers look which slice is at the ends of an arrow, and leave out one that has none there: what ran before a CPU's
 * first switch, or behind a loss, has no slice.
 */
static void begin_arrow(struct chrome_events *events, const struct trace_span *ready)
{
	const struct cpu_tracks *cpu = &events->cpus[ready->woken_on];

	bool ran = cpu->told[RUNNING] && ready->begin >= cpu->since && (cpu->runs || ready->begin <= cpu->until);

	if (woken_in_interrupt(ready) || ran)
		events->cpus[ready->cpu].ready = *ready;
}

/*
 * From what ran on the CPU of the wake, a thread or an interrupt, to where the thread ran then: here its slice ends.
 * Where one slice ends and the next begins, chrome://tracing takes the first: so the arrow ends a nanosecond later.
 */
static void end_arrow(struct chrome_events *events, struct trace_span *ready, uint64_t end)
{
	enum group group = woken_in_interrupt(ready) ? INTERRUPTS : RUNNING;

	if (ready->end && end > ready->end) {
		put_event_head(events, group, ready->woken_on + 1, "s", ready->begin);
		fprintf(events->to, ",\"cat\":\"wake\",\"name\":\"wake\",\"id\":%" PRIu64 "}", ++events->arrows);
		put_event_head(events, RUNNING, ready->cpu + 1, "f", ready->end + 1);
		fprintf(events->to, ",\"bp\":\"e\",\"cat\":\"wake\",\"name\":\"wake\",\"id\":%" PRIu64 "}",
			events->arrows);
	}
	ready->end = 0;
}

/*
 * A thread may hold many locks, in any order, and have any other pairs under way: so these are asynchronous events,
 * each lock's in a track of its own.
 */
static void put_async(struct chrome_events *events, const struct trace_span *span)
{
	uint64_t id = span->kind == SPAN_HOLD ? span->number : ++events->pairs;
	uint64_t track = span->thread == SET_NONE ? span->cpu + 1 : span->thread;

	tell_group(events, group_of[span->kind]);
	for (int i = 0; i < 2; i++) {
		put_event_head(events, group_of[span->kind], track, i ? "e" : "b", i ? span->end : span->begin);
		fprintf(events->to, ",\"id\":\"0x%" PRIx64 "\"", id);
		put_name(events, span);
		put_who(events, ",\"args\":{\"thread\":", span->thread);
		put_stack(events, ",", "stack", i ? 0 : span->stack);
		fputs(events->open ? ",\"open\":true}}" : span->lost ? ",\"lost\":true}}" : "}}", events->to);
	}
}

static void end_span(void *context, const struct trace_span *span)
{
	struct chrome_events *events = context;

	if (span->kind == SPAN_HOLD || span->kind == SPAN_PAIR) {
		put_async(events, span);
		return;
	}
	if (span->kind == SPAN_READY && span->number == READY_WOKEN && !events->open && !span->lost)
		begin_arrow(events, span);
	if (span->kind == SPAN_CALL || span->kind == SPAN_LOCK || group_of[span->kind] == WAITS) {
		put_call(events, span);
		return;
	}
	if (span->kind == SPAN_THREAD) {
		events->cpus[span->cpu].until = span->end;
		events->cpus[span->cpu].runs = false;
		end_arrow(events, &events->cpus[span->cpu].ready, span->end);
	}
	put_event_head(events, group_of[span->kind], span->cpu + 1, "E", span->end);
	put_name(events, span);
	fputs(span->lost ? ",\"args\":{\"lost\":true}}" : "}", events->to);
}

static void open_span(void *context, const struct trace_span *span)
{
	struct chrome_events *events = context;

	events->open = true;
	end_span(context, span);
	events->open = false;
}

static void put_values(const struct chrome_events *events, const struct set_event *event,
	uint32_t untold)
{
	const char *before = "";

	fputs(",\"args\":{", events->to);
	for (uint32_t i = 0; i < event->kind->count; i++) {
		const struct set_event_value *value = &event->kind->values[i];

		if (untold & 1u << i)
			continue;
		fputs(before, events->to);
		json_text_put(events->to, value->name);
		if (value->is_signed)
			fprintf(events->to, ":%" PRId64, (int64_t)event->values[i]);
		else
			fprintf(events->to, ":%" PRIu64, event->values[i]);
		before = ",";
	}
	put_stack(events, before, "stack", event->stack);
	fputs("}}", events->to);
}

static void put_instant(struct chrome_events *events, const struct set_event *event, const char *category,
	uint32_t untold)
{
	tell_cpu(events, OTHERS, event->cpu);
	put_event_head(events, OTHERS, event->cpu + 1, "i", event->time);
	fprintf(events->to, ",\"s\":\"t\",\"cat\":\"%s\",\"name\":", category);
	json_text_put(events->to, event->kind->name);
	put_values(events, event, untold);
}

static void put_other(void *context, const struct set_event *event)
{
	put_instant(context, event, "event", 0);
}

static void put_alone(void *context, const struct set_event *event, uint32_t untold)
{
	put_instant(context, event, "alone", untold);
}

static void put_lost(void *context, const struct set_event *event, uint64_t since)
{
	struct chrome_events *events = context;
	uint64_t time = event->time - since;

	tell_cpu(events, OTHERS, event->cpu);
	put_event_head(events, OTHERS, event->cpu + 1, "X", since);
	fprintf(events->to, ",\"dur\":%" PRIu64 ".%03" PRIu64, time / 1000, time % 1000);
	fputs(",\"cat\":\"lost\",\"name\":", events->to);
	json_text_put(events->to, event->kind->name);
	put_values(events, event, 0);
}

static bool stop_events(void *context)
{
	struct chrome_events *events = context;
	uint64_t count = events->count++;

	return set_writing_step(events->writing, count, count + 1);
}

/*
 * Which thread a CPU ran, its interrupts, and all single events; and the system calls of each thread, its waits, the
 * locks that it held, and its pairs of other events; and an arrow from each wake to where the thread ran. What ended
 * since events were lost is marked (trace_spans.h). Each is written behind a comma. False with `error` set.
 */
static bool put_events(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct chrome_events events = { .writing = writing, .to = writing->to, .set = set };
	const struct trace_spans_sink sink = {
		&events, begin_span, end_span, open_span, put_other, put_alone, put_lost, stop_events,
	};
	bool whole;

	if (!set->events)
		return true;
	events.cpus = util_alloc(TRACE_SPANS_CPUS * sizeof(*events.cpus));
	events.named = util_alloc((set->thread_count + 1) * sizeof(*events.named));
	thread_names_init(&events.threads, set);
	whole = trace_spans_read(set, &sink, error);
	thread_names_clear(&events.threads);
	free(events.named);
	free(events.cpus);
	return whole;
}

/* ---- the file ---- */

static bool put_file(struct chrome *chrome, const struct set_writing *writing, char **error)
{
	struct row_reader reader = row_reader_open(chrome->set);
	struct set_row row;
	uint64_t count = 0;
	bool whole;

	put_head(chrome, writing->title);
	while (row_reader_next(&reader, &row) && !set_writing_step(writing, count++, chrome->set->samples))
		add_row(chrome, &row);
	for (uint32_t i = 0; i < chrome->cpus.count; i++)
		end_events(chrome, i, 0);
	whole = row_reader_close(&reader, error) && put_events(chrome->set, writing, error);
	fputs("\n]}\n", writing->to);
	return whole;
}

static bool write_chrome(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct chrome chrome = { .set = set, .to = writing->to };
	bool whole;

	cpu_list_init(&chrome.cpus, set);
	chrome.tracks = util_alloc((chrome.cpus.count + 1) * sizeof(*chrome.tracks));
	if (text_list_make(&chrome.functions, set->function_count, put_function, set))
		whole = put_file(&chrome, writing, error);
	else
		whole = util_fail(error, "%s", sample_set_no_memory);
	for (uint32_t i = 0; i < chrome.cpus.count; i++)
		free(chrome.tracks[i].events);
	free(chrome.tracks);
	cpu_list_clear(&chrome.cpus);
	frame_list_clear(&chrome.frames);
	text_list_clear(&chrome.functions);
	return whole;
}

const struct set_format format_chrome = {
	.name = "chrome",
	.ending = ".trace.json",
	.about = "trace for Perfetto and chrome://tracing, a track for each CPU",
	.rows = true,
	.events = true,
	.lines = true,
	.write = write_chrome,
};
