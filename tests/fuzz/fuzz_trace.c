/* SPDX-License-Identifier: MIT */
/*
 * Any events of any CPUs, in packets that lie as they like, through order and pairs. What comes out is in order, and
 * none is lost or made up; spans of one CPU, lock or pair do not overlap, nor do the states of a thread, and each
 * single event has one. While nothing is missing, calls are those of a simple model: an end belongs to the beginning
 * that is the last event of its thread and has the same number; all else has no partner.
 */
#include <string.h>

#include "agent/base/budget.h"
#include "agent/trace/pairs.h"
#include "agent/trace/trace_order.h"
#include "agent/wire/event.h"
#include "fuzz.h"

enum { CPUS = 4, THREADS = 8, LOCKS = 4, PAIRS = 4, HELD = 64 };

struct seen {				/* one that has spans, which do not overlap */
	uint64_t until;
};

struct call {
	bool known, begun;
	uint64_t number;
};

struct world {
	struct pairs *pairs;
	uint64_t in, out, last;		/* events; the time of the last one that came out */
	bool only_calls;		/* there was nothing else, and nothing was missing */
	struct call calls[THREADS];
	uint64_t whole, beginnings, ends;	/* by the model */
	uint64_t paired, singles, pair_ends, alone;	/* single events, ends of pairs; those that came out alone */
	struct seen cpus[CPUS], states[THREADS], waits[THREADS][LOCKS], holds[LOCKS], pairs_of[PAIRS];
};

static void check_apart(struct seen *seen, const struct trace_span *span)
{
	require(span->begin >= seen->until && span->end >= span->begin);
	seen->until = span->end;
}

static void begin(void *context, const struct trace_span *span)
{
	(void)context;
	require(span->kind == SPAN_THREAD || span_is_handler(span->kind));
}

static void end(void *context, const struct trace_span *span)
{
	struct world *world = context;
	uint64_t thread = span->thread % THREADS;

	require(span->end >= span->begin);
	world->paired += span->kind == SPAN_CALL && !span->lost;
	if (span->kind == SPAN_THREAD)
		check_apart(&world->cpus[span->cpu], span);
	else if (span->kind == SPAN_SLEEP || span->kind == SPAN_READY)
		check_apart(&world->states[thread], span);
	else if (span->kind == SPAN_LOCK)
		check_apart(&world->waits[thread][span->number % LOCKS], span);
	else if (span->kind == SPAN_HOLD)
		check_apart(&world->holds[span->number % LOCKS], span);
	else if (span->kind == SPAN_PAIR)
		check_apart(&world->pairs_of[SPAN_EVENT(span->number) % PAIRS], span);
	world->alone += span->kind == SPAN_SINGLE;
}

static void model(struct world *world, const struct trace_event *event)
{
	struct call *call = &world->calls[event->values[0] % THREADS];
	bool ends = event->role == ROLE_CALL_END, pair = call->begun && ends && call->number == event->values[1];

	if (event->role != ROLE_CALL_BEGIN && !ends)
		return;
	world->whole += pair;
	world->beginnings += call->begun && !pair;
	world->ends += ends && call->known && !pair;
	*call = (struct call) { true, !ends, event->values[1] };
}

static void take(void *context, const struct trace_event *event)
{
	struct world *world = context;

	require(event->time >= world->last);
	world->last = event->time;
	world->out++;
	model(world, event);
	world->singles += event->role == ROLE_SINGLE && !event->lost && !event->doubt;
	world->pair_ends += event->role == ROLE_PAIR_END && !event->lost && !event->doubt;
	pairs_add(world->pairs, event);
}

static struct trace_event make(struct world *world, struct fuzz_input *input, uint32_t cpu, uint64_t time)
{
	struct trace_event event = { .time = time, .cpu = cpu, .role = input_byte(input) % ROLES };
	uint8_t who = input_byte(input), what = input_byte(input);

	for (int i = 0; i < 3; i++)
		event.values[i] = (i == 1 ? what : who) % 4 == 3 && !world->only_calls ? EVENT_NONE :
			(uint32_t)(who >> i) % THREADS;
	if (event.role == ROLE_CALL_BEGIN || event.role == ROLE_CALL_END)
		event.values[1] = what % 3;
	else if (event.role >= ROLE_PAIR_BEGIN)
		event.values[PAIR_KEY] = event.pair = what % PAIRS + 1;
	else if (event.role >= ROLE_LOCK_WAIT)
		event.values[0] = what % LOCKS;
	if (world->only_calls)
		event.role = event.role % 2 ? ROLE_CALL_BEGIN : ROLE_CALL_END;
	else if (what >= 253)
		event.lost = what - 253;
	event.doubt = !world->only_calls && what >= 253 && (what == 253 || who % 2);
	return event;
}

static void play(struct world *world, struct trace_order *order, struct fuzz_input *input)
{
	uint64_t times[CPUS] = { 1, 1, 1, 1 };

	while (input->left) {
		uint8_t step = input_byte(input);
		uint32_t cpu = step % CPUS;
		const struct trace_event event = make(world, input, cpu, times[cpu] += step / CPUS);

		if (step == 251 && !world->only_calls)
			pairs_changed(world->pairs, times[cpu]);
		if (step % 8 == 7)
			trace_order_complete(order, cpu, times[cpu]);
		trace_order_add(order, &event);
		world->in++;
	}
	trace_order_end(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	struct world world = { .only_calls = input_byte(&input) % 2 };
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);
	struct trace_order *order = trace_order_new(budget, HELD, take, &world);
	struct pairs_counts counts;

	world.pairs = pairs_new(budget, &(struct pairs_sink) { .context = &world, .begin = begin, .end = end });
	play(&world, order, &input);
	pairs_end(world.pairs);
	counts = pairs_counts(world.pairs);
	require_memory(counts.refused == 0);
	require(world.in == world.out);
	require(world.alone >= world.singles && world.alone <= world.singles + world.pair_ends);
	if (world.only_calls)
		require(world.paired == world.whole && counts.beginnings == world.beginnings &&
			counts.ends == world.ends);
	trace_order_free(order);
	pairs_free(world.pairs);
	require(budget_left(budget) == left);
	budget_release(budget);
	return 0;
}
