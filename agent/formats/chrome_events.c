/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/formats/writing/json_text.h"
#include "agent/samples/sample_set.h"
#include "chrome_events.h"
#include "set_writing.h"

/* Each is a process of the trace; that of the samples is 1. */
enum group { RUNNING = 2, INTERRUPTS, CALLS, OTHERS, GROUPS };

static const char *const group_names[GROUPS] = {
	[RUNNING] = "running threads", [INTERRUPTS] = "interrupts", [CALLS] = "system calls", [OTHERS] = "events",
};

enum {
	CPUS = 4096,			/* as the decoder gives them at most */
	NESTED = 16,			/* interrupts within each other */
	HELD = 1 << 16,			/* calls in order of time: as far as events of one CPU come before another's */
};

struct cpu {
	bool told[GROUPS];		/* this track has its name */
	bool runs;			/* a thread's event is open: that of `thread` */
	uint64_t thread;
	uint64_t interrupts[NESTED];	/* the open ones, the innermost last */
	uint32_t depth;
	uint64_t last;			/* time of its last event */
};

struct call {				/* the beginning of a system call, or its end */
	uint64_t thread, number, time, result;
	bool ends;
};

struct caller {
	uint64_t thread;
	bool calls;			/* it is in the call `begun` */
	struct call begun;
};

struct chrome_events {
	const struct sample_set *set;
	FILE *to;
	bool groups[GROUPS];		/* this group has its name */
	struct cpu *cpus;		/* CPUS of them */
	struct caller *callers;
	uint32_t caller_count, caller_room;
	bool full;			/* there was no memory for all callers */
	struct call *held;		/* HELD of them at most, that are still to be put in order */
	uint32_t held_count;
	struct hash by_caller, by_thread;	/* of `callers`; of the set's threads, by their number */
};

/* ---- names ---- */

static const char *name_of_thread(const struct chrome_events *events, uint64_t number, char text[32])
{
	uint64_t hash = hash_pair(&events->by_thread, number, 0);
	uint32_t at = 0, position;

	while ((position = hash_next(&events->by_thread, hash, &at)) != HASH_NONE)
		if (events->set->threads[position].id == number && *events->set->threads[position].name)
			return events->set->threads[position].name;
	util_print(text, 32, "thread %" PRIu64, number);
	return text;
}

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
	if (!events->cpus[cpu].told[group])
		put_name(events, group, cpu + 1, "thread_name", name);
	events->cpus[cpu].told[group] = true;
}

static void put_head(const struct chrome_events *events, enum group group, uint64_t track, const char *phase,
	uint64_t time)
{
	fprintf(events->to, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%" PRIu64, phase, group, track);
	fprintf(events->to, ",\"ts\":%" PRIu64 ".%03" PRIu64, time / 1000, time % 1000);
}

/* ---- threads ---- */

static void end_thread(struct chrome_events *events, uint32_t index, uint64_t time)
{
	struct cpu *cpu = &events->cpus[index];

	if (!cpu->runs)
		return;
	put_head(events, RUNNING, index + 1, "E", time);
	putc('}', events->to);
	cpu->runs = false;
}

static void add_switch(struct chrome_events *events, uint32_t index, uint64_t from, uint64_t to, uint64_t time)
{
	struct cpu *cpu = &events->cpus[index];
	char text[32];

	tell_cpu(events, RUNNING, index);
	end_thread(events, index, cpu->thread == from ? time : cpu->last);
	put_head(events, RUNNING, index + 1, "B", time);
	fputs(",\"cat\":\"sched\",\"name\":", events->to);
	json_text_put(events->to, name_of_thread(events, to, text));
	fprintf(events->to, ",\"args\":{\"thread\":%" PRIu64 "}}", to);
	cpu->runs = true;
	cpu->thread = to;
}

/* ---- interrupts ---- */

static void end_interrupts(struct chrome_events *events, uint32_t index, uint32_t left, uint64_t time)
{
	struct cpu *cpu = &events->cpus[index];

	while (cpu->depth > left) {
		put_head(events, INTERRUPTS, index + 1, "E", time);
		putc('}', events->to);
		cpu->depth--;
	}
}

static void enter_interrupt(struct chrome_events *events, uint32_t index, uint64_t number, uint64_t time)
{
	struct cpu *cpu = &events->cpus[index];

	tell_cpu(events, INTERRUPTS, index);
	if (cpu->depth == NESTED)
		end_interrupts(events, index, 0, cpu->last);
	put_head(events, INTERRUPTS, index + 1, "B", time);
	fprintf(events->to, ",\"cat\":\"irq\",\"name\":\"irq %" PRIu64 "\"}", number);
	cpu->interrupts[cpu->depth++] = number;
}

/* The ends of those that are inside of it were lost; or its own beginning was. */
static void leave_interrupt(struct chrome_events *events, uint32_t index, uint64_t number, uint64_t time)
{
	struct cpu *cpu = &events->cpus[index];
	uint32_t depth = cpu->depth;

	while (depth && cpu->interrupts[depth - 1] != number)
		depth--;
	if (depth == 0)
		return;
	end_interrupts(events, index, depth, cpu->last);
	end_interrupts(events, index, depth - 1, time);
}

/* ---- system calls ---- */

static void put_call(const struct chrome_events *events, const struct call *begun, const struct call *ended)
{
	uint64_t time = ended->time - begun->time;

	put_head(events, CALLS, begun->thread, "X", begun->time);
	fprintf(events->to, ",\"dur\":%" PRIu64 ".%03" PRIu64 ",\"cat\":\"syscall\",\"name\":\"syscall %" PRIu64 "\"",
		time / 1000, time % 1000, begun->number);
	fprintf(events->to, ",\"args\":{\"result\":%" PRId64 "}}", (int64_t)ended->result);
}

/* NULL: no memory. */
static struct caller *caller_of(struct chrome_events *events, uint64_t thread)
{
	uint64_t hash = hash_pair(&events->by_caller, thread, 0);
	uint32_t at = 0, position;
	struct caller *list;
	char text[32];

	while ((position = hash_next(&events->by_caller, hash, &at)) != HASH_NONE)
		if (events->callers[position].thread == thread)
			return &events->callers[position];
	list = budget_array(events->set->budget, events->callers, events->caller_count, &events->caller_room,
		sizeof(*list));
	events->callers = list ? list : events->callers;
	events->full = events->full || !list || !hash_add(&events->by_caller, hash, events->caller_count);
	if (events->full)
		return NULL;
	tell_group(events, CALLS);
	put_name(events, CALLS, thread, "thread_name", name_of_thread(events, thread, text));
	events->callers[events->caller_count] = (struct caller) { .thread = thread };
	return &events->callers[events->caller_count++];
}

static void take_call(struct chrome_events *events, const struct call *call)
{
	struct caller *caller = caller_of(events, call->thread);

	if (!caller)
		return;
	if (call->ends && caller->calls && caller->begun.number == call->number)
		put_call(events, &caller->begun, call);
	caller->calls = !call->ends;
	caller->begun = *call;
}

static int compare_calls(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return b->ends - a->ends;
}

/* Takes the earliest ones, so that `left` are left. */
static void take_calls(struct chrome_events *events, uint32_t left)
{
	uint32_t count = events->held_count - left;

	if (events->held_count)
		qsort(events->held, events->held_count, sizeof(*events->held), compare_calls);
	for (uint32_t i = 0; i < count; i++)
		take_call(events, &events->held[i]);
	memmove(events->held, events->held + count, left * sizeof(*events->held));
	events->held_count = left;
}

/* A call may begin on one CPU and end on another, whose events come first. */
static void add_call(struct chrome_events *events, struct call call)
{
	if (!events->held)
		events->held = util_grow(NULL, HELD, sizeof(*events->held));
	if (events->held_count == HELD)
		take_calls(events, HELD / 2);
	events->held[events->held_count++] = call;
}

/* ---- all events ---- */

static void put_other(struct chrome_events *events, const struct set_event *event)
{
	tell_cpu(events, OTHERS, event->cpu);
	put_head(events, OTHERS, event->cpu + 1, "i", event->time);
	fputs(",\"s\":\"t\",\"cat\":\"event\",\"name\":", events->to);
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

static bool is(const struct set_event *event, const char *name, uint32_t values)
{
	return event->kind->count >= values && strcmp(event->kind->name, name) == 0;
}

static void add_event(struct chrome_events *events, const struct set_event *event)
{
	struct cpu *cpu = &events->cpus[event->cpu];
	uint64_t time = event->time > cpu->last ? event->time : cpu->last;
	const uint64_t *values = event->values;

	if (is(event, "sched_switch", 2))
		add_switch(events, event->cpu, values[0], values[1], time);
	else if (is(event, "irq_enter", 1))
		enter_interrupt(events, event->cpu, values[0], time);
	else if (is(event, "irq_exit", 1))
		leave_interrupt(events, event->cpu, values[0], time);
	else if (is(event, "syscall_enter", 2))
		add_call(events, (struct call) { .thread = values[0], .number = values[1], .time = time });
	else if (is(event, "syscall_exit", 3))
		add_call(events, (struct call) { values[0], values[1], time, values[2], true });
	else
		put_other(events, event);
	cpu->last = time;
}

static void know_threads(struct chrome_events *events)
{
	const struct sample_set *set = events->set;
	bool good = true;

	for (uint32_t i = 0; i < set->thread_count && good; i++)
		if (set->threads[i].id != SET_NONE)
			good = hash_add(&events->by_thread, hash_pair(&events->by_thread, set->threads[i].id, 0), i);
}

bool chrome_events_put(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct chrome_events events = { .set = set, .to = writing->to };
	struct set_events *reader;
	struct set_event event;
	uint64_t count = 0;
	bool failed;

	if (!set->events)
		return true;
	events.cpus = util_alloc(CPUS * sizeof(*events.cpus));
	hash_init(&events.by_caller, set->budget);
	hash_init(&events.by_thread, set->budget);
	know_threads(&events);
	reader = set->events->open(set->events_context);
	for (; set->events->next(reader, &event) && !set_writing_step(writing, count, count + 1); count++)
		if (event.cpu < CPUS)
			add_event(&events, &event);
	for (uint32_t i = 0; i < CPUS; i++) {
		end_thread(&events, i, events.cpus[i].last);
		end_interrupts(&events, i, 0, events.cpus[i].last);
	}
	if (events.held_count)
		take_calls(&events, 0);
	failed = set->events->failed(reader);
	set->events->close(reader);
	hash_clear(&events.by_caller);
	hash_clear(&events.by_thread);
	budget_free(set->budget, events.callers, events.caller_room * sizeof(*events.callers));
	free(events.held);
	free(events.cpus);
	if (events.full)
		return util_fail(error, "%s", sample_set_no_memory);
	return !failed || util_fail(error, "the temporary file with the trace events cannot be read; export again");
}
