/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "kernel-hook/wire.h"
#include "trace.h"

/* Events that wait to be put in order: a quarter of a second of a million, or what a 32nd of the budget pays for. */
enum { HELD = 1 << 18, BUDGET_PART = 32 };

static uint32_t held_most(const struct budget *budget)
{
	size_t most = budget_share(budget, BUDGET_PART) / sizeof(struct trace_event);

	return most < HELD ? (uint32_t)most : HELD;
}

struct trace {
	struct trace_order *order;
	struct pairs *pairs;
	struct span_rows *rows;
	struct slowest *slowest;
	struct allocations *allocations;
	const struct trace_watcher *watcher;	/* NULL: nobody watches */
	uint64_t events, lost;
	bool over;			/* trace_end was called, and nothing has come since */
	struct trace_packet packet;	/* that is under way, */
	bool has_packet;		/* if one is */
	struct carried {		/* of each CPU, the stack whose event comes next, perhaps in another packet */
		uint64_t time;
		uint32_t stack;
		uint16_t id;
	} carried[EVENT_CPUS];
	void (*wait)(void *context, const struct trace_span *span);
	void (*sure)(void *context, uint64_t time, uint32_t cpu);
	void *context;			/* of `wait` and `sure` */
	uint64_t held[EVENT_CPUS];	/* bytes of a ring, behind which nothing is missing; 0: nothing is in doubt */
};

static void take(void *context, const struct trace_event *event)
{
	struct trace *trace = context;

	pairs_add(trace->pairs, event);
	if (event->lost || event->doubt)
		allocations_gap(trace->allocations, event->time);
	else if (event->id == KTOP_EVENT_memory_alloc || event->id == KTOP_EVENT_memory_free)
		allocations_add(trace->allocations, event);
	if (!trace->watcher)
		return;
	if (event->lost)
		trace->watcher->lost(trace->watcher->context, event->time, event->cpu, event->lost);
	else if (!event->doubt && event->role == ROLE_CALL_BEGIN)
		trace->watcher->begun(trace->watcher->context, &(struct trace_span) {
			.kind = SPAN_CALL, .cpu = event->cpu, .thread = event->values[0], .number = event->values[1],
			.begin = event->time - event->before,
			.arguments = event->arguments ? event->values + ROLE_VALUES - CALL_ARGUMENTS : NULL });
}

static void begin(void *context, const struct trace_span *span)
{
	(void)context;
	(void)span;
}

static void end(void *context, const struct trace_span *span)
{
	struct trace *trace = context;
	uint32_t name = span_rows_add(trace->rows, span);

	if (span->kind != SPAN_THREAD && span->kind != SPAN_SINGLE && name < SPAN_NAMES)
		slowest_add(trace->slowest, span, name);
	if (span->kind == SPAN_SLEEP)
		trace->wait(trace->context, span);
	if (span->kind == SPAN_CALL && trace->watcher)
		trace->watcher->call(trace->watcher->context, span);
}

struct trace *trace_new(struct budget *budget, void (*wait)(void *context, const struct trace_span *span),
	void (*sure)(void *context, uint64_t time, uint32_t cpu), void *context)
{
	struct trace *trace = util_alloc(sizeof(*trace));

	trace->wait = wait;
	trace->sure = sure;
	trace->context = context;
	trace->order = trace_order_new(budget, held_most(budget), take, trace);
	trace->pairs = pairs_new(budget, &(struct pairs_sink) { .context = trace, .begin = begin, .end = end });
	trace->rows = span_rows_new(budget);
	trace->slowest = slowest_new(budget);
	trace->allocations = allocations_new(budget);
	return trace;
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	trace_order_free(trace->order);
	pairs_free(trace->pairs);
	span_rows_free(trace->rows);
	slowest_free(trace->slowest);
	allocations_free(trace->allocations);
	free(trace);
}

void trace_watch(struct trace *trace, const struct trace_watcher *watcher)
{
	trace->watcher = watcher;
}

void trace_stack(struct trace *trace, uint64_t time, uint32_t cpu, uint16_t id, uint32_t node)
{
	if (cpu < EVENT_CPUS)
		trace->carried[cpu] = (struct carried) { .time = time, .id = id, .stack = node + 1 };	/* NONE: 0 */
}

uint32_t trace_add(struct trace *trace, uint64_t time, const struct event *event)
{
	const struct trace_kind *kind = event->trace.kind;
	struct trace_event own = { .time = time, .held = event->trace.held, .cpu = event->cpu, .role = kind->role,
		.id = kind->id, .pair = kind->pair };
	uint64_t values[TRACE_VALUES];
	bool other = kind->role >= ROLE_PAIR_BEGIN;
	struct carried *carried;

	trace->events++;
	trace->over = false;
	if (event->cpu >= EVENT_CPUS)
		return 0;
	carried = &trace->carried[event->cpu];
	if (carried->time == time && carried->id == event->id)
		own.stack = carried->stack;
	carried->stack = 0;
	trace_kind_values(kind, event->trace.fields, other ? own.values : values);
	if (other)
		memcpy(own.role_values, kind->role_values, sizeof(own.role_values));
	else
		trace_kind_role_values(kind->role_values, values, own.values);
	own.arguments = kind->role == ROLE_CALL_BEGIN &&
		kind->role_values[ROLE_VALUES - CALL_ARGUMENTS] < TRACE_VALUES;
	trace_order_add(trace->order, &own);
	return own.stack;
}

static void end_packet(struct trace *trace)
{
	const struct trace_packet *packet = &trace->packet;
	uint64_t *held = &trace->held[packet->cpu];

	if (!trace->has_packet)
		return;
	trace->has_packet = false;
	if (*held) {
		if (!packet->bytes)
			*held = 0;
		else if (!packet->lost)			/* else, the ring held that when these were in the packet */
			*held -= packet->bytes < *held ? packet->bytes : *held;
		if (!*held) {
			trace_order_add(trace->order, &(struct trace_event) {
				.time = packet->end, .cpu = packet->cpu, .doubt = true });
			trace->sure(trace->context, packet->end, packet->cpu);
		}
	}
	trace_order_complete(trace->order, packet->cpu, packet->end);
}

void trace_packet(struct trace *trace, const struct trace_packet *packet)
{
	if (packet->cpu >= EVENT_CPUS)
		return;
	end_packet(trace);
	trace->packet = *packet;
	trace->has_packet = true;
	trace->over = false;
	trace->lost += packet->lost;
	if (!packet->lost)
		return;
	trace->held[packet->cpu] = packet->ring ? packet->ring : UINT64_MAX;
	trace_order_add(trace->order, &(struct trace_event) {
		.time = packet->begin, .cpu = packet->cpu, .lost = packet->lost, .doubt = true });
}

void trace_changed(struct trace *trace, uint64_t time, bool memory)
{
	pairs_changed(trace->pairs, time);
	if (memory)
		allocations_gap(trace->allocations, time);
}

void trace_end(struct trace *trace)
{
	end_packet(trace);
	trace_order_end(trace->order);
	trace->over = true;
}

bool trace_is_whole(const struct trace *trace, uint64_t to)
{
	return trace->over || trace_order_until(trace->order) >= to;
}

uint64_t trace_until(const struct trace *trace)
{
	return trace_order_until(trace->order);
}

const struct span_rows *trace_rows(const struct trace *trace)
{
	return trace->rows;
}

const struct pairs *trace_pairs(const struct trace *trace)
{
	return trace->pairs;
}

const struct allocations *trace_allocations(const struct trace *trace)
{
	return trace->allocations;
}

const struct slowest *trace_slowest(const struct trace *trace)
{
	return trace->slowest;
}

struct trace_counts trace_counts(const struct trace *trace)
{
	return (struct trace_counts) {
		.events = trace->events, .lost = trace->lost, .late = trace_order_late(trace->order),
		.pairs = pairs_counts(trace->pairs),
	};
}
