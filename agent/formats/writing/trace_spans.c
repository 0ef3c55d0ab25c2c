/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "trace_spans.h"

enum {
	NESTED = 16,			/* interrupts within each other */
	HELD = 1 << 16,			/* calls in order of time: as far as events of one CPU come before another's */
};

struct loss {				/* events of a CPU are missing between these times */
	uint64_t since, until;
};

struct cpu {
	bool runs;			/* a thread is known to run: `thread` */
	struct trace_span thread;
	struct trace_span interrupts[NESTED];	/* the open ones, the innermost last */
	uint32_t depth;
	uint64_t last;			/* time of its last event */
	struct loss *losses;		/* in order of time */
	uint32_t loss_count, loss_room;
};

struct call {				/* the beginning of a system call, or its end */
	uint64_t thread, number, time, result;
	uint32_t cpu;
	bool ends;
};

struct caller {
	uint64_t thread;
	bool calls, told;		/* it is in the call `begun`; a call of it was given to the sink */
	struct call begun;
};

struct spans {
	const struct sample_set *set;
	const struct trace_spans_sink *sink;
	struct cpu *cpus;		/* TRACE_SPANS_CPUS of them */
	struct caller *callers;
	uint32_t caller_count, caller_room;
	struct hash by_thread;		/* of `callers` */
	bool full;			/* there was no memory for all callers, or losses */
	struct call *held;		/* HELD of them at most, that are still to be put in order */
	uint32_t held_count;
};

static void end_span(struct spans *spans, struct trace_span *span, uint64_t time, bool lost)
{
	span->end = time;
	span->lost = lost;
	spans->sink->end(spans->sink->context, span);
}

/* ---- threads ---- */

static void end_thread(struct spans *spans, struct cpu *cpu, uint64_t time, bool lost)
{
	if (cpu->runs)
		end_span(spans, &cpu->thread, time, lost);
	cpu->runs = false;
}

static void add_switch(struct spans *spans, const struct set_event *event)
{
	struct cpu *cpu = &spans->cpus[event->cpu];
	bool follows = cpu->thread.thread == event->values[0];

	end_thread(spans, cpu, follows ? event->time : cpu->last, !follows);
	cpu->thread = (struct trace_span) {
		.kind = SPAN_THREAD, .cpu = event->cpu, .thread = event->values[1], .begin = event->time,
	};
	cpu->runs = true;
	spans->sink->begin(spans->sink->context, &cpu->thread);
}

/* ---- interrupts ---- */

static void end_interrupts(struct spans *spans, struct cpu *cpu, uint32_t left, uint64_t time, bool lost)
{
	while (cpu->depth > left)
		end_span(spans, &cpu->interrupts[--cpu->depth], time, lost);
}

static void enter_interrupt(struct spans *spans, const struct set_event *event)
{
	struct cpu *cpu = &spans->cpus[event->cpu];

	if (cpu->depth == NESTED)
		end_interrupts(spans, cpu, 0, cpu->last, true);
	cpu->interrupts[cpu->depth] = (struct trace_span) {
		.kind = SPAN_INTERRUPT, .cpu = event->cpu, .number = event->values[0], .begin = event->time,
	};
	spans->sink->begin(spans->sink->context, &cpu->interrupts[cpu->depth++]);
}

/* The ends of those that are inside of it were lost; or its own beginning was. */
static void leave_interrupt(struct spans *spans, const struct set_event *event)
{
	struct cpu *cpu = &spans->cpus[event->cpu];
	uint32_t depth = cpu->depth;

	while (depth && cpu->interrupts[depth - 1].number != event->values[0])
		depth--;
	if (depth == 0)
		return;
	end_interrupts(spans, cpu, depth, cpu->last, true);
	end_interrupts(spans, cpu, depth - 1, event->time, false);
}

/* ---- losses ---- */

static void add_loss(struct spans *spans, const struct set_event *event)
{
	struct cpu *cpu = &spans->cpus[event->cpu];
	struct loss *losses = budget_array(spans->set->budget, cpu->losses, cpu->loss_count, &cpu->loss_room,
		sizeof(*losses));

	end_thread(spans, cpu, cpu->last, true);
	end_interrupts(spans, cpu, 0, cpu->last, true);
	spans->full = spans->full || !losses;
	if (!losses)
		return;
	cpu->losses = losses;
	losses[cpu->loss_count++] = (struct loss) { .since = cpu->last, .until = event->time };
}

/* The first loss of a CPU that is over behind `from`, and has begun before `to`. NULL: there is none. */
static const struct loss *loss_between(const struct cpu *cpu, uint64_t from, uint64_t to)
{
	uint32_t low = 0, high = cpu->loss_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cpu->losses[middle].until <= from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < cpu->loss_count && cpu->losses[low].since < to ? &cpu->losses[low] : NULL;
}

/* ---- system calls ---- */

static void put_call(struct spans *spans, struct caller *caller, uint64_t end, uint64_t result, bool lost)
{
	const struct call *begun = &caller->begun;
	struct trace_span span = {
		.kind = SPAN_CALL, .cpu = begun->cpu, .thread = begun->thread, .number = begun->number,
		.begin = begun->time, .result = result, .first = !caller->told,
	};

	end_span(spans, &span, end > begun->time ? end : begun->time, lost);
	caller->told = true;
}

/* NULL: no memory. */
static struct caller *caller_of(struct spans *spans, uint64_t thread)
{
	uint64_t hash = hash_pair(&spans->by_thread, thread, 0);
	uint32_t at = 0, position;
	struct caller *list;

	while ((position = hash_next(&spans->by_thread, hash, &at)) != HASH_NONE)
		if (spans->callers[position].thread == thread)
			return &spans->callers[position];
	list = budget_array(spans->set->budget, spans->callers, spans->caller_count, &spans->caller_room,
		sizeof(*list));
	spans->callers = list ? list : spans->callers;
	spans->full = spans->full || !list || !hash_add(&spans->by_thread, hash, spans->caller_count);
	if (spans->full)
		return NULL;
	spans->callers[spans->caller_count] = (struct caller) { .thread = thread };
	return &spans->callers[spans->caller_count++];
}

/* Ends a thread's call at the first loss on the two CPUs where its end may have been. False: there is none. */
static bool end_at_loss(struct spans *spans, struct caller *caller, uint32_t cpu, uint64_t time)
{
	const struct call *begun = &caller->begun;
	const struct loss *own = loss_between(&spans->cpus[begun->cpu], begun->time, time);
	const struct loss *other = loss_between(&spans->cpus[cpu], begun->time, time);

	if (!own || (other && other->since < own->since))
		own = other;
	if (own)
		put_call(spans, caller, own->since, 0, true);
	caller->calls = caller->calls && !own;
	return own;
}

static void take_call(struct spans *spans, const struct call *call)
{
	struct caller *caller = caller_of(spans, call->thread);

	if (!caller)
		return;
	if (caller->calls && !end_at_loss(spans, caller, call->cpu, call->time) && call->ends &&
			caller->begun.number == call->number)
		put_call(spans, caller, call->time, call->result, false);
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
static void take_calls(struct spans *spans, uint32_t left)
{
	uint32_t count = spans->held_count - left;

	if (spans->held_count)
		qsort(spans->held, spans->held_count, sizeof(*spans->held), compare_calls);
	for (uint32_t i = 0; i < count; i++)
		take_call(spans, &spans->held[i]);
	if (left)
		memmove(spans->held, spans->held + count, left * sizeof(*spans->held));
	spans->held_count = left;
}

/* A call may begin on one CPU and end on another, whose events come first. */
static void add_call(struct spans *spans, struct call call)
{
	if (!spans->held)
		spans->held = util_grow(NULL, HELD, sizeof(*spans->held));
	if (spans->held_count == HELD)
		take_calls(spans, HELD / 2);
	spans->held[spans->held_count++] = call;
}

/* ---- all events ---- */

static bool is(const struct set_event *event, const char *name, uint32_t values)
{
	return event->kind->count >= values && strcmp(event->kind->name, name) == 0;
}

static void add_event(struct spans *spans, struct set_event *event)
{
	struct cpu *cpu = &spans->cpus[event->cpu];
	const uint64_t *values = event->values;

	if (event->time < cpu->last)
		event->time = cpu->last;
	if (event->kind->lost)
		add_loss(spans, event);
	if (event->kind->lost)
		spans->sink->event(spans->sink->context, event);
	else if (is(event, "sched_switch", 2))
		add_switch(spans, event);
	else if (is(event, "irq_enter", 1))
		enter_interrupt(spans, event);
	else if (is(event, "irq_exit", 1))
		leave_interrupt(spans, event);
	else if (is(event, "syscall_enter", 2))
		add_call(spans, (struct call) { values[0], values[1], event->time, 0, event->cpu, false });
	else if (is(event, "syscall_exit", 3))
		add_call(spans, (struct call) { values[0], values[1], event->time, values[2], event->cpu, true });
	else
		spans->sink->event(spans->sink->context, event);
	cpu->last = event->time;
}

static void end_all(struct spans *spans)
{
	for (uint32_t i = 0; i < TRACE_SPANS_CPUS; i++) {
		end_thread(spans, &spans->cpus[i], spans->cpus[i].last, false);
		end_interrupts(spans, &spans->cpus[i], 0, spans->cpus[i].last, false);
	}
	take_calls(spans, 0);
	for (uint32_t i = 0; i < spans->caller_count; i++)
		if (spans->callers[i].calls)
			end_at_loss(spans, &spans->callers[i], spans->callers[i].begun.cpu, UINT64_MAX);
}

static void spans_clear(struct spans *spans)
{
	struct budget *budget = spans->set->budget;

	for (uint32_t i = 0; i < TRACE_SPANS_CPUS; i++)
		budget_free(budget, spans->cpus[i].losses, spans->cpus[i].loss_room * sizeof(struct loss));
	hash_clear(&spans->by_thread);
	budget_free(budget, spans->callers, spans->caller_room * sizeof(*spans->callers));
	free(spans->held);
	free(spans->cpus);
}

bool trace_spans_read(const struct sample_set *set, const struct trace_spans_sink *sink, char **error)
{
	struct spans spans = { .set = set, .sink = sink };
	struct set_events *reader;
	struct set_event event;
	bool failed;

	if (!set->events)
		return true;
	spans.cpus = util_alloc(TRACE_SPANS_CPUS * sizeof(*spans.cpus));
	hash_init(&spans.by_thread, set->budget);
	reader = set->events->open(set->events_context);
	while (!sink->stop(sink->context) && set->events->next(reader, &event))
		if (event.cpu < TRACE_SPANS_CPUS)
			add_event(&spans, &event);
	end_all(&spans);
	failed = set->events->failed(reader);
	set->events->close(reader);
	spans_clear(&spans);
	if (spans.full)
		return util_fail(error, "%s", sample_set_no_memory);
	return !failed || util_fail(error, "the temporary file with the trace events cannot be read; export again");
}
