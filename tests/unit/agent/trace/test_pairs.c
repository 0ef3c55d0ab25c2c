/* SPDX-License-Identifier: MIT */
/*
 * Pairing against a simple model: whole traces pair whole; where events are dropped, repeated or made up, each span
 * that comes out is one that was, or is marked, and what has no partner is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/trace/pairs.h"
#include "agent/trace/span_rows.h"
#include "agent/wire/event.h"

enum { EVENTS = 4000, THREADS = 6, CPUS = 3, TYPES = 4 };

struct ended {
	struct trace_span spans[3 * EVENTS];
	size_t count, begun[SPAN_KINDS];
};

static void note_begin(void *context, const struct trace_span *span)
{
	((struct ended *)context)->begun[span->kind]++;
}

/* Each event carries a stack, which its time tells. */
static void tell(struct pairs *pairs, const struct trace_event *event)
{
	struct trace_event own = *event;

	own.stack = (uint32_t)own.time + 1;
	pairs_add(pairs, &own);
}

/* A hold's may be that of the wait before it, or none. */
static void check_stack(const struct trace_span *span)
{
	if (span->kind == SPAN_HOLD)
		assert_true(span->stack <= (uint32_t)span->begin + 1);
	else
		assert_int_equal(span->stack, span->kind == SPAN_THREAD ? 0 : (uint32_t)span->begin + 1);
}

static void note_end(void *context, const struct trace_span *span)
{
	struct ended *ended = context;
	uint64_t begun = (span->begin - 1000) / 10;

	if (span->number == SPAN_NUMBER(70, UINT32_MAX) && span->kind == SPAN_PAIR)	/* tell_other gives these */
		assert_true(span->lost || (span->arguments[7] == span->begin && span->results[7] == span->end &&
			span->ended_by == 71));
	else if (span->kind == SPAN_CALL && span->arguments)	/* make_calls gives these */
		assert_true(span->arguments[0] == begun && span->arguments[5] == 2 * begun);
	assert_true(span->end >= span->begin);
	check_stack(span);
	ended->spans[ended->count++] = *span;
}

static void note_end_of_open(void *context, const struct trace_span *span)
{
	struct ended *ended = context;

	ended->spans[ended->count++] = *span;
}

static struct ended ended;
static struct trace_event events[EVENTS];

static struct pairs *begin(struct budget *budget)
{
	const struct pairs_sink sink = { .context = &ended, .begin = note_begin, .end = note_end };

	memset(&ended, 0, sizeof(ended));
	return pairs_new(budget, &sink);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Calls that begin and end on any CPU, a thread at a time. Returns how many have ended. */
static uint32_t make_calls(uint32_t seed)
{
	uint64_t number[THREADS] = { 0 };
	uint32_t whole = 0;

	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t thread = next_random(&seed) % THREADS;
		bool ends = number[thread];

		number[thread] = ends ? number[thread] : 1 + next_random(&seed) % 50;
		events[i] = (struct trace_event) {
			.time = 1000 + 10 * (uint64_t)i, .cpu = next_random(&seed) % CPUS,
			.role = ends ? ROLE_CALL_END : ROLE_CALL_BEGIN,
			.values = { 1 + thread, number[thread], ends ? 1000 + i : i, 0, 0, 0, 0, 2 * i },
			.arguments = !ends && thread,
		};
		number[thread] = ends ? 0 : number[thread];
		whole += ends;
	}
	return whole;
}

/* The events at which a call begins and ends; they are told by the times. */
static bool is_a_call(const struct trace_span *span)
{
	const struct trace_event *from = &events[(span->begin - 1000) / 10];
	const struct trace_event *to = &events[(span->end - 1000) / 10];

	return from->role == ROLE_CALL_BEGIN && to->role == ROLE_CALL_END && from->values[0] == span->thread &&
		to->values[0] == span->thread && from->values[1] == span->number && to->values[2] == span->result;
}

static void each_call_is_found(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct pairs *pairs = begin(NULL);
		uint32_t whole = make_calls(seed);

		for (uint32_t i = 0; i < EVENTS; i++)
			tell(pairs, &events[i]);
		pairs_end(pairs);
		assert_int_equal(ended.count, whole);
		for (size_t i = 0; i < ended.count; i++)
			assert_true(is_a_call(&ended.spans[i]) && !ended.spans[i].lost &&
				!ended.spans[i].arguments == (ended.spans[i].thread == 1));
		assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
		pairs_free(pairs);
	}
}

/*
 * Each eighth event is missing, and nobody says so. The model: an end belongs to the beginning that is its thread's
 * last event, and has the same number; all else has no partner.
 */
static void what_lacks_its_partner_is_counted(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		const struct trace_event *last[THREADS + 1] = { NULL };
		struct pairs *pairs = begin(NULL);
		uint32_t dice = seed, whole = 0, beginnings = 0, ends = 0;

		make_calls(seed);
		for (uint32_t i = 0; i < EVENTS; i++) {
			const struct trace_event *event = &events[i], **before = &last[event->values[0]];
			bool under_way = *before && (*before)->role == ROLE_CALL_BEGIN;
			bool ends_it = event->role == ROLE_CALL_END, pair = under_way && ends_it &&
				(*before)->values[1] == event->values[1];

			if (next_random(&dice) % 8 == 0)
				continue;
			whole += pair;
			beginnings += under_way && !pair;
			ends += ends_it && *before && !pair;
			*before = event;
			tell(pairs, event);
		}
		pairs_end(pairs);
		assert_int_equal(ended.count, whole);
		assert_int_equal(pairs_counts(pairs).beginnings, beginnings);
		assert_int_equal(pairs_counts(pairs).ends, ends);
		assert_true(beginnings && ends);
		pairs_free(pairs);
	}
}

/* The same, but losses say so: what is under way is marked, and nothing is held against the guest. */
static void a_loss_ends_what_is_under_way(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct pairs *pairs = begin(NULL);
		uint64_t lost[CPUS] = { 0 };
		uint32_t dice = seed, marked = 0;

		make_calls(seed);
		for (uint32_t i = 0; i < EVENTS; i++) {
			uint32_t cpu = events[i].cpu;

			if (next_random(&dice) % 16 == 0) {
				lost[cpu]++;
				continue;
			}
			if (lost[cpu])
				tell(pairs, &(struct trace_event) {
					.time = events[i].time, .cpu = cpu, .lost = lost[cpu] });
			lost[cpu] = 0;
			tell(pairs, &events[i]);
		}
		pairs_end(pairs);
		for (size_t i = 0; i < ended.count; i++) {
			marked += ended.spans[i].lost;
			assert_true(ended.spans[i].lost || is_a_call(&ended.spans[i]));
		}
		assert_true(marked);
		pairs_free(pairs);
	}
}

/* ---- waits ---- */

enum { RUNS, READY, SLEEPS };

static struct doing {			/* by thread, at the end */
	uint32_t state, on;		/* on: the CPU, if it runs */
	uint64_t since, woken;		/* 0: it was not seen to begin; it was not woken */
} doing[THREADS + 1];

/* What threads do on CPUs: each wait that ends goes to `spans`. Returns how many events were made. */
static uint32_t make_waits(uint32_t seed, struct ended *model)
{
	uint32_t runs[CPUS] = { 0 }, state[THREADS + 1], woken[THREADS + 1] = { 0 }, count = 0;
	uint64_t since[THREADS + 1] = { 0 }, how[THREADS + 1] = { 0 };

	memset(model, 0, sizeof(*model));
	memset(doing, 0, sizeof(doing));
	for (uint32_t i = 1; i <= THREADS; i++)
		state[i] = SLEEPS;
	while (count < EVENTS) {
		uint32_t cpu = next_random(&seed) % CPUS, thread = 1 + next_random(&seed) % THREADS, from = runs[cpu];
		uint64_t time = 1000 + 10 * (uint64_t)count, leaves = next_random(&seed) % 3;
		struct trace_event event = { .time = time, .cpu = cpu, .role = ROLE_SWITCH };

		if (state[thread] == RUNS)
			continue;
		if (since[thread])
			model->spans[model->count++] = (struct trace_span) {
				.kind = state[thread] == SLEEPS ? SPAN_SLEEP : SPAN_READY, .begin = since[thread],
				.thread = thread, .number = state[thread] == SLEEPS ? how[thread] :
				woken[thread] ? READY_WOKEN : READY_PREEMPTED, .end = time };
		if (state[thread] == SLEEPS) {
			event.role = ROLE_WAKE;
			event.values[0] = thread;
			event.values[1] = EVENT_NONE;
			woken[thread] = since[thread] != 0;
			doing[thread].woken = time;
			since[thread] = since[thread] ? time : 0;
			state[thread] = READY;
		} else {
			event.values[0] = from ? from : EVENT_NONE;
			event.values[1] = thread;
			event.values[2] = leaves;
			if (from) {
				state[from] = leaves == LEAVES_READY ? READY : SLEEPS;
				woken[from] = 0;
				since[from] = time;
				how[from] = leaves == LEAVES_BLOCKED ? SLEEP_BLOCKED : SLEEP_ANY;
			}
			state[thread] = RUNS;
			since[thread] = 0;
			doing[thread].since = time;
			doing[thread].on = cpu;
			runs[cpu] = thread;
		}
		events[count++] = event;
	}
	for (uint32_t i = 1; i <= THREADS; i++) {
		doing[i].state = state[i];
		doing[i].since = state[i] == RUNS ? doing[i].since : since[i];
	}
	return count;
}

static void check_doing(const struct pairs *pairs)
{
	static const enum span_kind kinds[] = { [RUNS] = SPAN_THREAD, [READY] = SPAN_READY, [SLEEPS] = SPAN_SLEEP };

	for (uint32_t i = 1; i <= THREADS; i++) {
		const struct pairs_thread is = pairs_thread(pairs, i, 1u << 30);

		assert_int_equal(is.now.begin, doing[i].since);
		assert_int_equal(is.woken, doing[i].woken);
		assert_true(!is.now.begin || is.now.kind == kinds[doing[i].state]);
		assert_true(doing[i].state != RUNS || is.now.cpu == doing[i].on);
		assert_true(!is.woken || is.waker == EVENT_NONE);
	}
	assert_int_equal(pairs_thread(pairs, THREADS + 1, 1u << 30).now.begin, 0);
}

/* The next wait among the spans from `at` on. NULL: there is none. */
static const struct trace_span *next_wait(const struct ended *all, size_t *at)
{
	while (*at < all->count)
		if (all->spans[(*at)++].kind >= SPAN_SLEEP)
			return &all->spans[*at - 1];
	return NULL;
}

static bool is_same_wait(const struct trace_span *one, const struct trace_span *other)
{
	return one->kind == other->kind && one->number == other->number && one->thread == other->thread &&
		one->begin == other->begin && one->end == other->end;
}

static struct ended model;

static void each_wait_is_found(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct pairs *pairs = begin(NULL);
		uint32_t count = make_waits(seed, &model);
		size_t at = 0;

		for (uint32_t i = 0; i < count; i++)
			tell(pairs, &events[i]);
		for (size_t i = 0; i < model.count; i++) {
			const struct trace_span *wait = next_wait(&ended, &at);

			assert_true(wait && is_same_wait(wait, &model.spans[i]));
		}
		assert_null(next_wait(&ended, &at));
		assert_true(model.count > EVENTS / 2);
		check_doing(pairs);
		pairs_changed(pairs, 1u << 29);
		assert_int_equal(pairs_thread(pairs, 1, 1u << 30).now.begin, 0);
		assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
		pairs_free(pairs);
	}
}

/*
 * Where events are lost, or others are traced for a while, a wait that is told is one that was: none goes on over that
 * time, in which its thread may have run.
 */
static void no_wait_goes_on_over_what_is_not_known(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct pairs *pairs = begin(NULL);
		uint32_t count = make_waits(seed, &model), dice = seed, lost = 0, found = 0;
		const struct trace_span *wait;

		for (uint32_t i = 0; i < count; i++) {
			if (next_random(&dice) % 64 == 0)
				lost += 1 + next_random(&dice) % 8;
			if (lost > 1) {
				lost--;
				continue;
			}
			if (lost && next_random(&dice) % 2)
				pairs_changed(pairs, events[i].time - 5);
			else if (lost)
				tell(pairs, &(struct trace_event) {
					.time = events[i].time, .cpu = events[i].cpu, .lost = 1 });
			lost = 0;
			tell(pairs, &events[i]);
		}
		for (size_t at = 0, k = 0; (wait = next_wait(&ended, &at)); found++) {
			while (k < model.count && !is_same_wait(wait, &model.spans[k]))
				k++;
			assert_true(k < model.count);
		}
		assert_true(found && found < model.count);
		pairs_free(pairs);
	}
}

/* While nothing is traced, who runs is not known: what ran before ends before, whoever runs afterwards. */
static void a_change_ends_what_runs(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct pairs *pairs = begin(NULL);
		uint32_t count = make_waits(seed, &model), dice = seed, changes = 0;
		static uint64_t changed[EVENTS];

		for (uint32_t i = 0; i < count; i++) {
			if (next_random(&dice) % 64 == 0) {
				changed[changes++] = events[i].time - 5;
				pairs_changed(pairs, events[i].time - 5);
				i += next_random(&dice) % 32;
			} else {
				tell(pairs, &events[i]);
			}
		}
		pairs_end(pairs);
		assert_true(changes && ended.begun[SPAN_THREAD]);
		for (size_t i = 0; i < ended.count; i++)
			for (uint32_t k = 0; ended.spans[i].kind == SPAN_THREAD && k < changes; k++)
				assert_false(ended.spans[i].begin < changed[k] && changed[k] < ended.spans[i].end);
		pairs_free(pairs);
	}
}

/* A guest that does not tell how threads leave their CPU: which thread runs is known, and no wait. */
static void switches_without_a_state_tell_no_waits(void **state)
{
	struct pairs *pairs = begin(NULL);
	uint32_t count = make_waits(1, &model);
	size_t at = 0;

	(void)state;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].role == ROLE_SWITCH)
			events[i].values[2] = TRACE_NO_VALUE;
		tell(pairs, &events[i]);
	}
	assert_null(next_wait(&ended, &at));
	assert_true(ended.begun[SPAN_THREAD] > EVENTS / 4);
	pairs_free(pairs);
}

/* Any event at any time: it ends, within memory, and threads and interrupts nest on their CPU. */
static void whatever_comes_is_survived(void **state)
{
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);

	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct pairs *pairs = begin(budget);
		uint64_t last[CPUS] = { 0 };
		size_t seen[SPAN_KINDS] = { 0 };

		for (uint32_t i = 0; i < EVENTS; i++)
			tell(pairs, &(struct trace_event) {
				.time = 1000 + i, .cpu = next_random(&seed) % CPUS,
				.role = (enum trace_role)(next_random(&seed) % ROLES),
				.values = { next_random(&seed) % 4, next_random(&seed) % 3, next_random(&seed) % 5 },
				.pair = 70,
				.lost = next_random(&seed) % 50 == 0,
			});
		pairs_end(pairs);
		for (size_t i = 0; i < ended.count; i++) {
			const struct trace_span *span = &ended.spans[i];

			seen[span->kind]++;
			if (span->kind != SPAN_THREAD)
				continue;
			assert_true(span->begin >= last[span->cpu]);	/* one thread at a time */
			last[span->cpu] = span->end;
		}
		assert_int_equal(seen[SPAN_THREAD], ended.begun[SPAN_THREAD]);
		assert_int_equal(seen[SPAN_INTERRUPT], ended.begun[SPAN_INTERRUPT]);
		pairs_free(pairs);
		assert_int_equal(budget_left(budget), left);
	}
	budget_release(budget);
}

/* More threads than anybody keeps: those that call nothing are forgotten first, and memory has a bound. */
static void threads_beyond_number_are_forgotten(void **state)
{
	enum { MANY = 300000 };
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);
	struct pairs *pairs = begin(budget);

	(void)state;
	tell(pairs, &(struct trace_event) { .time = 1, .role = ROLE_CALL_BEGIN, .values = { 7, 9 } });
	for (uint64_t i = 0; i < MANY; i++)
		tell(pairs, &(struct trace_event) {
			.time = 2 + i, .role = ROLE_CALL_END, .values = { 100 + i, 1 } });
	tell(pairs, &(struct trace_event) { .time = MANY + 9, .role = ROLE_CALL_END, .values = { 7, 9 } });
	assert_int_equal(ended.count, 1);
	assert_int_equal(ended.spans[0].end, MANY + 9);
	assert_true(left - budget_left(budget) < (32 << 20));
	pairs_free(pairs);
	budget_release(budget);
}

/* ---- locks ---- */

enum { LOCKS = 4, NOBODY = -1 };

/* A kernel whose threads take locks, one wait at a time; who unlocks hands over to the first that waits. */
struct locking {
	uint64_t now;
	int holder[LOCKS];
	uint64_t held_since[LOCKS];
	uint32_t taken_at[LOCKS];	/* the stack of its hold */
	bool released[CPUS];		/* the last event of the CPU was a release */
	int waits[THREADS];		/* the lock; NOBODY: for none */
	uint64_t waits_since[THREADS];
	int line[LOCKS][THREADS], lines[LOCKS];
	size_t waited, held;		/* spans that have ended */
};

static void tell_lock(struct pairs *pairs, struct locking *is, enum trace_role role, int lock, int thread,
	uint64_t holder)
{
	tell(pairs, &(struct trace_event) {
		.time = is->now, .cpu = (uint32_t)is->now % CPUS, .role = role,
		.values = { 0xffff888000000000 + (uint64_t)lock, 1 + (uint64_t)thread, holder },
	});
	is->released[is->now % CPUS] = role == ROLE_LOCK_RELEASED;
}

static bool has_span(enum span_kind kind, int lock, int thread, uint64_t begin, uint64_t end)
{
	for (size_t i = ended.count; i-- > 0 && ended.spans[i].end == end;)
		if (ended.spans[i].kind == kind && ended.spans[i].number == 0xffff888000000000 + (uint64_t)lock &&
				ended.spans[i].thread == 1 + (uint64_t)thread && ended.spans[i].begin == begin)
			return true;
	return false;
}

static void take_lock(struct pairs *pairs, struct locking *is, int lock, int thread)
{
	is->holder[lock] = thread;
	is->held_since[lock] = is->now;
	/* Who has waited took it there. Else it is the event's, if that cannot be of who gave the lock away. */
	is->taken_at[lock] = is->waits[thread] != NOBODY ? (uint32_t)is->waits_since[thread] + 1 :
		is->released[is->now % CPUS] ? 0 : (uint32_t)is->now + 1;
	tell_lock(pairs, is, ROLE_LOCK_ACQUIRED, lock, thread, 0);
	if (is->waits[thread] == NOBODY)
		return;
	assert_true(has_span(SPAN_LOCK, lock, thread, is->waits_since[thread], is->now));
	is->waits[thread] = NOBODY;
	is->waited++;
}

static void want_lock(struct pairs *pairs, struct locking *is, int lock, int thread, bool told)
{
	if (is->holder[lock] == NOBODY) {
		take_lock(pairs, is, lock, thread);
		return;
	}
	is->waits[thread] = lock;
	is->waits_since[thread] = is->now;
	is->line[lock][is->lines[lock]++] = thread;
	tell_lock(pairs, is, ROLE_LOCK_WAIT, lock, thread, told ? 1 + (uint64_t)is->holder[lock] : EVENT_NONE);
	is->now++;
	tell_lock(pairs, is, ROLE_LOCK_WAIT, lock, thread, EVENT_NONE);	/* it goes on in another way */
}

static void give_lock(struct pairs *pairs, struct locking *is, int lock)
{
	int thread = is->holder[lock], next = is->line[lock][0];

	tell_lock(pairs, is, ROLE_LOCK_RELEASED, lock, thread, 0);
	assert_true(has_span(SPAN_HOLD, lock, thread, is->held_since[lock], is->now));
	assert_int_equal(ended.spans[ended.count - 1].stack, is->taken_at[lock]);
	is->held++;
	is->holder[lock] = NOBODY;
	if (!is->lines[lock])
		return;
	memmove(is->line[lock], is->line[lock] + 1, (size_t)--is->lines[lock] * sizeof(is->line[lock][0]));
	take_lock(pairs, is, lock, next);
}

static void check_locking(const struct pairs *pairs, const struct locking *is)
{
	for (int thread = 0; thread < THREADS; thread++) {
		const struct trace_span wait = pairs_thread(pairs, 1 + (uint64_t)thread, is->now).wait;
		int lock = is->waits[thread];

		assert_int_equal(wait.begin, lock == NOBODY ? 0 : is->waits_since[thread]);
		assert_true(lock == NOBODY || wait.holder == 1 + (uint64_t)is->holder[lock]);
		assert_true(lock == NOBODY || wait.stack == (uint32_t)wait.begin + 1);
	}
	for (int lock = 0; lock < LOCKS; lock++) {
		const struct trace_span hold = pairs_hold(pairs, 0xffff888000000000 + (uint64_t)lock, is->now);

		assert_int_equal(hold.begin, is->holder[lock] == NOBODY ? 0 : is->held_since[lock]);
		assert_true(!hold.begin || hold.thread == 1 + (uint64_t)is->holder[lock]);
		assert_true(!hold.begin || hold.stack == is->taken_at[lock]);
	}
}

static struct locking locking_new(void)
{
	struct locking is = { .now = 1000 };

	for (int i = 0; i < LOCKS; i++)
		is.holder[i] = NOBODY;
	for (int i = 0; i < THREADS; i++)
		is.waits[i] = NOBODY;
	return is;
}

/* At each moment, who waits for which lock, since when, and who holds it; also where they wait in a circle. */
static void each_lock_is_followed(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct pairs *pairs = begin(NULL);
		struct locking is = locking_new();

		for (int i = 0; i < EVENTS / 2; i++, is.now += 1 + next_random(&seed) % 100) {
			int thread = (int)(next_random(&seed) % THREADS), lock = (int)(next_random(&seed) % LOCKS);

			if (is.holder[lock] != NOBODY && is.waits[is.holder[lock]] == NOBODY && next_random(&seed) % 2)
				give_lock(pairs, &is, lock);
			else if (is.waits[thread] == NOBODY && is.holder[lock] != thread)
				want_lock(pairs, &is, lock, thread, next_random(&seed) % 2);
			check_locking(pairs, &is);
		}
		pairs_end(pairs);
		assert_true(is.waited > 4 && is.held > 10);
		assert_int_equal(ended.count, is.waited + is.held);
		assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
		pairs_free(pairs);
	}
}

static void lock_event(struct pairs *pairs, uint64_t time, enum trace_role role, uint64_t thread, uint64_t holder)
{
	tell(pairs, &(struct trace_event) { .time = time, .role = role, .values = { 70, thread, holder } });
}

/* A kernel tells waits alone, with their holders; a thread may give up. An interrupt's wait is of no thread. */
static void waits_without_holds(void **state)
{
	struct pairs *pairs = begin(NULL);

	(void)state;
	lock_event(pairs, 10, ROLE_LOCK_WAIT, 1, 2);
	lock_event(pairs, 12, ROLE_LOCK_WAIT, EVENT_NONE, 3);
	lock_event(pairs, 13, ROLE_LOCK_WAITED, EVENT_NONE, 0);
	assert_int_equal(pairs_thread(pairs, 1, 15).wait.holder, 2);
	lock_event(pairs, 20, ROLE_LOCK_WAIT, 1, 3);
	assert_int_equal(pairs_thread(pairs, 1, 25).wait.holder, 3);
	lock_event(pairs, 30, ROLE_LOCK_WAITED, 1, 0);
	assert_int_equal(pairs_thread(pairs, 1, 35).wait.begin, 0);
	assert_int_equal(ended.count, 1);
	assert_true(ended.spans[0].kind == SPAN_LOCK && ended.spans[0].begin == 10 && ended.spans[0].end == 30 &&
		ended.spans[0].holder == 3 && ended.spans[0].number == 70);
	lock_event(pairs, 40, ROLE_LOCK_WAITED, 1, 0);		/* its beginning is missing */
	assert_int_equal(pairs_counts(pairs).ends, 1);
	lock_event(pairs, 50, ROLE_LOCK_WAIT, 1, EVENT_NONE);
	assert_int_equal(pairs_thread(pairs, 1, 55).wait.holder, EVENT_NONE);
	tell(pairs, &(struct trace_event) { .time = 60, .cpu = 2, .lost = 1 });
	assert_int_equal(pairs_thread(pairs, 1, 65).wait.begin, 0);
	pairs_end(pairs);
	pairs_free(pairs);
}

static void lock_event_of(struct pairs *pairs, uint64_t time, enum trace_role role, uint64_t lock, uint64_t holder)
{
	tell(pairs, &(struct trace_event) { .time = time, .role = role, .values = { lock, 1, holder } });
}

/* Asleep for a mutex, a thread spins for locks of the scheduler. An end whose beginning may be older is no mistake. */
static void waits_within_waits(void **state)
{
	struct pairs *pairs = begin(NULL);

	(void)state;
	lock_event_of(pairs, 10, ROLE_LOCK_WAIT, 70, 2);
	lock_event_of(pairs, 11, ROLE_LOCK_WAIT, 90, EVENT_NONE);
	assert_int_equal(pairs_thread(pairs, 1, 12).wait.number, 90);
	lock_event_of(pairs, 12, ROLE_LOCK_WAITED, 90, 1);
	lock_event_of(pairs, 13, ROLE_LOCK_WAIT, 70, 3);
	lock_event_of(pairs, 14, ROLE_LOCK_WAIT, 80, EVENT_NONE);
	lock_event_of(pairs, 15, ROLE_LOCK_WAITED, 80, 1);
	assert_int_equal(pairs_thread(pairs, 1, 16).wait.number, 70);
	assert_int_equal(pairs_thread(pairs, 1, 16).wait.holder, 3);
	lock_event_of(pairs, 20, ROLE_LOCK_WAITED, 70, 1);
	assert_int_equal(pairs_thread(pairs, 1, 21).wait.begin, 0);
	assert_int_equal(ended.count, 3);
	assert_true(ended.spans[0].number == 90 && ended.spans[0].begin == 11 && ended.spans[0].end == 12);
	assert_true(ended.spans[2].number == 70 && ended.spans[2].begin == 10 && ended.spans[2].end == 20);
	lock_event_of(pairs, 30, ROLE_LOCK_WAITED, 60, 1);
	assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
	lock_event_of(pairs, 40, ROLE_LOCK_WAIT, 60, EVENT_NONE);
	lock_event_of(pairs, 41, ROLE_LOCK_WAIT, 61, EVENT_NONE);	/* the end of this one is missing */
	lock_event_of(pairs, 42, ROLE_LOCK_WAITED, 60, 1);
	assert_int_equal(pairs_counts(pairs).beginnings, 1);
	for (uint64_t lock = 100; lock < 110; lock++)
		lock_event_of(pairs, lock, ROLE_LOCK_WAIT, lock, EVENT_NONE);
	assert_true(pairs_counts(pairs).beginnings > 1);
	pairs_end(pairs);
	pairs_free(pairs);
}

/* Taken twice, released by another thread, and a release that is missing. */
static void holds_that_are_odd(void **state)
{
	struct pairs *pairs = begin(NULL);

	(void)state;
	lock_event(pairs, 5, ROLE_LOCK_RELEASED, 1, 0);		/* from before the first event */
	lock_event(pairs, 10, ROLE_LOCK_ACQUIRED, 1, 0);
	lock_event(pairs, 20, ROLE_LOCK_ACQUIRED, 1, 0);
	lock_event(pairs, 30, ROLE_LOCK_RELEASED, 1, 0);
	assert_int_equal(ended.count, 0);
	lock_event(pairs, 40, ROLE_LOCK_RELEASED, 2, 0);
	assert_int_equal(ended.count, 1);
	assert_true(ended.spans[0].thread == 1 && ended.spans[0].begin == 10 && ended.spans[0].end == 40);
	assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
	lock_event(pairs, 50, ROLE_LOCK_ACQUIRED, 1, 0);
	lock_event(pairs, 60, ROLE_LOCK_ACQUIRED, 2, 0);
	assert_int_equal(pairs_counts(pairs).beginnings, 1);
	lock_event(pairs, 70, ROLE_LOCK_RELEASED, 2, 0);
	assert_int_equal(ended.count, 2);
	assert_true(ended.spans[1].thread == 2 && ended.spans[1].begin == 60);
	lock_event(pairs, 80, ROLE_LOCK_RELEASED, 2, 0);
	assert_int_equal(pairs_counts(pairs).ends, 1);
	pairs_end(pairs);
	pairs_free(pairs);
}

/*
 * A ring was full: the loss is told before the events that were in it, and the end of an interrupt, of a call and of a
 * hold is missing behind them. None of them goes on for ever, and none counts as a mistake.
 */
static void a_loss_that_is_told_too_early(void **state)
{
	struct pairs *pairs = begin(NULL);

	(void)state;
	lock_event(pairs, 5, ROLE_LOCK_ACQUIRED, 1, 0);
	lock_event(pairs, 6, ROLE_LOCK_RELEASED, 1, 0);
	tell(pairs, &(struct trace_event) { .time = 10, .lost = 3, .doubt = true });
	tell(pairs, &(struct trace_event) { .time = 11, .role = ROLE_CALL_BEGIN, .values = { 4, 9 } });
	lock_event(pairs, 12, ROLE_LOCK_ACQUIRED, 1, 0);
	tell(pairs, &(struct trace_event) { .time = 13, .role = ROLE_IRQ_BEGIN, .values = { 3 } });
	tell(pairs, &(struct trace_event) { .time = 14, .role = ROLE_SWITCH, .values = { 6, 7, LEAVES_BLOCKED } });
	lock_event(pairs, 15, ROLE_LOCK_WAIT, 8, 1);
	/* here the three are missing */
	tell(pairs, &(struct trace_event) { .time = 20, .role = ROLE_IRQ_BEGIN, .values = { 3 } });
	tell(pairs, &(struct trace_event) { .time = 21, .role = ROLE_IRQ_END, .values = { 3 } });
	lock_event(pairs, 22, ROLE_LOCK_ACQUIRED, 2, 0);
	tell(pairs, &(struct trace_event) { .time = 23, .role = ROLE_CALL_BEGIN, .values = { 4, 8 } });
	/* They may have run meanwhile, and waited again: neither wait is told. */
	tell(pairs, &(struct trace_event) { .time = 24, .role = ROLE_WAKE, .values = { 6, EVENT_NONE } });
	lock_event(pairs, 25, ROLE_LOCK_WAITED, 8, 1);
	assert_int_equal(pairs_thread(pairs, 6, 26).now.begin, 0);
	for (size_t i = 0; i < ended.count; i++)
		assert_true(ended.spans[i].kind != SPAN_SLEEP && ended.spans[i].kind != SPAN_LOCK);
	tell(pairs, &(struct trace_event) { .time = 30, .doubt = true });
	assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
	assert_true(ended.spans[ended.count - 1].kind == SPAN_INTERRUPT && ended.spans[ended.count - 1].lost &&
		ended.spans[ended.count - 1].begin == 13);
	ended.count = 0;
	pairs_under_way(pairs, note_end_of_open, &ended);
	assert_int_equal(ended.count, 0);
	tell(pairs, &(struct trace_event) { .time = 40, .role = ROLE_IRQ_BEGIN, .values = { 3 } });
	tell(pairs, &(struct trace_event) { .time = 41, .role = ROLE_IRQ_END, .values = { 5 } });
	assert_int_equal(pairs_counts(pairs).ends, 1);	/* behind the doubt they count again */
	pairs_free(pairs);
}

/* Softirqs nest in interrupts and in each other, each of its own kind. */
static void softirqs_are_not_interrupts(void **state)
{
	static const enum trace_role roles[] = { ROLE_IRQ_BEGIN, ROLE_SOFTIRQ_BEGIN, ROLE_IRQ_END, ROLE_SOFTIRQ_END };
	struct pairs *pairs = begin(NULL);

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		tell(pairs, &(struct trace_event) { .time = 10 + i, .role = roles[i], .values = { 3 } });
	assert_int_equal(ended.count, 2);		/* the softirq that has no end; the interrupt */
	assert_true(ended.spans[0].kind == SPAN_SOFTIRQ && ended.spans[0].lost);
	assert_true(ended.spans[1].kind == SPAN_INTERRUPT && !ended.spans[1].lost && ended.spans[1].end == 12);
	assert_int_equal(pairs_counts(pairs).ends, 1);
	pairs_free(pairs);
}

/* ---- other events ---- */

enum { KEYS = 40 };

static void tell_other(struct pairs *pairs, uint64_t time, enum trace_role role, uint64_t thread, uint64_t key)
{
	tell(pairs, &(struct trace_event) {
		.time = time, .role = role, .id = role == ROLE_PAIR_END ? 71 : 70, .pair = 70,
		.cpu = (uint32_t)time % CPUS,
		.values = { thread, TRACE_NO_VALUE, key, key ^ 1, TRACE_NO_VALUE, TRACE_NO_VALUE, TRACE_NO_VALUE,
			time },
		.role_values = { 0, 1, 2, 3, 4, 5, 6, TRACE_VALUES },
	});
}

/* Any number under way at a time, begun and ended on any CPU, and single events in between. */
static void other_events_pair_by_what_both_tell(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct pairs *pairs = begin(NULL);
		uint64_t begun[KEYS] = { 0 }, singles = 0, whole = 0;

		for (uint64_t now = 1000; now < 1000 + 10 * EVENTS; now += 10) {
			uint32_t key = next_random(&seed) % (KEYS + 4);
			const struct trace_span *last;

			tell_other(pairs, now, key >= KEYS ? ROLE_SINGLE : begun[key] ? ROLE_PAIR_END : ROLE_PAIR_BEGIN,
				key >= KEYS || !begun[key] ? key : TRACE_NO_VALUE, key);
			last = &ended.spans[ended.count ? ended.count - 1 : 0];
			if (key >= KEYS) {
				singles++;
				assert_true(last->kind == SPAN_SINGLE && last->thread == key && last->begin == now);
			} else if (begun[key]) {
				whole++;
				assert_true(last->kind == SPAN_PAIR && last->thread == key && last->end == now);
				assert_true(last->begin == begun[key] && !last->lost);
				assert_int_equal(last->number, SPAN_NUMBER(70, UINT32_MAX));
			}
			assert_int_equal(ended.count, singles + whole);
			if (key < KEYS)
				begun[key] = begun[key] ? 0 : now;
		}
		pairs_end(pairs);
		assert_true(singles > EVENTS / 20 && whole > EVENTS / 4 && ended.count == singles + whole);
		assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
		pairs_free(pairs);
	}
}

static void other_events_that_are_odd(void **state)
{
	struct pairs *pairs = begin(NULL);

	(void)state;
	tell_other(pairs, 10, ROLE_PAIR_END, 5, 1);		/* from before the first event: it stands alone */
	assert_true(ended.count == 1 && ended.spans[0].kind == SPAN_SINGLE && SPAN_EVENT(ended.spans[0].number) == 71);
	tell_other(pairs, 20, ROLE_PAIR_BEGIN, 5, 1);
	tell_other(pairs, 30, ROLE_PAIR_BEGIN, 5, 1);		/* the end of the one before is missing */
	assert_int_equal(pairs_counts(pairs).beginnings, 1);
	assert_true(ended.count == 2 && ended.spans[1].begin == 20 && ended.spans[1].lost);
	tell_other(pairs, 40, ROLE_PAIR_END, 5, 1);
	assert_true(ended.count == 3 && ended.spans[2].begin == 30 && !ended.spans[2].lost);
	tell_other(pairs, 50, ROLE_PAIR_END, 5, 1);		/* its beginning is missing */
	assert_int_equal(pairs_counts(pairs).ends, 1);
	assert_true(ended.count == 4 && ended.spans[3].kind == SPAN_SINGLE);
	tell_other(pairs, 60, ROLE_PAIR_BEGIN, 5, 1);
	tell(pairs, &(struct trace_event) { .time = 65, .cpu = 2, .lost = 1 });
	tell_other(pairs, 70, ROLE_PAIR_END, 5, 1);		/* it may have ended and begun again meanwhile */
	assert_true(ended.count == 5 && ended.spans[4].kind == SPAN_PAIR && ended.spans[4].lost);
	assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 2);

	/* An event that tells no thread is of the one that runs there, where it is known that no interrupt does. */
	tell(pairs, &(struct trace_event) {
		.time = 80, .cpu = 1, .role = ROLE_SWITCH, .values = { 3, 4, LEAVES_READY } });
	tell_other(pairs, 82, ROLE_SINGLE, TRACE_NO_VALUE, 1);
	assert_int_equal(ended.spans[ended.count - 1].thread, EVENT_NONE);
	tell(pairs, &(struct trace_event) { .time = 82, .cpu = 1, .role = ROLE_IRQ_BEGIN, .values = { 3 } });
	tell(pairs, &(struct trace_event) { .time = 82, .cpu = 1, .role = ROLE_IRQ_END, .values = { 3 } });
	tell_other(pairs, 82, ROLE_SINGLE, TRACE_NO_VALUE, 1);
	assert_int_equal(ended.spans[ended.count - 1].thread, 4);
	tell(pairs, &(struct trace_event) { .time = 83, .cpu = 1, .role = ROLE_IRQ_BEGIN, .values = { 3 } });
	tell_other(pairs, 85, ROLE_SINGLE, TRACE_NO_VALUE, 1);
	assert_int_equal(ended.spans[ended.count - 1].thread, EVENT_NONE);
	tell_other(pairs, 86, ROLE_SINGLE, TRACE_NO_VALUE, 1);		/* of that CPU nothing is known */
	assert_int_equal(ended.spans[ended.count - 1].thread, EVENT_NONE);
	pairs_free(pairs);
}

/* ---- functions, by their frames ---- */

static void tell_frame(struct pairs *pairs, uint64_t time, bool begins, uint64_t number, uint64_t frame)
{
	tell(pairs, &(struct trace_event) {
		.time = time, .role = begins ? ROLE_FRAME_BEGIN : ROLE_FRAME_END, .id = begins ? 70 : 71, .pair = 70,
		.cpu = (uint32_t)time % CPUS, .values = { 5, number, frame },
		.role_values = { 0, 1, 2, TRACE_VALUES, TRACE_VALUES, TRACE_VALUES, TRACE_VALUES, TRACE_VALUES },
	});
}

/* Stacks of threads: each calls functions, within themselves, too, and leaves them with a stack pointer that lags. */
static void functions_pair_by_their_frames(void **state)
{
	enum { STACKS = 20, DEEP = 12, CALLS = 4 };

	(void)state;
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct { uint64_t number, frame, begun; } calls[STACKS][DEEP];
		uint32_t depth[STACKS] = { 0 }, whole = 0;
		struct pairs *pairs = begin(NULL);

		for (uint64_t now = 1000; now < 1000 + 10 * EVENTS; now += 10) {
			uint32_t stack = next_random(&seed) % STACKS, deep = depth[stack];
			uint64_t size = 8 + next_random(&seed) % 64 * 8, top = 0xffff800000004000 + stack * 0x4000u;
			const struct trace_span *last;

			if (deep < DEEP && (deep == 0 || next_random(&seed) % 2)) {
				calls[stack][deep].frame = (deep ? calls[stack][deep - 1].frame : top) - 512 - size;
				calls[stack][deep].number = next_random(&seed) % CALLS;
				calls[stack][deep].begun = now;
				tell_frame(pairs, now, true, calls[stack][deep].number, calls[stack][deep].frame);
				depth[stack]++;
				continue;
			}
			deep = --depth[stack];
			tell_frame(pairs, now, false, calls[stack][deep].number,
				calls[stack][deep].frame - next_random(&seed) % 64 * 8);
			last = &ended.spans[ended.count ? ended.count - 1 : 0];
			assert_int_equal(ended.count, ++whole);
			assert_true(last->kind == SPAN_PAIR && last->begin == calls[stack][deep].begun && !last->lost);
			assert_int_equal(last->number, SPAN_NUMBER(70, calls[stack][deep].number));
		}
		assert_true(whole > EVENTS / 3);
		assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
		pairs_free(pairs);
	}
}

static void frames_that_are_odd(void **state)
{
	const uint64_t top = 0xffff800000004000;
	struct pairs *pairs = begin(NULL);

	(void)state;
	tell_frame(pairs, 10, false, 1, top);			/* from before the first event */
	assert_true(ended.count == 1 && ended.spans[0].kind == SPAN_SINGLE);
	tell_frame(pairs, 20, true, 1, top);
	tell_frame(pairs, 30, false, 2, top);			/* of another function */
	tell_frame(pairs, 40, false, 1, top - FRAME_LAG);	/* too far away */
	tell_frame(pairs, 50, false, 1, top + 8);		/* the stack pointer never leads */
	assert_true(ended.count == 4 && ended.spans[3].kind == SPAN_SINGLE);
	tell_frame(pairs, 60, true, 1, top);			/* it had ended, or calls itself as its last deed */
	assert_int_equal(pairs_counts(pairs).beginnings, 1);
	assert_true(ended.count == 5 && ended.spans[4].begin == 20 && ended.spans[4].lost);
	tell_frame(pairs, 70, true, 1, top - 256);
	tell_frame(pairs, 80, false, 1, top - 64);		/* the inner one's end is missing */
	assert_true(ended.count == 6 && ended.spans[5].begin == 60 && !ended.spans[5].lost);
	tell_frame(pairs, 90, true, 1, 0xc0001ff0);
	tell_frame(pairs, 95, false, 1, 0xc0001fec);		/* 32 bits */
	assert_true(ended.count == 7 && ended.spans[6].begin == 90);

	/* What may have ended gives way to what surely goes on. */
	tell_frame(pairs, 100, true, 1, top - 512);
	tell(pairs, &(struct trace_event) { .time = 105, .cpu = 2, .lost = 1 });
	tell(pairs, &(struct trace_event) { .time = 106, .cpu = 2, .doubt = true });
	tell_frame(pairs, 110, true, 1, top - 500 + 4);
	tell_frame(pairs, 120, false, 1, top - 520);
	assert_true(ended.count == 8 && ended.spans[7].begin == 110 && !ended.spans[7].lost);
	pairs_free(pairs);
}

/* Of one thread alone all is told; that others run in between is neither a run nor a loss. */
static void one_thread_of_many(void **state)
{
	struct pairs *pairs = begin(NULL);
	const uint64_t switches[][4] = {
		{ 10, EVENT_OTHERS, 1, 0 }, { 20, 1, EVENT_OTHERS, LEAVES_ASLEEP },
		{ 40, EVENT_OTHERS, 1, LEAVES_ASLEEP }, { 50, 1, EVENT_OTHERS, LEAVES_READY },
	};
	uint64_t took[SPAN_KINDS] = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		tell(pairs, &(struct trace_event) { .time = switches[i][0], .role = ROLE_SWITCH,
			.values = { switches[i][1], switches[i][2], switches[i][3] } });
		if (i == 1)
			tell(pairs, &(struct trace_event) { .time = 33, .role = ROLE_WAKE, .values = { 1, 7 } });
	}
	pairs_end(pairs);
	for (size_t i = 0; i < ended.count; i++) {
		assert_int_equal(ended.spans[i].thread, 1);
		assert_false(ended.spans[i].lost);
		took[ended.spans[i].kind] += ended.spans[i].end - ended.spans[i].begin;
	}
	assert_true(took[SPAN_THREAD] == 20 && took[SPAN_SLEEP] == 13 && took[SPAN_READY] == 7);
	assert_int_equal(pairs_counts(pairs).beginnings + pairs_counts(pairs).ends, 0);
	assert_int_equal(pairs_thread(pairs, EVENT_OTHERS, 60).now.begin, 0);
	pairs_free(pairs);
}

/* Whoever makes up locks and pairs gets no more memory for them than there is. */
static void locks_beyond_number_are_forgotten(void **state)
{
	enum { MANY = 300000 };
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);
	struct pairs *pairs = begin(budget);

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		tell(pairs, &(struct trace_event) {
			.time = 1 + i, .role = ROLE_LOCK_ACQUIRED, .values = { i % 2 ? i : 9, 7 } });
		tell_other(pairs, 1 + i, ROLE_PAIR_BEGIN, 7, i);
	}
	assert_true(left - budget_left(budget) < (24 << 20));
	pairs_free(pairs);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

/* ---- rows ---- */

struct sum {
	uint64_t count, duration, last;
};

static void add_row(void *context, const struct span_row *row)
{
	struct sum *sum = context;

	sum->count++;
	sum->duration += row->duration;
	sum->last = row->end;
}

static struct sum sum_of(const struct span_rows *rows, uint64_t from, uint64_t to)
{
	struct sum sum = { .count = 0 };

	span_rows_read(rows, from, to, add_row, &sum);
	return sum;
}

/* A range has the spans that end in it; when memory is used up, the oldest are gone, and it is said since when. */
static void rows_of_a_range(void **state)
{
	enum { SPANS = 400000 };
	struct budget *budget = budget_new(64);
	struct span_rows *rows = span_rows_new(budget);
	const struct span_name *names;
	uint64_t from;

	(void)state;
	for (uint64_t i = 0; i < SPANS; i++)
		span_rows_add(rows, &(struct trace_span) {
			.kind = SPAN_CALL, .number = i % TYPES, .begin = 10 * i, .end = 10 * i + 3 });
	assert_int_equal(span_rows_names(rows, &names), TYPES);
	assert_int_equal(names[3].number, 3);
	from = span_rows_from(rows);
	assert_true(from > 0 && from < 10 * SPANS / 2 * 2);
	assert_int_equal(sum_of(rows, from, UINT64_MAX).count, SPANS - (from + 6) / 10);
	assert_int_equal(sum_of(rows, 0, from).count, 0);
	assert_int_equal(sum_of(rows, 10 * SPANS - 1000, 10 * SPANS - 500).count, 50);
	assert_int_equal(sum_of(rows, 10 * SPANS - 1000, 10 * SPANS - 500).duration, 150);
	assert_int_equal(span_rows_refused(rows), 0);
	for (uint64_t i = 0; i < 2 * SPAN_NAMES; i++)
		span_rows_add(rows, &(struct trace_span) { .kind = SPAN_INTERRUPT, .number = i });
	assert_int_equal(span_rows_refused(rows), SPAN_NAMES + TYPES);
	span_rows_free(rows);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_found),
		cmocka_unit_test(what_lacks_its_partner_is_counted),
		cmocka_unit_test(a_loss_ends_what_is_under_way),
		cmocka_unit_test(each_wait_is_found),
		cmocka_unit_test(no_wait_goes_on_over_what_is_not_known),
		cmocka_unit_test(a_change_ends_what_runs),
		cmocka_unit_test(switches_without_a_state_tell_no_waits),
		cmocka_unit_test(whatever_comes_is_survived),
		cmocka_unit_test(threads_beyond_number_are_forgotten),
		cmocka_unit_test(each_lock_is_followed),
		cmocka_unit_test(waits_without_holds),
		cmocka_unit_test(waits_within_waits),
		cmocka_unit_test(holds_that_are_odd),
		cmocka_unit_test(a_loss_that_is_told_too_early),
		cmocka_unit_test(softirqs_are_not_interrupts),
		cmocka_unit_test(other_events_pair_by_what_both_tell),
		cmocka_unit_test(other_events_that_are_odd),
		cmocka_unit_test(functions_pair_by_their_frames),
		cmocka_unit_test(frames_that_are_odd),
		cmocka_unit_test(one_thread_of_many),
		cmocka_unit_test(locks_beyond_number_are_forgotten),
		cmocka_unit_test(rows_of_a_range),
	};

	return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
