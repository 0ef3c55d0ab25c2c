/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "pairs.h"

enum {
	NESTED = 16,			/* interrupts within each other */
	LOSSES = 16,			/* of a CPU, the newest ones: calls are seldom longer */
	CALLERS = 1 << 16,		/* threads; when there are more, those that call nothing are forgotten */
};

struct loss {				/* events of a CPU are missing between these times */
	uint64_t since, until;
};

struct cpu {
	bool runs;			/* a thread is known to run: `thread` */
	struct trace_span thread;
	struct trace_span interrupts[NESTED];	/* the open ones, the innermost last */
	uint32_t depth;
	bool entered;			/* an interrupt has begun since its first event, or its last loss */
	uint64_t last;			/* time of its last event */
	struct loss losses[LOSSES];	/* number i is at i % LOSSES */
	uint64_t loss_count;
};

struct caller {
	uint64_t thread;
	bool calls, told;		/* it is in the call `begun`; a call of it was given to the sink */
	struct trace_span begun;		/* `begin`: the time of its last event; 0: none has come */
};

struct pairs {
	struct budget *budget;
	struct pairs_sink sink;
	struct cpu **cpus;		/* NULL: nothing has come from it */
	uint32_t cpu_count;
	struct caller *callers;
	uint32_t caller_count, caller_room;
	struct hash by_thread;		/* of `callers` */
	struct pairs_counts counts;
};

struct pairs *pairs_new(struct budget *budget, const struct pairs_sink *sink)
{
	struct pairs *pairs = util_alloc(sizeof(*pairs));

	pairs->budget = budget;
	pairs->sink = *sink;
	hash_init(&pairs->by_thread, budget);
	return pairs;
}

void pairs_free(struct pairs *pairs)
{
	if (!pairs)
		return;
	for (uint32_t i = 0; i < pairs->cpu_count; i++)
		budget_free(pairs->budget, pairs->cpus[i], pairs->cpus[i] ? sizeof(struct cpu) : 0);
	hash_clear(&pairs->by_thread);
	budget_free(pairs->budget, pairs->callers, pairs->caller_room * sizeof(*pairs->callers));
	free(pairs->cpus);
	free(pairs);
}

/* NULL: no memory. */
static struct cpu *cpu_of(struct pairs *pairs, uint32_t cpu)
{
	if (cpu >= pairs->cpu_count) {
		uint32_t count = 2 * cpu + 1;

		pairs->cpus = util_grow(pairs->cpus, count, sizeof(struct cpu *));
		memset(pairs->cpus + pairs->cpu_count, 0, (count - pairs->cpu_count) * sizeof(struct cpu *));
		pairs->cpu_count = count;
	}
	if (!pairs->cpus[cpu]) {
		pairs->cpus[cpu] = budget_resize(pairs->budget, NULL, 0, sizeof(struct cpu));
		if (pairs->cpus[cpu])
			memset(pairs->cpus[cpu], 0, sizeof(struct cpu));
	}
	return pairs->cpus[cpu];
}

static void end_span(struct pairs *pairs, struct trace_span *span, uint64_t time, bool lost)
{
	span->end = time;
	span->lost = lost;
	pairs->sink.end(pairs->sink.context, span);
}

/* ---- threads ---- */

static void end_thread(struct pairs *pairs, struct cpu *cpu, uint64_t time, bool lost)
{
	if (cpu->runs)
		end_span(pairs, &cpu->thread, time, lost);
	cpu->runs = false;
}

/* Values: from, to. */
static void add_switch(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event)
{
	bool follows = cpu->thread.thread == event->values[0];

	pairs->counts.beginnings += cpu->runs && !follows;
	end_thread(pairs, cpu, follows ? event->time : cpu->last, !follows);
	cpu->thread = (struct trace_span) {
		.kind = SPAN_THREAD, .cpu = event->cpu, .thread = event->values[1], .begin = event->time,
	};
	cpu->runs = true;
	pairs->sink.begin(pairs->sink.context, &cpu->thread);
}

/* ---- interrupts ---- */

static void end_interrupts(struct pairs *pairs, struct cpu *cpu, uint32_t left, uint64_t time, bool lost)
{
	while (cpu->depth > left)
		end_span(pairs, &cpu->interrupts[--cpu->depth], time, lost);
}

/* Value: the interrupt's number. */
static void begin_interrupt(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event)
{
	if (cpu->depth == NESTED) {
		pairs->counts.beginnings += NESTED;
		end_interrupts(pairs, cpu, 0, cpu->last, true);
	}
	cpu->interrupts[cpu->depth] = (struct trace_span) {
		.kind = SPAN_INTERRUPT, .cpu = event->cpu, .number = event->values[0], .begin = event->time,
	};
	cpu->entered = true;
	pairs->sink.begin(pairs->sink.context, &cpu->interrupts[cpu->depth++]);
}

/* The ends of those that are inside of it are missing; or its own beginning is. */
static void end_interrupt(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event)
{
	uint32_t depth = cpu->depth;

	while (depth && cpu->interrupts[depth - 1].number != event->values[0])
		depth--;
	if (depth == 0) {
		pairs->counts.ends += cpu->entered;
		return;
	}
	pairs->counts.beginnings += cpu->depth - depth;
	end_interrupts(pairs, cpu, depth, cpu->last, true);
	end_interrupts(pairs, cpu, depth - 1, event->time, false);
}

/* ---- losses ---- */

static void add_loss(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event)
{
	end_thread(pairs, cpu, cpu->last, true);
	end_interrupts(pairs, cpu, 0, cpu->last, true);
	cpu->entered = false;
	cpu->losses[cpu->loss_count++ % LOSSES] = (struct loss) { .since = cpu->last, .until = event->time };
}

/* The first loss of a CPU that is kept, is over behind `from`, and has begun before `to`. NULL: there is none. */
static const struct loss *loss_between(const struct pairs *pairs, uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct cpu *own = cpu < pairs->cpu_count ? pairs->cpus[cpu] : NULL;
	uint64_t count = own ? own->loss_count : 0;

	for (uint64_t i = count > LOSSES ? count - LOSSES : 0; i < count; i++) {
		const struct loss *loss = &own->losses[i % LOSSES];

		if (loss->until > from)
			return loss->since < to ? loss : NULL;
	}
	return NULL;
}

/* ---- system calls ---- */

static void end_call(struct pairs *pairs, struct caller *caller, uint64_t time, bool lost)
{
	caller->begun.first = !caller->told;
	end_span(pairs, &caller->begun, time > caller->begun.begin ? time : caller->begun.begin, lost);
	caller->told = true;
}

/* Ends a thread's call at the first loss on the two CPUs where its end may have been. False: there is none. */
static bool end_at_loss(struct pairs *pairs, struct caller *caller, uint32_t cpu, uint64_t time)
{
	const struct trace_span *begun = &caller->begun;
	const struct loss *own = loss_between(pairs, begun->cpu, begun->begin, time);
	const struct loss *other = loss_between(pairs, cpu, begun->begin, time);

	if (!own || (other && other->since < own->since))
		own = other;
	if (own)
		end_call(pairs, caller, own->since, true);
	caller->calls = caller->calls && !own;
	return own;
}

/* Forgets the threads that are in no call; if few are, all. */
static void forget_callers(struct pairs *pairs)
{
	uint32_t kept = 0;

	hash_clear(&pairs->by_thread);
	for (uint32_t i = 0; i < pairs->caller_count; i++)
		if (pairs->callers[i].calls)
			pairs->callers[kept++] = pairs->callers[i];
	if (kept > CALLERS / 2) {
		pairs->counts.beginnings += kept;
		kept = 0;
	}
	for (pairs->caller_count = 0; pairs->caller_count < kept; pairs->caller_count++) {
		uint64_t thread = pairs->callers[pairs->caller_count].thread;

		if (!hash_add(&pairs->by_thread, hash_pair(&pairs->by_thread, thread, 0), pairs->caller_count))
			break;
	}
	pairs->counts.beginnings += kept - pairs->caller_count;
}

/* NULL: no memory. */
static struct caller *caller_of(struct pairs *pairs, uint64_t thread)
{
	uint64_t hash = hash_pair(&pairs->by_thread, thread, 0);
	uint32_t at = 0, position;
	struct caller *list;

	while ((position = hash_next(&pairs->by_thread, hash, &at)) != HASH_NONE)
		if (pairs->callers[position].thread == thread)
			return &pairs->callers[position];
	if (pairs->caller_count == CALLERS)
		forget_callers(pairs);
	list = budget_array(pairs->budget, pairs->callers, pairs->caller_count, &pairs->caller_room, sizeof(*list));
	if (!list)
		return NULL;
	pairs->callers = list;
	if (!hash_add(&pairs->by_thread, hash, pairs->caller_count))
		return NULL;
	list[pairs->caller_count] = (struct caller) { .thread = thread };
	return &list[pairs->caller_count++];
}

/* It has begun before anything was traced, or where events were lost. */
static bool may_lack_beginning(const struct pairs *pairs, const struct caller *caller, const struct trace_event *event)
{
	uint64_t from = caller->begun.begin;

	return !from || loss_between(pairs, caller->begun.cpu, from, event->time) ||
		loss_between(pairs, event->cpu, from, event->time);
}

/* Values: thread, number, and the result of an end. */
static void add_call(struct pairs *pairs, const struct trace_event *event)
{
	struct caller *caller = caller_of(pairs, event->values[0]);
	bool ends = event->role == ROLE_CALL_END;

	if (!caller) {
		pairs->counts.refused++;
		return;
	}
	if (caller->calls && end_at_loss(pairs, caller, event->cpu, event->time)) {
		/* It is over, and so is what this may be the end of. */
	} else if (caller->calls && ends && caller->begun.number == event->values[1]) {
		caller->begun.result = event->values[2];
		end_call(pairs, caller, event->time, false);
	} else {
		pairs->counts.beginnings += caller->calls;
		pairs->counts.ends += ends && !may_lack_beginning(pairs, caller, event);
	}
	caller->calls = !ends;
	caller->begun = (struct trace_span) {
		.kind = SPAN_CALL, .cpu = event->cpu, .thread = event->values[0], .number = event->values[1],
		.begin = event->time,
	};
}

/* ---- all events ---- */

void pairs_add(struct pairs *pairs, const struct trace_event *event)
{
	struct cpu *cpu = cpu_of(pairs, event->cpu);

	if (!cpu) {
		pairs->counts.refused++;
		return;
	}
	if (event->lost)
		add_loss(pairs, cpu, event);
	else if (event->role == ROLE_SWITCH)
		add_switch(pairs, cpu, event);
	else if (event->role == ROLE_IRQ_BEGIN)
		begin_interrupt(pairs, cpu, event);
	else if (event->role == ROLE_IRQ_END)
		end_interrupt(pairs, cpu, event);
	else if (event->role == ROLE_CALL_BEGIN || event->role == ROLE_CALL_END)
		add_call(pairs, event);
	cpu->last = event->time;
}

void pairs_end(struct pairs *pairs)
{
	for (uint32_t i = 0; i < pairs->cpu_count; i++)
		if (pairs->cpus[i]) {
			end_thread(pairs, pairs->cpus[i], pairs->cpus[i]->last, false);
			end_interrupts(pairs, pairs->cpus[i], 0, pairs->cpus[i]->last, false);
		}
	for (uint32_t i = 0; i < pairs->caller_count; i++)
		if (pairs->callers[i].calls)
			end_at_loss(pairs, &pairs->callers[i], pairs->callers[i].begun.cpu, UINT64_MAX);
}

struct pairs_counts pairs_counts(const struct pairs *pairs)
{
	return pairs->counts;
}
