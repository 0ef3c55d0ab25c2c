/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/trace/trace.h"
#include "agent/wire/event.h"
#include "thread_states.h"

#define LOST_NEAR (10 * NS_PER_SECOND)	/* for so long a loss may be why a thread's state is not known */

struct state {
	uint64_t thread;
	struct pairs_thread is;
};

struct thread_states {
	const struct epoch *epoch;
	uint64_t at, thread;
	bool past, forgot;
	const struct span_name *names;
	uint32_t name_count;
	struct state *list;		/* where it is past: of each thread of which anything is known */
	uint32_t count, room;
	struct hash by_thread;		/* of `list` */
	struct trace_span *holds;	/* of locks that were held then */
	uint32_t hold_count, hold_room;
};

/* HASH_NONE: nothing is known of it. */
static uint32_t find_state(const struct thread_states *states, uint64_t thread)
{
	uint64_t hash = hash_pair(&states->by_thread, thread, 0);
	uint32_t at = 0, position;

	while ((position = hash_next(&states->by_thread, hash, &at)) != HASH_NONE)
		if (states->list[position].thread == thread)
			break;
	return position;
}

/* NULL: there is no memory for it. */
static struct pairs_thread *have_state(struct thread_states *states, uint64_t thread)
{
	uint32_t position = find_state(states, thread);
	struct state *list;

	if (position != HASH_NONE)
		return &states->list[position].is;
	list = budget_array(states->epoch->inputs.budget, states->list, states->count, &states->room, sizeof(*list));
	if (!list)
		return NULL;
	states->list = list;
	if (!hash_add(&states->by_thread, hash_pair(&states->by_thread, thread, 0), states->count))
		return NULL;
	list[states->count] = (struct state) { .thread = thread };
	return &list[states->count++].is;
}

static void add_hold(struct thread_states *states, const struct trace_span *span)
{
	struct trace_span *holds = budget_array(states->epoch->inputs.budget, states->holds, states->hold_count,
		&states->hold_room, sizeof(*holds));

	if (!holds)
		return;
	states->holds = holds;
	holds[states->hold_count++] = *span;
}

/* One that was going on at that time. Of waits for locks within each other, the innermost counts. */
static void add_span(struct thread_states *states, const struct trace_span *span)
{
	bool now = span->kind == SPAN_THREAD || span->kind == SPAN_SLEEP || span->kind == SPAN_READY;
	bool told = now || span->kind == SPAN_CALL || span->kind == SPAN_LOCK || span->kind == SPAN_PAIR;
	struct pairs_thread *is = told && span->thread != EVENT_NONE ? have_state(states, span->thread) : NULL;

	if (span->kind == SPAN_HOLD)
		add_hold(states, span);
	if (!is)
		return;
	if (now && span->begin >= is->now.begin)
		is->now = *span;
	else if (span->kind == SPAN_CALL)
		is->call = *span;
	else if (span->kind == SPAN_PAIR && span->begin >= is->pair.begin)
		is->pair = *span;
	else if (span->kind == SPAN_LOCK && span->begin >= is->wait.begin)
		is->wait = *span;
}

static void take_row(void *context, const struct span_row *row)
{
	struct thread_states *states = context;
	const struct span_name *name = &states->names[row->name];
	uint64_t begin = row->end - row->duration;

	if (!row->lost && begin <= states->at && row->end > states->at)
		add_span(states, &(struct trace_span) {
			.kind = name->kind, .number = name->number, .cpu = row->cpu, .thread = row->thread,
			.begin = begin, .end = row->end, .stack = row->stack, .holder = row->waker,
		});
}

static void take_open(void *context, const struct trace_span *span)
{
	struct thread_states *states = context;

	if (span->begin <= states->at)
		add_span(states, span);
}

static void take_unknown(void *context, const struct trace_span *span)
{
	struct thread_states *states = context;

	if (span->begin <= states->at && span->end > states->at)
		add_span(states, span);
}

static void meet_wake(struct thread_states *states, uint64_t begin, uint64_t waker, const struct span_name *in,
	uint32_t stack)
{
	struct pairs_thread *is = &states->list[find_state(states, states->thread)].is;

	if (begin > states->at || begin < is->woken)
		return;
	is->woken = begin;
	is->waker = waker;
	is->woken_in = *in;
	is->woken_at = stack;
}

static void take_wake(void *context, const struct span_row *row)
{
	struct thread_states *states = context;
	const struct span_name *name = &states->names[row->name];

	struct span_name in = { .number = 0 };

	if (row->interrupt && span_row_handler(row) < SPAN_NAMES)
		in = states->names[span_row_handler(row)];
	if (name->kind == SPAN_READY && name->number == READY_WOKEN && row->thread == states->thread && !row->lost)
		meet_wake(states, row->end - row->duration, row->interrupt ? EVENT_NONE : row->waker, &in, row->stack);
}

static void take_open_wake(void *context, const struct trace_span *span)
{
	struct thread_states *states = context;

	if (span->kind == SPAN_READY && span->number == READY_WOKEN && span->thread == states->thread)
		meet_wake(states, span->begin, span->waker,
			&(struct span_name) { (enum span_kind)span->woken_in_kind, span->woken_in }, span->stack);
}

static void read_past(struct thread_states *states)
{
	const struct trace *trace = states->epoch->trace;
	const struct span_rows *rows = trace_rows(trace);

	states->name_count = span_rows_names(rows, &states->names);
	states->forgot = states->at < span_rows_from(rows);
	if (states->forgot)
		return;
	span_rows_read(rows, states->at, states->at + 1, take_row, states);
	pairs_under_way(trace_pairs(trace), take_open, states);
	pairs_unknown(trace_pairs(trace), take_unknown, states);
	if (find_state(states, states->thread) == HASH_NONE)
		return;
	span_rows_read(rows, 0, states->at + 1, take_wake, states);
	pairs_under_way(trace_pairs(trace), take_open_wake, states);
}

struct thread_states *thread_states_new(const struct epoch *epoch, uint64_t at, uint64_t thread)
{
	struct thread_states *states = util_alloc(sizeof(*states));
	uint64_t until = trace_until(epoch->trace);

	*states = (struct thread_states) {
		.epoch = epoch, .past = at && at < until && until != UINT64_MAX, .thread = thread };
	states->at = states->past ? at : until;
	hash_init(&states->by_thread, epoch->inputs.budget);
	if (states->past)
		read_past(states);
	return states;
}

void thread_states_free(struct thread_states *states)
{
	struct budget *budget = states->epoch->inputs.budget;

	hash_clear(&states->by_thread);
	budget_free(budget, states->list, states->room * sizeof(*states->list));
	budget_free(budget, states->holds, states->hold_room * sizeof(*states->holds));
	free(states);
}

uint64_t thread_states_at(const struct thread_states *states)
{
	return states->at;
}

bool thread_states_forgot(const struct thread_states *states)
{
	return states->forgot;
}

/* At that time, which is past, events were lost that could have told of it: later ones do, or did until a loss. */
static bool was_lost(const struct thread_states *states, uint64_t thread)
{
	const struct pairs *pairs = trace_pairs(states->epoch->trace);
	const struct pairs_thread is = pairs_thread(pairs, thread, trace_until(states->epoch->trace));

	return !states->forgot && (is.lost || is.now.begin || is.wait.begin) &&
		pairs_lost(pairs, states->at > LOST_NEAR ? states->at - LOST_NEAR : 0, states->at);
}

/*
 * Holds of this lock are known from the guest's events: who is no holder by these, is none. Not of locks that share a
 * name.
 */
static bool tells_holds(const struct thread_states *states, uint64_t lock)
{
	for (uint32_t i = 0; i < states->name_count && lock != SPAN_OTHERS; i++)
		if (states->names[i].kind == SPAN_HOLD && states->names[i].number == lock)
			return true;
	return false;
}

struct pairs_thread thread_states_of(const struct thread_states *states, uint64_t thread)
{
	uint32_t position = find_state(states, thread);
	struct pairs_thread is = { .woken = 0 };
	struct trace_span hold;

	if (!states->past)
		return pairs_thread(trace_pairs(states->epoch->trace), thread, states->at);
	if (position != HASH_NONE)
		is = states->list[position].is;
	is.lost = is.other_lost = was_lost(states, thread);
	if (position == HASH_NONE)
		return is;
	hold = thread_states_hold(states, is.wait.number);
	if (is.wait.begin && (hold.begin || tells_holds(states, is.wait.number)))
		is.wait.holder = hold.begin ? hold.thread : EVENT_NONE;
	else
		is.held_last = is.wait.begin && is.wait.holder != EVENT_NONE;
	return is;
}

struct trace_span thread_states_hold(const struct thread_states *states, uint64_t lock)
{
	if (!states->past)
		return pairs_hold(trace_pairs(states->epoch->trace), lock, states->at);
	for (uint32_t i = 0; i < states->hold_count && lock != SPAN_OTHERS; i++)
		if (states->holds[i].number == lock)
			return states->holds[i];
	return (struct trace_span) { .begin = 0 };
}

void thread_states_each(const struct thread_states *states, void (*each)(void *context, uint64_t thread),
	void *context)
{
	if (!states->past) {
		pairs_threads(trace_pairs(states->epoch->trace), states->at, each, context);
		return;
	}
	for (uint32_t i = 0; i < states->count; i++)
		if (states->list[i].is.now.begin || states->list[i].is.wait.begin)
			each(context, states->list[i].thread);
}
