/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "pairs.h"

enum {
	NESTED = 16,			/* interrupts within each other */
	LOSSES = 16,			/* the newest ones: calls are seldom longer */
	TASKS = 1 << 16,		/* threads; when there are more, those that call nothing are forgotten */
	OPENS = 1 << 16,		/* locks and pairs; likewise, those that are not open */
	WAITS = 3,			/* of a thread for locks, within each other; see begin_lock_wait */
};

struct loss {				/* events of a CPU are missing between these times */
	uint64_t since, until;
};

struct losses {				/* of a CPU, or of all */
	struct loss list[LOSSES];	/* number i is at i % LOSSES */
	uint64_t count;
};

struct cpu {
	bool runs;			/* a thread is known to run: `thread` */
	struct trace_span thread;
	struct trace_span interrupts[NESTED];	/* the open ones, the innermost last; softirqs, too */
	uint32_t depth;
	bool released;			/* its last event was a lock's release */
	bool entered, irqs;		/* a handler, an interrupt has begun since its first event, or its last loss */
	uint64_t last;			/* time of its last event */
	struct losses losses;
	bool doubt;			/* those of the last one may also be missing from here on */
};

struct known {				/* what goes on; see is_known */
	bool on;			/* `span` has begun, and has not ended */
	bool told;			/* one before it was given to the sink */
	uint64_t gap;			/* pairs->gaps then; another number now: it is not known any more */
	struct trace_span span;		/* `begin` 0: there was none */
};

struct lock_wait {
	uint64_t lock, begin, holder;
	uint64_t gap;			/* as of a `struct known` */
	uint32_t cpu, stack;
};

struct task {				/* a thread, and what it does, as far as that is known */
	uint64_t thread;
	bool calls, told;		/* it is in the call `begun`; a call of it was given to the sink */
	struct trace_span begun;		/* `begin`: the time of its last event; 0: none has come */
	bool has_arguments;		/* of that call: `arguments` are known */
	uint64_t arguments[CALL_ARGUMENTS];
	bool ended;			/* its call, if it is in one, has ended it */
	uint32_t pair;			/* where in `opens` the last other pair is that it began; or elsewhere */
	struct known now;		/* it runs, sleeps, or is ready */
	struct lock_wait waits[WAITS];	/* for locks; the outermost first */
	uint32_t waiting;		/* so many go on; where none does, waits[0] is the last one that has ended */
	bool waited;			/* one was given to the sink */
	uint64_t woken, waker, wake_gap;	/* its last wake: the time, 0: none; by whom; pairs->gaps then */
	struct span_name woken_in;	/* as in struct pairs_thread; */
	uint32_t woken_at;		/* the waker's stack */
};

enum { KEY = ROLE_VALUES - PAIR_KEY };

struct open {				/* a lock; or two events that belong together, by what both tell */
	uint16_t pair;			/* as in struct trace_event; 0: it is a lock */
	uint32_t depth;			/* of a lock: so often it was acquired by who holds it */
	uint64_t key[KEY];		/* of a lock: its number */
	uint64_t begun[TRACE_VALUES];	/* the values of a pair's beginning */
	struct known known;		/* one thread holds it; the beginning has come */
};

struct pairs {
	struct budget *budget;
	struct pairs_sink sink;
	struct cpu **cpus;		/* NULL: nothing has come from it */
	uint32_t cpu_count;
	struct task *tasks;
	uint32_t task_count, task_room;
	struct hash by_thread;		/* of `tasks` */
	struct open *opens;
	uint32_t open_count, open_room;
	struct hash by_key;		/* of `opens` */
	struct losses changes;		/* other events were traced from then on */
	uint64_t gaps;			/* losses of CPUs so far: what threads did meanwhile is not known */
	uint32_t doubts;		/* CPUs with `doubt` */
	bool wakes;			/* a wake has come since the last gap */
	struct pairs_counts counts;
};

struct pairs *pairs_new(struct budget *budget, const struct pairs_sink *sink)
{
	struct pairs *pairs = util_alloc(sizeof(*pairs));

	pairs->budget = budget;
	pairs->sink = *sink;
	hash_init(&pairs->by_thread, budget);
	hash_init(&pairs->by_key, budget);
	return pairs;
}

void pairs_free(struct pairs *pairs)
{
	if (!pairs)
		return;
	for (uint32_t i = 0; i < pairs->cpu_count; i++)
		budget_free(pairs->budget, pairs->cpus[i], pairs->cpus[i] ? sizeof(struct cpu) : 0);
	hash_clear(&pairs->by_thread);
	hash_clear(&pairs->by_key);
	budget_free(pairs->budget, pairs->tasks, pairs->task_room * sizeof(*pairs->tasks));
	budget_free(pairs->budget, pairs->opens, pairs->open_room * sizeof(*pairs->opens));
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

static void meet_alone(const struct pairs *pairs)
{
	if (pairs->sink.alone)
		pairs->sink.alone(pairs->sink.context);
}

/* ---- losses ---- */

/* The first one that is kept, is over behind `from`, and has begun before `to`. NULL: there is none. */
static const struct loss *first_between(const struct losses *losses, uint64_t from, uint64_t to)
{
	for (uint64_t i = losses->count > LOSSES ? losses->count - LOSSES : 0; i < losses->count; i++) {
		const struct loss *loss = &losses->list[i % LOSSES];

		if (loss->until > from)
			return loss->since < to ? loss : NULL;
	}
	return NULL;
}

/* Of a CPU, or of all; likewise. */
static const struct loss *loss_between(const struct pairs *pairs, uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct cpu *own = cpu < pairs->cpu_count ? pairs->cpus[cpu] : NULL;
	const struct loss *loss = own ? first_between(&own->losses, from, to) : NULL;
	const struct loss *change = first_between(&pairs->changes, from, to);

	return !loss || (change && change->since < loss->since) ? change : loss;
}

/* Nothing has been missing since it began, up to this time: it still goes on. */
static bool is_known(const struct pairs *pairs, const struct known *known, uint64_t time)
{
	return known->on && known->gap == pairs->gaps && !first_between(&pairs->changes, known->span.begin, time);
}

/* The last one has ended, and nothing has been missing since it began: another end would lack its beginning. */
static bool has_ended(const struct pairs *pairs, const struct known *known, uint64_t time)
{
	return !known->on && known->span.begin && known->gap == pairs->gaps &&
		!first_between(&pairs->changes, known->span.begin, time);
}

static bool is_wait_known(const struct pairs *pairs, const struct lock_wait *wait, uint64_t time)
{
	return wait->gap == pairs->gaps && !first_between(&pairs->changes, wait->begin, time);
}

/* So many of its waits, the last ones, are known to go on: those that began later are known for longer. */
static uint32_t known_waits(const struct pairs *pairs, const struct task *task, uint64_t time)
{
	uint32_t count = task->waiting;

	while (count && !is_wait_known(pairs, &task->waits[task->waiting - count], time))
		count--;
	return count;
}

/*
 * The number of the gap in which something begins, for is_known. While it is in doubt where events are missing, they
 * may be missing from then on: nothing that begins is known.
 */
static uint64_t gap_now(const struct pairs *pairs)
{
	return pairs->doubts ? UINT64_MAX : pairs->gaps;
}

static void begin_known(const struct pairs *pairs, struct known *known, const struct trace_span *span)
{
	*known = (struct known) { .on = true, .told = known->told, .gap = gap_now(pairs), .span = *span };
}

static void end_known(struct pairs *pairs, struct known *known, uint64_t time)
{
	known->on = false;
	known->span.first = !known->told;
	known->told = true;
	end_span(pairs, &known->span, time > known->span.begin ? time : known->span.begin, false);
}

/* ---- threads, by their numbers ---- */

/* Forgets the threads that are in no call; if few are, all. */
static void forget_tasks(struct pairs *pairs)
{
	uint32_t kept = 0;

	hash_clear(&pairs->by_thread);
	for (uint32_t i = 0; i < pairs->task_count; i++)
		if (pairs->tasks[i].calls)
			pairs->tasks[kept++] = pairs->tasks[i];
		else
			pairs->counts.beginnings += known_waits(pairs, &pairs->tasks[i], UINT64_MAX) +
				(is_known(pairs, &pairs->tasks[i].now, UINT64_MAX) &&
				pairs->tasks[i].now.span.kind != SPAN_THREAD);
	if (kept > TASKS / 2) {
		pairs->counts.beginnings += kept;
		kept = 0;
	}
	for (pairs->task_count = 0; pairs->task_count < kept; pairs->task_count++) {
		uint64_t thread = pairs->tasks[pairs->task_count].thread;

		if (!hash_add(&pairs->by_thread, hash_pair(&pairs->by_thread, thread, 0), pairs->task_count))
			break;
	}
	pairs->counts.beginnings += kept - pairs->task_count;
}

/* NULL: nothing has come of it. */
static struct task *find_task(const struct pairs *pairs, uint64_t thread)
{
	uint64_t hash = hash_pair(&pairs->by_thread, thread, 0);
	uint32_t at = 0, position;

	while ((position = hash_next(&pairs->by_thread, hash, &at)) != HASH_NONE)
		if (pairs->tasks[position].thread == thread)
			return &pairs->tasks[position];
	return NULL;
}

/* NULL: no memory. */
static struct task *task_of(struct pairs *pairs, uint64_t thread)
{
	struct task *task = find_task(pairs, thread), *list;

	if (task)
		return task;
	if (pairs->task_count == TASKS)
		forget_tasks(pairs);
	list = budget_array(pairs->budget, pairs->tasks, pairs->task_count, &pairs->task_room, sizeof(*list));
	if (!list)
		return NULL;
	pairs->tasks = list;
	if (!hash_add(&pairs->by_thread, hash_pair(&pairs->by_thread, thread, 0), pairs->task_count))
		return NULL;
	list[pairs->task_count] = (struct task) { .thread = thread };
	return &list[pairs->task_count++];
}

/* ---- what threads do ---- */

static void begin_now(struct pairs *pairs, struct task *task, const struct trace_event *event, enum span_kind kind,
	uint64_t number)
{
	begin_known(pairs, &task->now, &(struct trace_span) {
		.kind = kind, .cpu = event->cpu, .thread = task->thread, .number = number, .begin = event->time,
		.stack = event->stack,
	});
}

/* It leaves its CPU. A guest that does not tell how tells nothing of waits. */
static void leave(struct pairs *pairs, const struct trace_event *event)
{
	uint64_t leaves = event->values[2];
	bool told = event->values[0] != EVENT_NONE && event->values[0] != EVENT_OTHERS;
	struct task *task = told ? task_of(pairs, event->values[0]) : NULL;

	pairs->counts.refused += !task && told;
	if (!task)
		return;
	task->now.on = false;
	if (leaves == LEAVES_READY)
		begin_now(pairs, task, event, SPAN_READY, READY_PREEMPTED);
	else if (leaves == LEAVES_ASLEEP || leaves == LEAVES_BLOCKED)
		begin_now(pairs, task, event, SPAN_SLEEP, leaves == LEAVES_BLOCKED ? SLEEP_BLOCKED : SLEEP_ANY);
	else if (leaves == LEAVES_DEAD)
		task->ended = true;
}

/* It gets a CPU. If it sleeps, its wake is missing, or none are traced. */
static void arrive(struct pairs *pairs, const struct trace_event *event)
{
	bool told = event->values[1] != EVENT_NONE && event->values[1] != EVENT_OTHERS;
	struct task *task = told ? task_of(pairs, event->values[1]) : NULL;

	pairs->counts.refused += !task && told;
	if (!task)
		return;
	if (is_known(pairs, &task->now, event->time) && task->now.span.kind == SPAN_READY) {
		task->now.span.cpu = event->cpu;
		end_known(pairs, &task->now, event->time);
	}
	pairs->counts.beginnings += is_known(pairs, &task->now, event->time) && task->now.span.kind == SPAN_SLEEP &&
		pairs->wakes;
	task->ended = false;			/* it is another one, with its number */
	begin_now(pairs, task, event, SPAN_THREAD, 0);
	task->now.span.stack = 0;		/* that of the thread before */
}

/* The innermost handler on the CPU. NULL: there is none; or an interrupt may be within it, since none is traced. */
static const struct trace_span *handler_on(const struct cpu *cpu)
{
	return cpu->depth && cpu->irqs ? &cpu->interrupts[cpu->depth - 1] : NULL;
}

/* Values: thread, waker. One that is not known to sleep may be about to: then it is ready when it leaves its CPU. */
static void add_wake(struct pairs *pairs, const struct cpu *cpu, const struct trace_event *event)
{
	const struct trace_span *in = event->values[1] == EVENT_NONE ? handler_on(cpu) : NULL;
	struct task *task = task_of(pairs, event->values[0]);

	pairs->wakes = true;
	pairs->counts.refused += !task;
	if (!task)
		return;
	task->woken = event->time;
	task->waker = event->values[1];
	task->wake_gap = gap_now(pairs);
	task->woken_in = in ? (struct span_name) { in->kind, in->number } : (struct span_name) { .number = 0 };
	task->woken_at = event->stack;
	if (!is_known(pairs, &task->now, event->time) || task->now.span.kind != SPAN_SLEEP)
		return;
	task->now.span.woken_at = event->stack;
	end_known(pairs, &task->now, event->time);
	begin_now(pairs, task, event, SPAN_READY, READY_WOKEN);
	task->now.span.waker = event->values[1];
	task->now.span.woken_on = event->cpu;
	task->now.span.woken_in = (uint32_t)task->woken_in.number;
	task->now.span.woken_in_kind = (uint8_t)task->woken_in.kind;
}

/* ---- threads on CPUs ---- */

static void end_thread(struct pairs *pairs, struct cpu *cpu, uint64_t time, bool lost)
{
	if (cpu->runs)
		end_span(pairs, &cpu->thread, time, lost);
	cpu->runs = false;
}

/* Values: from, to, how `from` leaves. */
static void add_switch(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event)
{
	bool follows = cpu->thread.thread == event->values[0];

	pairs->counts.beginnings += cpu->runs && !follows;
	end_thread(pairs, cpu, follows ? event->time : cpu->last, !follows);
	cpu->thread = (struct trace_span) {
		.kind = SPAN_THREAD, .cpu = event->cpu, .thread = event->values[1], .begin = event->time,
	};
	cpu->runs = event->values[1] != EVENT_OTHERS;
	if (cpu->runs)
		pairs->sink.begin(pairs->sink.context, &cpu->thread);
	leave(pairs, event);
	arrive(pairs, event);
}

/* ---- interrupts, softirqs ---- */

static void end_interrupts(struct pairs *pairs, struct cpu *cpu, uint32_t left, uint64_t time, bool lost)
{
	while (cpu->depth > left)
		end_span(pairs, &cpu->interrupts[--cpu->depth], time, lost);
}

/* Value: its number. */
static void begin_interrupt(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event, enum span_kind kind)
{
	if (cpu->depth == NESTED) {
		pairs->counts.beginnings += NESTED;
		end_interrupts(pairs, cpu, 0, cpu->last, true);
	}
	cpu->interrupts[cpu->depth] = (struct trace_span) {
		.kind = kind, .cpu = event->cpu, .number = event->values[0], .begin = event->time - event->before,
		.stack = event->stack,
	};
	cpu->entered = true;
	cpu->irqs = cpu->irqs || kind == SPAN_INTERRUPT;
	pairs->sink.begin(pairs->sink.context, &cpu->interrupts[cpu->depth++]);
}

/* The ends of those that are inside of it are missing; or its own beginning is. */
static void end_interrupt(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event, enum span_kind kind)
{
	uint32_t depth = cpu->depth;

	while (depth && (cpu->interrupts[depth - 1].number != event->values[0] ||
			cpu->interrupts[depth - 1].kind != kind))
		depth--;
	if (depth == 0) {
		pairs->counts.ends += cpu->entered;
		meet_alone(pairs);
		return;
	}
	pairs->counts.beginnings += cpu->depth - depth;
	end_interrupts(pairs, cpu, depth, cpu->last, true);
	end_interrupts(pairs, cpu, depth - 1, event->time, false);
}

/* In doubt, events of the CPU are missing from its last loss up to here. */
static void add_loss(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event)
{
	uint64_t since = cpu->doubt ? cpu->losses.list[(cpu->losses.count - 1) % LOSSES].since : cpu->last;

	pairs->doubts += (event->lost && event->doubt) - (uint32_t)cpu->doubt;
	cpu->doubt = event->lost && event->doubt;
	end_thread(pairs, cpu, cpu->last, true);
	end_interrupts(pairs, cpu, 0, cpu->last, true);
	cpu->entered = cpu->irqs = false;
	pairs->gaps++;
	pairs->wakes = false;
	cpu->losses.list[cpu->losses.count++ % LOSSES] = (struct loss) { .since = since, .until = event->time };
}

/* Other events are traced from some time before this one on: what was under way may have ended untold. */
static void pass_change(struct pairs *pairs, struct cpu *cpu, uint64_t time)
{
	if (!first_between(&pairs->changes, cpu->last, time))
		return;
	end_thread(pairs, cpu, cpu->last, true);
	end_interrupts(pairs, cpu, 0, cpu->last, true);
	cpu->entered = cpu->irqs = false;
}

/* ---- locks, and pairs of other events, by what tells them apart ---- */

/* Of all words but the last one. */
static uint64_t hash_first(const struct pairs *pairs, uint16_t pair, const uint64_t key[KEY])
{
	uint64_t hash = pair;

	for (int i = 0; i < KEY - 1; i++)
		hash = hash_pair(&pairs->by_key, hash, key[i]);
	return hash;
}

static uint64_t hash_key(const struct pairs *pairs, uint16_t pair, const uint64_t key[KEY])
{
	return hash_pair(&pairs->by_key, hash_first(pairs, pair, key), key[KEY - 1]);
}

/* Forgets those that are not open; if few are, all. */
static void forget_opens(struct pairs *pairs)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < pairs->open_count; i++)
		if (is_known(pairs, &pairs->opens[i].known, UINT64_MAX))
			pairs->opens[kept++] = pairs->opens[i];
	if (kept > OPENS / 2) {
		pairs->counts.beginnings += kept;
		kept = 0;
	}
	hash_clear(&pairs->by_key);
	for (pairs->open_count = 0; pairs->open_count < kept; pairs->open_count++) {
		const struct open *open = &pairs->opens[pairs->open_count];

		if (!hash_add(&pairs->by_key, hash_key(pairs, open->pair, open->key), pairs->open_count))
			break;
	}
	pairs->counts.beginnings += kept - pairs->open_count;
}

static struct open *find_hashed(const struct pairs *pairs, uint64_t hash, uint16_t pair, const uint64_t key[KEY])
{
	uint32_t at = 0, position;

	while ((position = hash_next(&pairs->by_key, hash, &at)) != HASH_NONE)
		if (pairs->opens[position].pair == pair &&
				memcmp(pairs->opens[position].key, key, sizeof(pairs->opens->key)) == 0)
			return &pairs->opens[position];
	return NULL;
}

/* NULL: nothing has come of it. */
static struct open *find_open(const struct pairs *pairs, uint16_t pair, const uint64_t key[KEY])
{
	return find_hashed(pairs, hash_key(pairs, pair, key), pair, key);
}

/* NULL: no memory. */
static struct open *have_open(struct pairs *pairs, uint16_t pair, const uint64_t key[KEY])
{
	struct open *open = find_open(pairs, pair, key), *list;

	if (open)
		return open;
	if (pairs->open_count == OPENS)
		forget_opens(pairs);
	list = budget_array(pairs->budget, pairs->opens, pairs->open_count, &pairs->open_room, sizeof(*list));
	if (!list)
		return NULL;
	pairs->opens = list;
	if (!hash_add(&pairs->by_key, hash_key(pairs, pair, key), pairs->open_count))
		return NULL;
	list[pairs->open_count] = (struct open) { .pair = pair };
	memcpy(list[pairs->open_count].key, key, sizeof(list->key));
	return &list[pairs->open_count++];
}

static struct open *find_lock(const struct pairs *pairs, uint64_t number)
{
	return find_open(pairs, 0, (const uint64_t[KEY]) { number });
}

/* ---- locks ---- */

/* Who holds the lock; if its events do not say that, `told`. EVENT_NONE: nobody, or not known. */
static uint64_t holder_of(const struct pairs *pairs, uint64_t number, uint64_t told, uint64_t time)
{
	const struct open *lock = find_lock(pairs, number);

	if (lock && is_known(pairs, &lock->known, time))
		return lock->known.span.thread;
	if (lock && has_ended(pairs, &lock->known, time))
		return EVENT_NONE;			/* it was released */
	return told < EVENT_NONE ? told : EVENT_NONE;
}

static struct trace_span span_of_wait(const struct task *task, const struct lock_wait *wait)
{
	return (struct trace_span) {
		.kind = SPAN_LOCK, .cpu = wait->cpu, .thread = task->thread, .number = wait->lock,
		.begin = wait->begin, .holder = wait->holder, .stack = wait->stack, .first = !task->waited,
	};
}

/* Forgets what is not known any more; of what goes on behind a wait for this lock, the end is missing. NULL: none. */
static struct lock_wait *find_wait(struct pairs *pairs, struct task *task, uint64_t lock, uint64_t time)
{
	uint32_t known = known_waits(pairs, task, time);

	memmove(task->waits, task->waits + task->waiting - known, known * sizeof(task->waits[0]));
	task->waiting = known;
	for (uint32_t i = 0; i < task->waiting; i++) {
		if (task->waits[i].lock != lock)
			continue;
		pairs->counts.beginnings += task->waiting - i - 1;
		task->waiting = i + 1;
		return &task->waits[i];
	}
	return NULL;
}

/*
 * An end without a beginning may be of a wait that goes on since before anything was traced, around those that are
 * known; but not where the last one was for this lock, too. Returns the stack of the wait
 * that has ended; if there is none, `stack`.
 */
static uint32_t end_lock_wait(struct pairs *pairs, struct task *task, const struct trace_event *event,
	uint32_t stack)
{
	struct lock_wait *wait = find_wait(pairs, task, event->values[0], event->time);
	struct trace_span span;

	if (!wait) {
		pairs->counts.ends += event->role == ROLE_LOCK_WAITED && !task->waiting && task->waits[0].begin &&
			task->waits[0].lock == event->values[0] && is_wait_known(pairs, task->waits, event->time);
		if (event->role == ROLE_LOCK_WAITED)
			meet_alone(pairs);
		return stack;
	}
	span = span_of_wait(task, wait);
	task->waiting--;
	task->waited = true;
	end_span(pairs, &span, event->time > span.begin ? event->time : span.begin, false);
	return span.stack;
}

/*
 * Values: lock, thread, who holds the lock. A second one goes on with the same wait: first it spins, then it sleeps.
 * One for another lock is within it: a thread that goes to sleep may have to spin for a lock of the scheduler.
 */
static void begin_lock_wait(struct pairs *pairs, struct task *task, const struct trace_event *event)
{
	struct lock_wait *wait = find_wait(pairs, task, event->values[0], event->time);
	uint64_t holder = holder_of(pairs, event->values[0], event->values[2], event->time);

	if (!wait && task->waiting == WAITS) {
		pairs->counts.beginnings++;
		memmove(task->waits, task->waits + 1, --task->waiting * sizeof(task->waits[0]));
	}
	if (!wait) {
		wait = &task->waits[task->waiting++];
		*wait = (struct lock_wait) {
			.lock = event->values[0], .begin = event->time, .holder = EVENT_NONE, .gap = gap_now(pairs),
			.cpu = event->cpu, .stack = event->stack,
		};
	}
	if (holder != EVENT_NONE)
		wait->holder = holder;
}

/*
 * Where another thread holds the lock, its release is missing. Who has waited took the lock where it began to wait: the
 * event may be of the thread that gave it the lock, as one behind a release of its CPU always may.
 */
static void acquire(struct pairs *pairs, struct cpu *cpu, struct task *task, const struct trace_event *event)
{
	struct open *lock = have_open(pairs, 0, (const uint64_t[KEY]) { event->values[0] });
	uint32_t stack = end_lock_wait(pairs, task, event, cpu->released ? 0 : event->stack);

	pairs->counts.refused += !lock;
	if (!lock)
		return;
	if (is_known(pairs, &lock->known, event->time)) {
		lock->depth++;
		if (lock->known.span.thread == task->thread)
			return;
		pairs->counts.beginnings++;
	}
	lock->depth = 1;
	begin_known(pairs, &lock->known, &(struct trace_span) {
		.kind = SPAN_HOLD, .cpu = event->cpu, .thread = task->thread, .number = event->values[0],
		.begin = event->time, .stack = stack,
	});
}

/* Whoever releases it: a thread may do that for another one. */
static void release(struct pairs *pairs, const struct trace_event *event)
{
	struct open *lock = find_lock(pairs, event->values[0]);

	if (!lock || !is_known(pairs, &lock->known, event->time)) {
		pairs->counts.ends += lock && has_ended(pairs, &lock->known, event->time);
		meet_alone(pairs);
	} else if (--lock->depth == 0) {
		end_known(pairs, &lock->known, event->time);
	}
}

/* Values: lock, thread. What an interrupt waits for or holds is of no thread. */
static void add_lock(struct pairs *pairs, struct cpu *cpu, const struct trace_event *event)
{
	struct task *task = event->values[1] == EVENT_NONE ? NULL : task_of(pairs, event->values[1]);

	pairs->counts.refused += !task && event->values[1] != EVENT_NONE;
	if (!task)
		return;
	if (event->role == ROLE_LOCK_WAIT)
		begin_lock_wait(pairs, task, event);
	else if (event->role == ROLE_LOCK_WAITED)
		end_lock_wait(pairs, task, event, 0);
	else if (event->role == ROLE_LOCK_ACQUIRED)
		acquire(pairs, cpu, task, event);
	else
		release(pairs, event);
}

/* ---- other events ---- */

/* An event that tells no thread is of the one that its CPU runs, where interrupts are traced, and none is under way. */
static struct trace_span span_of_event(const struct cpu *cpu, const struct trace_event *event,
	const uint64_t values[ROLE_VALUES], enum span_kind kind)
{
	bool runs = cpu->runs && cpu->entered && !cpu->depth;
	uint64_t thread = values[PAIR_THREAD] != TRACE_NO_VALUE ? values[PAIR_THREAD] :
		runs ? cpu->thread.thread : EVENT_NONE;

	return (struct trace_span) {
		.kind = kind, .cpu = event->cpu, .thread = thread, .begin = event->time, .end = event->time,
		.number = SPAN_NUMBER(kind == SPAN_PAIR ? event->pair : event->id, values[PAIR_NUMBER]),
		.stack = event->stack,
	};
}

/* Of a framed pair: its number, and the frame as the last word. */
static void frame_key(const uint64_t values[ROLE_VALUES], uint64_t key[KEY])
{
	memset(key, 0, KEY * sizeof(*key));
	key[0] = values[PAIR_NUMBER];
	key[KEY - 1] = values[PAIR_KEY];
}

/*
 * The one that this frame ends: the lowest that goes on at it, or less than FRAME_LAG above. One of which it is not
 * known whether it goes on gives way to others. NULL: there is none.
 */
static struct open *find_frame(const struct pairs *pairs, const struct trace_event *event,
	const uint64_t values[ROLE_VALUES])
{
	uint64_t key[KEY], step = values[PAIR_KEY] >> 32 ? 8 : 4;	/* bytes: stack pointers are aligned so */
	struct open *unsure = NULL;
	uint64_t first;

	frame_key(values, key);
	first = hash_first(pairs, event->pair, key);
	for (uint64_t lag = 0; lag < FRAME_LAG; lag += step, key[KEY - 1] += step) {
		struct open *open = find_hashed(pairs, hash_pair(&pairs->by_key, first, key[KEY - 1]), event->pair,
			key);

		if (open && is_known(pairs, &open->known, event->time))
			return open;
		unsure = !unsure && open && open->known.on ? open : unsure;
	}
	return unsure;
}

/* What has no partner stands alone. Where events are missing since the beginning, this end may be another one's. */
static void end_pair(struct pairs *pairs, const struct cpu *cpu, const struct trace_event *event,
	const uint64_t values[ROLE_VALUES])
{
	struct open *open = event->role == ROLE_FRAME_END ? find_frame(pairs, event, values) :
		find_open(pairs, event->pair, values + PAIR_KEY);
	struct trace_span alone = span_of_event(cpu, event, values, SPAN_SINGLE);

	if (open && is_known(pairs, &open->known, event->time)) {
		open->known.span.arguments = open->begun;
		open->known.span.results = event->values;
		open->known.span.ended_by = event->id;
		end_known(pairs, &open->known, event->time);
	} else if (open && open->known.on) {
		open->known.on = false;
		end_span(pairs, &open->known.span, event->time, true);
	} else {
		pairs->counts.ends += open && has_ended(pairs, &open->known, event->time);
		end_span(pairs, &alone, event->time, false);
		meet_alone(pairs);
	}
}

/* Where the same has begun already, its end is missing. */
static void add_other(struct pairs *pairs, const struct cpu *cpu, const struct trace_event *event)
{
	uint64_t values[ROLE_VALUES], key[KEY];
	struct trace_span span;
	struct open *open;
	struct task *task;

	trace_kind_role_values(event->role_values, event->values, values);
	span = span_of_event(cpu, event, values, event->role == ROLE_SINGLE ? SPAN_SINGLE : SPAN_PAIR);
	if (event->role == ROLE_SINGLE) {
		end_span(pairs, &span, event->time, false);
		return;
	}
	if (event->role == ROLE_PAIR_END || event->role == ROLE_FRAME_END) {
		end_pair(pairs, cpu, event, values);
		return;
	}
	memcpy(key, values + PAIR_KEY, sizeof(key));
	if (event->role == ROLE_FRAME_BEGIN)
		frame_key(values, key);
	open = have_open(pairs, event->pair, key);
	pairs->counts.refused += !open;
	if (!open)
		return;
	if (open->known.on) {
		pairs->counts.beginnings += is_known(pairs, &open->known, event->time);
		end_span(pairs, &open->known.span, event->time, true);
	}
	begin_known(pairs, &open->known, &span);
	memcpy(open->begun, event->values, sizeof(open->begun));
	task = find_task(pairs, span.thread);
	if (task)
		task->pair = (uint32_t)(open - pairs->opens);
}

/* ---- system calls ---- */

static void end_call(struct pairs *pairs, struct task *task, uint64_t time, bool lost)
{
	task->begun.first = !task->told;
	task->begun.arguments = task->has_arguments ? task->arguments : NULL;
	end_span(pairs, &task->begun, time > task->begun.begin ? time : task->begun.begin, lost);
	task->told = true;
}

/* Ends a thread's call at the first loss on the two CPUs where its end may have been. False: there is none. */
static bool end_at_loss(struct pairs *pairs, struct task *task, uint32_t cpu, uint64_t time)
{
	const struct trace_span *begun = &task->begun;
	const struct loss *own = loss_between(pairs, begun->cpu, begun->begin, time);
	const struct loss *other = loss_between(pairs, cpu, begun->begin, time);

	if (!own || (other && other->since < own->since))
		own = other;
	if (own)
		end_call(pairs, task, own->since, true);
	task->calls = task->calls && !own;
	return own;
}

/* It has begun before anything was traced, or where events were lost. */
static bool may_lack_beginning(const struct pairs *pairs, const struct task *task, const struct trace_event *event)
{
	uint64_t from = task->begun.begin;

	return !from || loss_between(pairs, task->begun.cpu, from, event->time) ||
		loss_between(pairs, event->cpu, from, event->time);
}

/* Values: thread, number, and the result of an end. */
static void add_call(struct pairs *pairs, const struct trace_event *event)
{
	struct task *task = task_of(pairs, event->values[0]);
	bool ends = event->role == ROLE_CALL_END;

	if (!task) {
		pairs->counts.refused++;
		return;
	}
	if (task->calls && end_at_loss(pairs, task, event->cpu, event->time)) {
		if (ends)			/* it may be of another one */
			meet_alone(pairs);
	} else if (task->calls && ends && task->begun.number == event->values[1]) {
		task->begun.result = event->values[2];
		end_call(pairs, task, event->time, false);
	} else {
		pairs->counts.beginnings += task->calls;
		pairs->counts.ends += ends && !may_lack_beginning(pairs, task, event);
		if (ends)
			meet_alone(pairs);
	}
	task->calls = !ends;
	task->begun = (struct trace_span) {
		.kind = SPAN_CALL, .cpu = event->cpu, .thread = event->values[0], .number = event->values[1],
		.begin = event->time - event->before, .stack = event->stack,
	};
	task->has_arguments = event->arguments;
	memcpy(task->arguments, event->values + ROLE_VALUES - CALL_ARGUMENTS, sizeof(task->arguments));
}

/* ---- all events ---- */

void pairs_add(struct pairs *pairs, const struct trace_event *event)
{
	struct cpu *cpu = cpu_of(pairs, event->cpu);
	const struct pairs_counts counts = pairs->counts;

	if (!cpu) {
		pairs->counts.refused++;
		return;
	}
	pass_change(pairs, cpu, event->time);
	if (event->lost || event->doubt)
		add_loss(pairs, cpu, event);
	else if (event->role == ROLE_SWITCH)
		add_switch(pairs, cpu, event);
	else if (event->role == ROLE_WAKE)
		add_wake(pairs, cpu, event);
	else if (event->role == ROLE_IRQ_BEGIN || event->role == ROLE_SOFTIRQ_BEGIN)
		begin_interrupt(pairs, cpu, event,
			event->role == ROLE_IRQ_BEGIN ? SPAN_INTERRUPT : SPAN_SOFTIRQ);
	else if (event->role == ROLE_IRQ_END || event->role == ROLE_SOFTIRQ_END)
		end_interrupt(pairs, cpu, event, event->role == ROLE_IRQ_END ? SPAN_INTERRUPT : SPAN_SOFTIRQ);
	else if (event->role == ROLE_CALL_BEGIN || event->role == ROLE_CALL_END)
		add_call(pairs, event);
	else if (event->role >= ROLE_PAIR_BEGIN)
		add_other(pairs, cpu, event);
	else if (event->role >= ROLE_LOCK_WAIT)
		add_lock(pairs, cpu, event);
	cpu->released = event->role == ROLE_LOCK_RELEASED;
	cpu->last = event->time;
	if (pairs->doubts) {			/* the other one may be among those that are missing */
		pairs->counts.beginnings = counts.beginnings;
		pairs->counts.ends = counts.ends;
	}
}

void pairs_changed(struct pairs *pairs, uint64_t time)
{
	pairs->changes.list[pairs->changes.count++ % LOSSES] = (struct loss) { .since = time, .until = time };
}

/* As far as nothing is missing anywhere behind this time, at which something began. */
static uint64_t known_until(const struct pairs *pairs, uint64_t begin)
{
	const struct loss *change = first_between(&pairs->changes, begin, UINT64_MAX);
	uint64_t until = change ? change->since : UINT64_MAX;

	for (uint32_t i = 0; i < pairs->cpu_count; i++) {
		const struct cpu *cpu = pairs->cpus[i];
		const struct loss *loss = cpu ? first_between(&cpu->losses, begin, UINT64_MAX) : NULL;

		until = loss && loss->since < until ? loss->since : until;
	}
	return until > begin && until != UINT64_MAX ? until : begin;
}

/* Nothing that the guest told is later. */
static uint64_t newest_of(const struct pairs *pairs)
{
	uint64_t newest = 0;

	for (uint32_t i = 0; i < pairs->cpu_count; i++)
		if (pairs->cpus[i] && pairs->cpus[i]->last > newest)
			newest = pairs->cpus[i]->last;
	return newest;
}

static void tell_unknown(const struct trace_span *begun, uint64_t until, uint64_t newest,
	void (*each)(void *context, const struct trace_span *span), void *context)
{
	struct trace_span span = *begun;

	span.end = until > span.begin ? until : span.begin;
	span.lost = span.end < newest;
	each(context, &span);
}

void pairs_unknown(const struct pairs *pairs, void (*each)(void *context, const struct trace_span *span),
	void *context)
{
	uint64_t newest = newest_of(pairs);

	for (uint32_t i = 0; i < pairs->task_count; i++) {
		const struct task *task = &pairs->tasks[i];
		const struct trace_span *now = &task->now.span;
		const struct loss *loss = loss_between(pairs, task->begun.cpu, task->begun.begin, UINT64_MAX);

		if (task->now.on && now->kind != SPAN_THREAD && !is_known(pairs, &task->now, UINT64_MAX))
			tell_unknown(now, known_until(pairs, now->begin), newest, each, context);
		for (uint32_t k = 0; k < task->waiting - known_waits(pairs, task, UINT64_MAX); k++) {
			const struct trace_span wait = span_of_wait(task, &task->waits[k]);

			tell_unknown(&wait, known_until(pairs, wait.begin), newest, each, context);
		}
		if (task->calls && !task->ended && loss)
			tell_unknown(&task->begun, loss->since, newest, each, context);
	}
	for (uint32_t i = 0; i < pairs->open_count; i++) {
		const struct known *known = &pairs->opens[i].known;

		if (known->on && !is_known(pairs, known, UINT64_MAX))
			tell_unknown(&known->span, known_until(pairs, known->span.begin), newest, each, context);
	}
}

/* Calls were ended where events were lost. */
static void end_unknown(void *context, const struct trace_span *span)
{
	struct pairs *pairs = context;
	struct trace_span ended = *span;

	if (span->kind != SPAN_CALL)
		end_span(pairs, &ended, ended.end, true);
}

void pairs_end(struct pairs *pairs)
{
	for (uint32_t i = 0; i < pairs->cpu_count; i++)
		if (pairs->cpus[i]) {
			end_thread(pairs, pairs->cpus[i], pairs->cpus[i]->last, false);
			end_interrupts(pairs, pairs->cpus[i], 0, pairs->cpus[i]->last, true);
		}
	for (uint32_t i = 0; i < pairs->task_count; i++)
		if (pairs->tasks[i].calls)
			end_at_loss(pairs, &pairs->tasks[i], pairs->tasks[i].begun.cpu, UINT64_MAX);
	pairs_unknown(pairs, end_unknown, pairs);
}

bool pairs_lost(const struct pairs *pairs, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < pairs->cpu_count; i++)
		if (pairs->cpus[i] && first_between(&pairs->cpus[i]->losses, from, to))
			return true;
	return false;
}

/* Before events were lost, it was known. */
static bool is_lost(const struct pairs *pairs, const struct known *known)
{
	return known->on && known->gap != pairs->gaps;
}

struct pairs_thread pairs_thread(const struct pairs *pairs, uint64_t thread, uint64_t now)
{
	const struct task *task = find_task(pairs, thread);
	struct pairs_thread is = { .woken = 0 };
	const struct open *open;

	if (!task)
		return is;
	open = task->pair < pairs->open_count ? &pairs->opens[task->pair] : NULL;
	if (open && open->pair && open->known.span.thread == thread && is_known(pairs, &open->known, now))
		is.pair = open->known.span;
	if (task->calls && !task->ended && !loss_between(pairs, task->begun.cpu, task->begun.begin, UINT64_MAX))
		is.call = task->begun;
	if (is_known(pairs, &task->now, now))
		is.now = task->now.span;
	if (known_waits(pairs, task, now)) {
		is.wait = span_of_wait(task, &task->waits[task->waiting - 1]);
		is.wait.holder = holder_of(pairs, is.wait.number, is.wait.holder, now);
	}
	if (task->wake_gap == pairs->gaps) {
		is.woken = task->woken;
		is.waker = task->waker;
		is.woken_in = task->woken_in;
		is.woken_at = task->woken_at;
	}
	open = is.wait.begin ? find_lock(pairs, is.wait.number) : NULL;
	is.lost = !is.wait.begin && is_lost(pairs, &task->now);
	is.other_lost = is.wait.begin ? is.wait.holder == EVENT_NONE && open && is_lost(pairs, &open->known) :
		task->woken && task->wake_gap != pairs->gaps;
	return is;
}

struct trace_span pairs_hold(const struct pairs *pairs, uint64_t number, uint64_t now)
{
	const struct open *lock = find_lock(pairs, number);

	return lock && is_known(pairs, &lock->known, now) ? lock->known.span : (struct trace_span) { .begin = 0 };
}

void pairs_threads(const struct pairs *pairs, uint64_t now, void (*each)(void *context, uint64_t thread),
	void *context)
{
	for (uint32_t i = 0; i < pairs->task_count; i++)
		if (is_known(pairs, &pairs->tasks[i].now, now) || known_waits(pairs, &pairs->tasks[i], now))
			each(context, pairs->tasks[i].thread);
}

void pairs_calls(const struct pairs *pairs, void (*each)(void *context, const struct trace_span *call), void *context)
{
	for (uint32_t i = 0; i < pairs->task_count; i++) {
		const struct task *task = &pairs->tasks[i];
		struct trace_span call = task->begun;

		if (!task->calls)
			continue;
		call.lost = loss_between(pairs, call.cpu, call.begin, UINT64_MAX);
		call.arguments = task->has_arguments ? task->arguments : NULL;
		each(context, &call);
	}
}

void pairs_under_way(const struct pairs *pairs, void (*each)(void *context, const struct trace_span *span),
	void *context)
{
	for (uint32_t i = 0; i < pairs->cpu_count; i++) {
		const struct cpu *cpu = pairs->cpus[i];

		if (cpu && cpu->runs && !first_between(&pairs->changes, cpu->thread.begin, UINT64_MAX))
			each(context, &cpu->thread);
		for (uint32_t k = 0; cpu && k < cpu->depth; k++)
			if (!first_between(&pairs->changes, cpu->interrupts[k].begin, UINT64_MAX))
				each(context, &cpu->interrupts[k]);
	}
	for (uint32_t i = 0; i < pairs->task_count; i++) {
		const struct task *task = &pairs->tasks[i];
		struct trace_span call = task->begun;

		call.first = !task->told;
		call.arguments = task->has_arguments ? task->arguments : NULL;
		if (is_known(pairs, &task->now, UINT64_MAX) && task->now.span.kind != SPAN_THREAD)
			each(context, &task->now.span);
		for (uint32_t k = known_waits(pairs, task, UINT64_MAX); k-- > 0;) {
			struct trace_span wait = span_of_wait(task, &task->waits[task->waiting - 1 - k]);

			each(context, &wait);
		}
		if (task->calls && !task->ended &&
				!loss_between(pairs, task->begun.cpu, task->begun.begin, UINT64_MAX))
			each(context, &call);
	}
	for (uint32_t i = 0; i < pairs->open_count; i++)
		if (is_known(pairs, &pairs->opens[i].known, UINT64_MAX))
			each(context, &pairs->opens[i].known.span);
}

struct pairs_counts pairs_counts(const struct pairs *pairs)
{
	return pairs->counts;
}
