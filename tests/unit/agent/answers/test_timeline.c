/* SPDX-License-Identifier: MIT */
/* Random histories of threads on CPUs against a model that knows what each did at each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/answers/timeline.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/trace_give.h"
#include "tests/unit/fakes/work.h"

enum { CPUS = 3, THREADS = 7, STEPS = 3000, STEP = 10, BEGAN = 1000, ENDED = BEGAN + STEPS * STEP, GUESSES = 60 };

static struct model {
	uint8_t states[THREADS + 1][STEPS];	/* enum timeline_state, in the time before the step */
	uint32_t runs[CPUS][STEPS];	/* the thread; EVENT_NONE: idle; 0: not known */
	uint32_t woken[THREADS + 1][STEPS];	/* who woke it in this step; 0: nobody */
} model;

struct world {
	struct trace_kinds *kinds;
	struct epoch *epoch;
	struct random random;
	uint8_t state[THREADS + 1];
	uint32_t runs[CPUS];
};

static void run(struct world *world, uint32_t cpu, uint32_t thread, uint64_t time)
{
	static const uint8_t states[] = { TIMELINE_READY, TIMELINE_SLEEP, TIMELINE_BLOCKED };
	struct ktop_wire_sched_switch of = { .from = world->runs[cpu] ? world->runs[cpu] : EVENT_NONE, .to = thread };
	uint32_t from = of.from;

	of.leaves = (uint8_t)random_below(&world->random, 3);
	if (from != EVENT_NONE)
		world->state[from] = states[of.leaves];
	if (thread != EVENT_NONE)
		world->state[thread] = TIMELINE_RUN;
	world->runs[cpu] = thread;
	trace_give(world->epoch, world->kinds, cpu, time, KTOP_EVENT_sched_switch, &of, sizeof(of));
}

static void wake(struct world *world, uint32_t cpu, uint32_t thread, uint64_t time, uint32_t step)
{
	uint32_t other = 1 + (uint32_t)random_below(&world->random, THREADS);
	uint32_t waker = random_below(&world->random, 3) ? other : EVENT_NONE;
	const struct ktop_wire_sched_wake of = { .thread = thread, .waker = waker };

	trace_give(world->epoch, world->kinds, cpu, time, KTOP_EVENT_sched_wake, &of, sizeof(of));
	model.woken[thread][step] = waker == EVENT_NONE ? EVENT_NONE - 1 - cpu : waker;
	world->state[thread] = TIMELINE_READY;
}

/* One event at the beginning of the step; then what is. */
static void step(struct world *world, uint32_t step)
{
	uint32_t cpu = (uint32_t)random_below(&world->random, CPUS);
	uint32_t thread = 1 + (uint32_t)random_below(&world->random, THREADS);
	uint64_t time = BEGAN + (uint64_t)step * STEP;

	if (random_below(&world->random, 8) == 0 && world->runs[cpu] != EVENT_NONE)
		run(world, cpu, EVENT_NONE, time);
	else if (world->state[thread] == TIMELINE_SLEEP || world->state[thread] == TIMELINE_BLOCKED)
		wake(world, cpu, thread, time, step);
	else if (world->state[thread] != TIMELINE_RUN)
		run(world, cpu, thread, time);
	for (uint32_t i = 0; i < CPUS; i++)
		model.runs[i][step] = world->runs[i];
	for (uint32_t i = 1; i <= THREADS; i++)
		model.states[i][step] = world->state[i];
}

static struct world begin(uint64_t seed)
{
	const uint8_t id[16] = { 1 };
	struct world world = { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, NULL), .random = { seed } };
	struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = { .cpus = CPUS, .clock_hz = NS_PER_SECOND } };

	world.epoch->number = 1;
	epoch_events(world.epoch, &guest, 1);
	memset(&model, 0, sizeof(model));
	for (uint32_t i = 0; i < STEPS; i++)
		step(&world, i);
	epoch_ticks(world.epoch, ENDED);
	epoch_over(world.epoch);
	return world;
}

static void end(struct world *world)
{
	epoch_release(world->epoch);
	trace_kinds_free(world->kinds);
}

/* Its rows and cells are those of another answer, for which all was read twice. */
static void check_same(const struct timeline *timeline, const struct timeline *other)
{
	assert_int_equal(timeline->count, other->count);
	assert_int_equal(timeline->columns, other->columns);
	assert_int_equal(timeline->span_count, 0);
	for (uint32_t i = 0; i < timeline->count; i++) {
		assert_int_equal(timeline->rows[i].is_cpu, other->rows[i].is_cpu);
		assert_int_equal(timeline->rows[i].number, other->rows[i].number);
		for (uint32_t k = 0; k < timeline->columns; k++) {
			const struct timeline_cell cell = timeline->rows[i].cells[k], is = other->rows[i].cells[k];

			assert_int_equal(cell.state, is.state);
			assert_int_equal(cell.who, is.who);
			assert_string_equal(timeline->names[cell.name], other->names[is.name]);
		}
	}
}

static struct timeline_request request_of(uint64_t from, uint64_t to, uint32_t columns)
{
	struct timeline_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &timeline_kind;
	request.request.excerpt = (struct excerpt) { .window_ns = to - from, .until_ns = to, .moved = 1 };
	request.columns = columns;
	request.focus = request.of = EVENT_NONE;
	return request;
}

static struct timeline *ask(const struct world *world, uint64_t from, uint64_t to, uint32_t columns, bool of_cpu,
	uint32_t of, uint64_t at)
{
	const struct moment moment = { .epoch = world->epoch };
	struct timeline_request request = request_of(from, to, columns);
	struct timeline *timeline, *without;

	request.focus = of_cpu ? EVENT_NONE : of;
	request.of_cpu = of_cpu;
	request.of = of;
	request.at = at;
	without = (struct timeline *)answer_new(&request.request, &moment);
	request.spans = 1;
	timeline = (struct timeline *)answer_new(&request.request, &moment);
	check_same(without, timeline);
	answer_free(&without->answer);
	return timeline;
}

/* What the model says of the time from `from` to `to`: ns in each state. */
static void count(const struct timeline_row *row, uint64_t from, uint64_t to, uint64_t ns[TIMELINE_STATES])
{
	memset(ns, 0, TIMELINE_STATES * sizeof(*ns));
	for (uint64_t time = from; time < to; time++) {
		uint64_t at = (time - BEGAN) / STEP;
		uint32_t runs = row->is_cpu ? model.runs[row->number][at] : 0;

		ns[!row->is_cpu ? model.states[row->number][at] : !runs ? TIMELINE_UNKNOWN :
			runs == EVENT_NONE ? TIMELINE_IDLE : TIMELINE_RUN]++;
	}
}

static void check_row(const struct timeline *timeline, const struct timeline_row *row)
{
	for (uint32_t i = 0; i < timeline->columns; i++) {
		uint64_t from = timeline->from + i * timeline->each, to = from + timeline->each, ns[TIMELINE_STATES];

		count(row, from, to < timeline->to ? to : timeline->to, ns);
		for (int state = 0; state < TIMELINE_STATES; state++)
			assert_true(ns[state] <= ns[row->cells[i].state]);
	}
}

/* Any range and any number of columns. Times that end where nothing was seen yet are not asked about. */
static void each_column_has_the_state_that_took_most_of_it(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct world world = begin(seed);

		for (int i = 0; i < GUESSES; i++) {
			uint64_t from = BEGAN + STEPS + random_below(&world.random, ENDED - BEGAN - 2 * STEPS);
			uint64_t to = from + 1 + random_below(&world.random, ENDED - STEP - from);
			uint32_t columns = 1 + (uint32_t)random_below(&world.random, 130);
			struct timeline *timeline = ask(&world, from, to, columns, false, 1, 0);

			assert_int_equal(timeline->from, from);
			assert_int_equal(timeline->to, to);
			assert_true(timeline->each * timeline->columns >= to - from);
			assert_int_equal(timeline->count, CPUS + THREADS);
			assert_int_equal(timeline->rows[CPUS].number, 1);	/* the focus is the first one */
			for (uint32_t k = 0; k < timeline->count; k++)
				check_row(timeline, &timeline->rows[k]);
			answer_free(&timeline->answer);
		}
		end(&world);
	}
}

/* The waker of the wake that the moment's thread had last, or will have if it sleeps; 0: none. */
static uint32_t waker_of(uint32_t thread, uint64_t time, uint64_t *when)
{
	int64_t at = (int64_t)((time - BEGAN) / STEP);
	bool sleeps = model.states[thread][at] == TIMELINE_SLEEP || model.states[thread][at] == TIMELINE_BLOCKED;
	int64_t found = at;

	while (sleeps && found < STEPS && !model.woken[thread][found])
		found++;
	if (found == STEPS || !sleeps)
		for (found = at; found >= 0 && !model.woken[thread][found]; found--)
			;
	*when = BEGAN + (uint64_t)found * STEP;
	return found < 0 ? 0 : model.woken[thread][found];
}

static void check_moment(const struct timeline *timeline, uint32_t thread, uint64_t time)
{
	static const uint8_t kinds[TIMELINE_STATES] = {
		[TIMELINE_RUN] = SPAN_THREAD, [TIMELINE_READY] = SPAN_READY, [TIMELINE_SLEEP] = SPAN_SLEEP,
		[TIMELINE_BLOCKED] = SPAN_SLEEP,
	};
	const struct timeline_moment *moment = &timeline->moment;
	uint64_t when, at = (time - BEGAN) / STEP, first = at, last = at + 1;
	uint32_t waker = waker_of(thread, time, &when);

	while (model.states[thread][first - 1] == model.states[thread][at] && moment->now.begin < BEGAN + first * STEP)
		first--;
	while (last < STEPS && model.states[thread][last] == model.states[thread][at] &&
			moment->now.end > BEGAN + last * STEP)
		last++;
	assert_true(moment->is_known);
	assert_int_equal(moment->now.kind, kinds[model.states[thread][at]]);
	assert_int_equal(moment->now.begin, BEGAN + first * STEP);
	assert_true(moment->now.open || moment->now.end == BEGAN + last * STEP);
	assert_true(moment->before < time && (!moment->after || moment->after > time));
	assert_int_equal(moment->woken, waker != 0);
	if (!waker)
		return;
	assert_int_equal(moment->wake.begin, when);
	assert_int_equal(moment->wake.interrupt ? EVENT_NONE - 1 - moment->wake.waker : moment->wake.waker, waker);
}

static void a_moment_is_told_exactly(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct world world = begin(seed);

		for (int i = 0; i < GUESSES; i++) {
			uint32_t thread = 1 + (uint32_t)random_below(&world.random, THREADS);
			uint64_t time = BEGAN + STEPS + random_below(&world.random, ENDED - BEGAN - 2 * STEPS);
			struct timeline *timeline = ask(&world, time - 200, time + 200, 40, false, thread, time);

			assert_int_equal(timeline->moment.time, time);
			check_moment(timeline, thread, time);
			answer_free(&timeline->answer);
		}
		end(&world);
	}
}

/* Steps from event to event are in order, none is left out, and each is a change. */
static void next_leads_through_all_events(void **state)
{
	struct world world = begin(3);
	uint64_t time = BEGAN + STEPS, changes = 0, seen = 0;
	uint32_t steps = 0;

	(void)state;
	for (uint64_t i = STEPS / STEP + 1; i < STEPS; i++)
		changes += model.states[1][i] != model.states[1][i - 1];
	while (time) {
		struct timeline *timeline = ask(&world, BEGAN, ENDED, 80, false, 1, time);
		uint64_t after = timeline->moment.after;

		assert_true(!after || after > time);
		assert_true(++steps < 2 * STEPS);
		seen += after != 0 && after < ENDED;
		time = after;
		answer_free(&timeline->answer);
	}
	assert_true(seen >= changes && seen < changes + changes / 2 + 2);
	end(&world);
}

/* ---- as a part of many machines ---- */

/* ns of the whole time in which it ran, or also waited for a CPU. */
static uint64_t busy_of(const struct timeline_row *row)
{
	uint64_t ns[TIMELINE_STATES];

	count(row, BEGAN, ENDED, ns);
	return ns[TIMELINE_RUN] + (row->is_cpu ? 0 : ns[TIMELINE_READY]);
}

static uint32_t busier_than(const struct timeline *all, const struct timeline_row *row)
{
	uint32_t busier = 0;

	for (uint32_t i = 0; i < all->count; i++)
		busier += all->rows[i].is_cpu == row->is_cpu && busy_of(&all->rows[i]) > busy_of(row);
	return busier;
}

static bool has_row(const struct timeline *timeline, uint64_t thread)
{
	for (uint32_t i = 0; i < timeline->count; i++)
		if (!timeline->rows[i].is_cpu && timeline->rows[i].number == thread)
			return true;
	return false;
}

/* Where there is little room, those with rows are the busiest; what is left out is counted. */
static void little_room_is_for_the_busiest(void **state)
{
	(void)state;
	for (uint32_t rows = 1; rows <= CPUS + THREADS + 1; rows++) {
		struct world world = begin(rows);
		const struct moment moment = { .epoch = world.epoch };
		struct timeline_request request = request_of(BEGAN, ENDED, 40);
		struct timeline *all = (struct timeline *)answer_new(&request.request, &moment), *timeline;
		uint32_t kinds[2] = { 0 };		/* threads, CPUs */

		request.rows = rows;
		timeline = (struct timeline *)answer_new(&request.request, &moment);
		assert_int_equal(timeline->count, rows < all->count ? rows : all->count);
		assert_int_equal(timeline->count + timeline->cpus_more + timeline->threads_more, all->count);
		for (uint32_t i = 0; i < timeline->count; i++)
			kinds[timeline->rows[i].is_cpu]++;
		for (uint32_t i = 0; i < timeline->count; i++)
			assert_true(busier_than(all, &timeline->rows[i]) < kinds[timeline->rows[i].is_cpu]);
		assert_true(kinds[true] >= rows - rows / 2 || !timeline->cpus_more);
		assert_true(kinds[false] >= rows / 2 || !timeline->threads_more);
		answer_free(&timeline->answer);
		request.of = all->rows[all->count - 1].number;	/* the cursor's row stays, but before it the focus' */
		request.focus = all->rows[all->count - 2].number;
		timeline = (struct timeline *)answer_new(&request.request, &moment);
		assert_true(has_row(timeline, request.focus) || kinds[false] < 1);
		assert_true(has_row(timeline, request.of) || kinds[false] < 2);
		answer_free(&timeline->answer);
		answer_free(&all->answer);
		end(&world);
	}
}

/* Columns are as wide as is asked, and fewer then; but not so narrow that the range had no room. */
static void columns_of_a_given_width(void **state)
{
	enum { LENGTH = 20000 };
	static const struct { uint64_t each; uint32_t columns; } rows[] = {
		{ 0, 40 }, { 1, 40 }, { LENGTH / 40, 40 }, { LENGTH / 10, 10 }, { LENGTH / 10 + 1, 10 },
		{ 2 * LENGTH, 1 },
	};
	struct world world = begin(1);
	const struct moment moment = { .epoch = world.epoch };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct timeline_request request = request_of(ENDED - STEPS - LENGTH, ENDED - STEPS, 40);
		struct timeline *timeline;

		request.each = rows[i].each;
		timeline = (struct timeline *)answer_new(&request.request, &moment);
		assert_int_equal(timeline->columns, rows[i].columns);
		assert_true(timeline->each >= rows[i].each && timeline->each * timeline->columns >= LENGTH);
		for (uint32_t k = 0; k < timeline->count; k++)
			check_row(timeline, &timeline->rows[k]);
		answer_free(&timeline->answer);
	}
	end(&world);
}

/* A filter that asks for another machine lets no CPU pass, and no thread. */
static void a_filter_for_another_machine(void **state)
{
	struct world world = begin(1);
	const struct moment moment = { .epoch = world.epoch };

	(void)state;
	for (unsigned number = 1; number <= 2; number++) {
		struct timeline_request request = request_of(BEGAN, ENDED, 40);
		struct timeline *timeline;

		assert_true(filter_parse("machine:2", &request.request.excerpt.filter, NULL));
		filter_at_machine(&request.request.excerpt.filter, number, "x");
		timeline = (struct timeline *)answer_new(&request.request, &moment);
		assert_int_equal(timeline->count != 0, number == 2);
		answer_free(&timeline->answer);
	}
	end(&world);
}

/* ---- locks ---- */

static void switch_to(struct world *world, uint32_t cpu, uint64_t time, uint32_t from, uint32_t to)
{
	const struct ktop_wire_sched_switch of = { .from = from, .to = to, .leaves = KTOP_LEAVES_BLOCKED };

	trace_give(world->epoch, world->kinds, cpu, time, KTOP_EVENT_sched_switch, &of, sizeof(of));
}

static void lock(struct world *world, uint64_t time, uint16_t id, uint32_t thread)
{
	const struct ktop_wire_lock_wait wait = { .lock = 7, .thread = thread, .holder = EVENT_NONE };
	const struct ktop_wire_lock_acquired other = { .lock = 7, .thread = thread };

	if (id == KTOP_EVENT_lock_wait)
		trace_give(world->epoch, world->kinds, 0, time, id, &wait, sizeof(wait));
	else
		trace_give(world->epoch, world->kinds, 0, time, id, &other, sizeof(other));
}

/* Thread 1 holds a lock from 2000 to 5000; thread 2 waits for it from 3000 on, asleep but for the first moment. */
static struct world begin_locks(void)
{
	const uint8_t id[16] = { 1 };
	struct world world = { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, NULL) };
	struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = { .cpus = CPUS, .clock_hz = NS_PER_SECOND } };
	const struct ktop_wire_sched_wake wake = { .thread = 2, .waker = 1 };

	world.epoch->number = 1;
	epoch_events(world.epoch, &guest, 1);
	switch_to(&world, 0, 1000, EVENT_NONE, 1);
	switch_to(&world, 1, 1010, EVENT_NONE, 2);
	lock(&world, 2000, KTOP_EVENT_lock_acquired, 1);
	lock(&world, 3000, KTOP_EVENT_lock_wait, 2);
	switch_to(&world, 1, 3010, 2, EVENT_NONE);
	lock(&world, 5000, KTOP_EVENT_lock_released, 1);
	lock(&world, 5000, KTOP_EVENT_lock_acquired, 2);
	trace_give(world.epoch, world.kinds, 0, 5000, KTOP_EVENT_sched_wake, &wake, sizeof(wake));
	switch_to(&world, 1, 5010, EVENT_NONE, 2);
	lock(&world, 6000, KTOP_EVENT_lock_released, 2);
	switch_to(&world, 1, 8000, 2, EVENT_NONE);
	switch_to(&world, 0, 8000, 1, EVENT_NONE);
	epoch_ticks(world.epoch, 9000);
	epoch_over(world.epoch);
	return world;
}

static void a_lock_is_told(void **state)
{
	struct world world = begin_locks();
	struct timeline *waits = ask(&world, 2000, 7000, 50, false, 2, 4000);
	struct timeline *holds = ask(&world, 2000, 7000, 50, false, 1, 4000);
	const struct timeline_row *row = &waits->rows[2];

	(void)state;
	assert_true(!row->is_cpu && row->number == 2);
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(row->cells[i].state, i >= 10 && i < 30 ? TIMELINE_LOCK : TIMELINE_RUN);
	assert_string_equal(waits->names[row->cells[15].name], "lock 7");
	assert_true(waits->moment.waits && !waits->moment.holds);
	assert_true(waits->moment.lock.begin == 3000 && waits->moment.lock.end == 5000);
	assert_int_equal(waits->moment.lock.waker, 1);
	assert_int_equal(waits->moment.now.kind, SPAN_SLEEP);
	assert_true(!holds->moment.waits && holds->moment.holds == 1);
	assert_true(holds->moment.hold.begin == 2000 && holds->moment.hold.end == 5000);
	answer_free(&waits->answer);
	answer_free(&holds->answer);
	end(&world);
}

enum { FSYNC_BEGIN = 64, FSYNC_END, QUERY_BEGIN, QUERY_END };

static void describe(const struct world *world, uint16_t id, const char *name)
{
	const struct event event = { .kind = EVENT_DESCRIPTOR, .time = 1, .descriptor = {
		.event = id, .stream = STREAM_TRACE, .name = { name, strlen(name) },
		.fields = { "u32 thread;", 11 } } };

	trace_kinds_learn(world->kinds, &event);
	epoch_events(world->epoch, &event, 1);
}

static void give_pair(const struct world *world, uint64_t from, uint64_t to, uint16_t begin)
{
	const uint32_t thread = 1;

	trace_give(world->epoch, world->kinds, 0, from, begin, &thread, sizeof(thread));
	if (to)
		trace_give(world->epoch, world->kinds, 0, to, begin + 1, &thread, sizeof(thread));
}

static const char *name_in(const struct timeline *timeline, uint32_t row, uint64_t time)
{
	uint64_t column = (time - timeline->from) / timeline->each;

	return timeline->names[timeline->rows[row].cells[column].name];
}

/* As a call, a pair of the kernel's own is named where the thread is in it; of both, the one that began last. */
static void a_pair_of_the_kernels_own_is_told(void **state)
{
	const uint8_t id[16] = { 1 };
	struct world world = { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, NULL) };
	struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = { .cpus = 1, .clock_hz = NS_PER_SECOND } };
	const struct ktop_wire_syscall_enter enter = { .thread = 1, .number = 4 };
	const struct ktop_wire_syscall_exit leave = { .thread = 1, .number = 4 };
	const struct ktop_wire_task_begin task = { .thread = 1 };
	static const struct { uint64_t at; const char *name; } names[] = {
		{ 1500, "" }, { 2050, "fsync" }, { 2950, "fsync" }, { 3050, "" }, { 4050, "syscall 4" },
		{ 4550, "fsync" }, { 4950, "syscall 4" }, { 6050, "query" }, { 6550, "syscall 4" },
		{ 7050, "query" }, { 8050, "" }, { 8450, "" }, { 9050, "fsync" },
	};
	struct timeline *timeline;

	(void)state;
	world.epoch->number = 1;
	epoch_events(world.epoch, &guest, 1);
	describe(&world, FSYNC_BEGIN, "fsync_begin");
	describe(&world, FSYNC_END, "fsync_end");
	describe(&world, QUERY_BEGIN, "query_begin");
	describe(&world, QUERY_END, "query_end");
	trace_give(world.epoch, world.kinds, 0, 900, KTOP_EVENT_task_begin, &task, sizeof(task));
	switch_to(&world, 0, 1000, EVENT_NONE, 1);
	give_pair(&world, 2000, 3000, FSYNC_BEGIN);
	trace_give(world.epoch, world.kinds, 0, 4000, KTOP_EVENT_syscall_enter, &enter, sizeof(enter));
	give_pair(&world, 4500, 4900, FSYNC_BEGIN);			/* in the call */
	trace_give(world.epoch, world.kinds, 0, 5000, KTOP_EVENT_syscall_exit, &leave, sizeof(leave));
	give_pair(&world, 6000, 0, QUERY_BEGIN);			/* around the call */
	trace_give(world.epoch, world.kinds, 0, 6500, KTOP_EVENT_syscall_enter, &enter, sizeof(enter));
	trace_give(world.epoch, world.kinds, 0, 6700, KTOP_EVENT_syscall_exit, &leave, sizeof(leave));
	trace_give(world.epoch, world.kinds, 0, 8000, QUERY_END, &(uint32_t) { 1 }, sizeof(uint32_t));
	give_pair(&world, 8410, 8450, FSYNC_BEGIN);			/* for less than half a column */
	give_pair(&world, 9000, 0, FSYNC_BEGIN);
	epoch_ticks(world.epoch, 9500);
	trace_give(world.epoch, world.kinds, 0, 9400, KTOP_EVENT_irq_enter, &(uint8_t[4]) { 0 }, 4);
	epoch_over(world.epoch);
	timeline = ask(&world, 1000, 9400, 84, false, 1, 4550);
	assert_true(!timeline->rows[1].is_cpu && timeline->rows[1].number == 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(name_in(timeline, 1, names[i].at), names[i].name);
	assert_string_equal(name_in(timeline, 0, 2050), "");		/* a CPU is in none */
	assert_true(timeline->moment.is_in_pair && timeline->moment.pair.begin == 4500);
	assert_true(timeline->moment.is_inside && timeline->moment.inside.begin == 4000);
	assert_true(timeline->moment.is_known && timeline->moment.now.kind == SPAN_THREAD);
	assert_string_equal(timeline->names[timeline->moment.pair.name], "fsync");
	answer_free(&timeline->answer);
	end(&world);
}

/* Where only other events are traced, there are rows of threads, and it is said that their states are not known. */
static void without_switches_that_is_told(void **state)
{
	const uint8_t id[16] = { 1 };
	struct world world = { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, NULL) };
	const struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = {
		.cpus = 1, .clock_hz = NS_PER_SECOND } };
	const struct ktop_wire_fault fault = { .thread = 4 };
	const struct ktop_wire_sched_switch to = { .from = EVENT_NONE, .to = 5 };

	(void)state;
	epoch_events(world.epoch, &guest, 1);
	trace_give(world.epoch, world.kinds, 0, 1000, KTOP_EVENT_fault, &fault, sizeof(fault));
	trace_give(world.epoch, world.kinds, 0, 3000, KTOP_EVENT_sched_switch, &to, sizeof(to));
	epoch_ticks(world.epoch, 5000);
	epoch_over(world.epoch);
	for (int later = 0; later < 2; later++) {
		struct timeline *timeline = ask(&world, 500, later ? 4000 : 2000, 50, false, 4, 1000);

		assert_int_equal(timeline->count, later ? 3 : 1);
		assert_int_equal(timeline->stateless, !later);
		answer_free(&timeline->answer);
	}
	end(&world);
}

/* ---- summed up ---- */

enum { OLD_TURNS = 60000 };

/*
 * Two threads on one CPU: each turn of 10 ms, the first runs for most of it, in the second half for a tenth of it. The
 * second has the rest, in many short runs, and sleeps in between.
 */
static uint64_t run_for_minutes(struct world *world)
{
	const uint64_t turn = 10 * NS_PER_MS, part = turn / 20;

	world->runs[0] = 2;
	for (uint32_t i = 0; i < OLD_TURNS; i++) {
		uint64_t begin = NS_PER_SECOND + i * turn, share = i < OLD_TURNS / 2 ? 18 : 2;

		for (uint64_t k = 0; k < 20; k++) {
			uint32_t next = k < share ? 1 : 2, now = world->runs[0];
			struct ktop_wire_sched_switch of = { .from = now, .to = next, .leaves = LEAVES_ASLEEP };

			if (next == now)
				continue;
			trace_give(world->epoch, world->kinds, 0, begin + k * part - 1, KTOP_EVENT_sched_wake,
				&(struct ktop_wire_sched_wake) { next, now }, sizeof(struct ktop_wire_sched_wake));
			trace_give(world->epoch, world->kinds, 0, begin + k * part, KTOP_EVENT_sched_switch,
				&of, sizeof(of));
			world->runs[0] = next;
		}
	}
	return NS_PER_SECOND + OLD_TURNS * turn;
}

static uint8_t state_of(const struct timeline *timeline, bool is_cpu, uint32_t number, uint32_t column)
{
	for (uint32_t i = 0; i < timeline->count; i++)
		if (timeline->rows[i].is_cpu == is_cpu && timeline->rows[i].number == number)
			return timeline->rows[i].cells[column].state;
	fail_msg("no row of %u", (unsigned)number);
	return 0;
}

static uint64_t work_of(const struct world *world, uint64_t from, uint64_t to)
{
	uint64_t before = work_done();

	answer_free(&ask(world, from, to, 40, false, 1, (from + to) / 2)->answer);
	return work_done() - before;
}

/* Of long ago, a cell still tells the state that took most of it, of threads and CPUs; and no span is made up. */
static void test_old_states_are_summed_up(void **state)
{
	enum { COLUMNS = 40 };
	const uint8_t id[16] = { 1 };
	const struct event guest = { .kind = EVENT_GUEST, .time = 1,
		.guest = { .cpus = 1, .clock_hz = NS_PER_SECOND } };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct world world = { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, budget), .random = { 1 } };
	struct timeline *timeline;
	uint64_t end_at;

	(void)state;
	world.epoch->number = 1;
	epoch_events(world.epoch, &guest, 1);
	end_at = run_for_minutes(&world);
	epoch_ticks(world.epoch, end_at);
	epoch_over(world.epoch);
	timeline = ask(&world, NS_PER_SECOND, end_at, COLUMNS, false, 1, 0);
	assert_int_equal(timeline->kept_from, 0);
	assert_true(timeline->exact_from > end_at / 2);
	for (uint32_t i = 1; i < COLUMNS - 1; i++) {
		bool before = i + 1 < COLUMNS / 2;

		if (before || i > COLUMNS / 2) {
			assert_int_equal(state_of(timeline, false, 1, i), before ? TIMELINE_RUN : TIMELINE_SLEEP);
			assert_int_equal(state_of(timeline, false, 2, i), before ? TIMELINE_SLEEP : TIMELINE_RUN);
			assert_int_equal(state_of(timeline, true, 0, i), TIMELINE_RUN);
		}
	}
	for (uint64_t i = 0; i < timeline->span_count; i++)
		assert_true(timeline->spans[i].end >= timeline->exact_from && timeline->spans[i].total == 0);
	/* Of two seconds, only what they need is read: where spans are rows, and where they are summed up. */
	assert_true(work_of(&world, end_at - 3 * NS_PER_SECOND, end_at - NS_PER_SECOND) * 20 <
		work_of(&world, NS_PER_SECOND, end_at));
	assert_true(work_of(&world, 31 * NS_PER_SECOND, 33 * NS_PER_SECOND) * 8 <
		work_of(&world, NS_PER_SECOND, end_at));
	answer_free(&timeline->answer);
	end(&world);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_column_has_the_state_that_took_most_of_it),
		cmocka_unit_test(little_room_is_for_the_busiest),
		cmocka_unit_test(columns_of_a_given_width),
		cmocka_unit_test(a_filter_for_another_machine),
		cmocka_unit_test(a_moment_is_told_exactly),
		cmocka_unit_test(next_leads_through_all_events),
		cmocka_unit_test(a_lock_is_told),
		cmocka_unit_test(a_pair_of_the_kernels_own_is_told),
		cmocka_unit_test(without_switches_that_is_told),
		cmocka_unit_test(test_old_states_are_summed_up),
	};

	return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
