/* SPDX-License-Identifier: MIT */
/* What threads did at a time that is past is what was told then, as the present, in a random world at random times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/thread_now.h"
#include "agent/answers/function_table.h"
#include "agent/answers/thread_states.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/query/question/filter.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/trace_give.h"

enum { CPUS = 2, THREADS = 5, LOCKS = 2, STEPS = 1200, STEP = 10, BEGAN = 1000, SEEDS = 3, GUESSES = 12 };

enum doing { RUNS, READY, SLEEPS };

struct thread {
	enum doing doing;
	bool calls;
	uint32_t waits;			/* the lock plus 1; 0: for none */
};

struct world {
	struct trace_kinds *kinds;
	struct epoch *epoch;
	struct random random;
	uint64_t time;
	struct thread threads[THREADS + 1];
	uint32_t runs[CPUS];		/* a thread; 0: none */
	uint32_t holders[LOCKS];	/* likewise */
	uint32_t handlers[CPUS];	/* the interrupt in which it is; 0: in none */
	uint32_t woken_in[THREADS + 1];	/* the last wake's */
};

static uint32_t on_wire(uint32_t thread)
{
	return thread ? thread : EVENT_NONE;
}

/* Another thread that is ready, or none, takes the CPU. Who waits for a lock goes to sleep. */
static void turn(struct world *world, uint32_t cpu)
{
	uint32_t from = world->runs[cpu], to = 1 + (uint32_t)random_below(&world->random, THREADS);
	uint8_t leaves = (uint8_t)random_below(&world->random, 3);

	to = world->threads[to].doing == READY ? to : 0;
	if (to == from || world->handlers[cpu])
		return;
	leaves = from && world->threads[from].waits ? LEAVES_BLOCKED : leaves;
	if (from)
		world->threads[from].doing = leaves == LEAVES_READY ? READY : SLEEPS;
	world->threads[to].doing = to ? RUNS : world->threads[to].doing;
	world->runs[cpu] = to;
	TRACE_GIVE(world, cpu, world->time, sched_switch, .from = on_wire(from), .to = on_wire(to), .leaves = leaves);
}

static void wake(struct world *world, uint32_t cpu)
{
	uint32_t thread = 1 + (uint32_t)random_below(&world->random, THREADS);

	if (world->threads[thread].doing != SLEEPS)
		return;
	world->threads[thread].doing = READY;
	world->woken_in[thread] = world->handlers[cpu];
	TRACE_GIVE(world, cpu, world->time, sched_wake, .thread = thread,
		.waker = world->handlers[cpu] ? EVENT_NONE : on_wire(world->runs[cpu]));
}

static void interrupt(struct world *world, uint32_t cpu)
{
	uint32_t was = world->handlers[cpu];

	world->handlers[cpu] = was ? 0 : 1 + (uint32_t)random_below(&world->random, 9);
	if (was)
		TRACE_GIVE(world, cpu, world->time, irq_exit, .irq = was);
	else
		TRACE_GIVE(world, cpu, world->time, irq_enter, .irq = world->handlers[cpu]);
}

static void call(struct world *world, uint32_t cpu)
{
	uint32_t thread = world->runs[cpu];

	if (!thread)
		return;
	if (world->threads[thread].calls)
		TRACE_GIVE(world, cpu, world->time, syscall_exit, .thread = thread, .number = thread);
	else
		TRACE_GIVE(world, cpu, world->time, syscall_enter, .thread = thread, .number = thread);
	world->threads[thread].calls = !world->threads[thread].calls;
}

static void lock(struct world *world, uint32_t cpu)
{
	uint32_t thread = world->runs[cpu], number = (uint32_t)random_below(&world->random, LOCKS);

	number = thread && world->threads[thread].waits ? world->threads[thread].waits - 1 : number;
	if (!thread || world->threads[thread].doing != RUNS)
		return;
	if (world->holders[number] == thread) {
		TRACE_GIVE(world, cpu, world->time, lock_released, .lock = number + 70, .thread = thread);
		world->holders[number] = 0;
	} else if (!world->holders[number]) {
		TRACE_GIVE(world, cpu, world->time, lock_acquired, .lock = number + 70, .thread = thread);
		world->holders[number] = thread;
		world->threads[thread].waits = 0;
	} else if (!world->threads[thread].waits) {
		TRACE_GIVE(world, cpu, world->time, lock_wait, .lock = number + 70, .thread = thread,
			.holder = world->holders[number]);
		world->threads[thread].waits = number + 1;
	}
}

/* The same world for the same seed, as far as `until`. */
static struct world play(uint32_t seed, uint64_t until)
{
	typedef void action(struct world *, uint32_t);
	static action *const actions[] = { turn, turn, wake, wake, call, lock, lock, interrupt };
	const uint8_t id[16] = { 1 };
	const struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = {
		.cpus = CPUS, .clock_hz = NS_PER_SECOND } };
	struct world world = { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, NULL),
		.random = { seed } };

	epoch_events(world.epoch, &guest, 1);
	for (uint32_t i = 1; i <= THREADS; i++)
		world.threads[i].doing = READY;
	for (world.time = BEGAN; world.time < until; world.time += STEP) {
		uint32_t cpu = (uint32_t)random_below(&world.random, CPUS);

		actions[random_below(&world.random, sizeof(actions) / sizeof(*actions))](&world, cpu);
	}
	epoch_ticks(world.epoch, world.time);
	epoch_over(world.epoch);
	return world;
}

static void end(const struct world *world)
{
	epoch_release(world->epoch);
	trace_kinds_free(world->kinds);
}

static void assert_same(const struct trace_span *then, const struct trace_span *now)
{
	assert_int_equal(then->begin, now->begin);
	if (!now->begin)
		return;
	assert_int_equal(then->kind, now->kind);
	assert_int_equal(then->number, now->number);
}

static void what_was_told_then_is_told_later(void **state)
{
	struct random random = { 77 };
	unsigned waits = 0, holders = 0, woken = 0, handlers = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct world all = play(seed, BEGAN + STEPS * STEP);

		for (int guess = 0; guess < GUESSES; guess++) {
			uint64_t at = BEGAN + STEP / 2 + STEP * random_below(&random, STEPS - 1);
			struct world world = play(seed, at);
			struct thread_states *now = thread_states_new(world.epoch, 0, EVENT_NONE);

			for (uint32_t thread = 1; thread <= THREADS; thread++) {
				struct thread_states *then = thread_states_new(all.epoch, at, thread);
				struct pairs_thread was = thread_states_of(then, thread);
				struct pairs_thread is = thread_states_of(now, thread);

				assert_int_equal(thread_states_at(then), at);
				assert_same(&was.now, &is.now);
				assert_same(&was.call, &is.call);
				assert_same(&was.wait, &is.wait);
				if (is.wait.begin)
					assert_int_equal(was.wait.holder, is.wait.holder);
				if (is.now.begin && is.woken) {
					assert_int_equal(was.woken, is.woken);
					assert_int_equal(was.waker, is.waker);
					assert_int_equal(was.woken_in.number, world.woken_in[thread]);
					assert_int_equal(is.woken_in.number, world.woken_in[thread]);
					handlers += was.woken_in.kind == SPAN_INTERRUPT;
				}
				waits += is.wait.begin != 0;
				woken += is.woken != 0;
				thread_states_free(then);
			}
			for (uint64_t number = 70; number < 70 + LOCKS; number++) {
				struct thread_states *then = thread_states_new(all.epoch, at, EVENT_NONE);
				struct trace_span was = thread_states_hold(then, number);
				struct trace_span is = thread_states_hold(now, number);

				assert_same(&was, &is);
				assert_true(!is.begin || was.thread == is.thread);
				holders += is.begin != 0;
				thread_states_free(then);
			}
			thread_states_free(now);
			end(&world);
		}
		end(&all);
	}
	assert_true(waits > 20 && holders > 20 && woken > 20 && handlers > 20);
}

/* A world that begins, without anything that has come. */
static struct world fresh(void)
{
	const uint8_t id[16] = { 1 };
	const struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = {
		.cpus = CPUS, .clock_hz = NS_PER_SECOND } };
	struct world world = { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, NULL), .time = BEGAN };

	epoch_events(world.epoch, &guest, 1);
	return world;
}

static void pass(struct world *world, uint64_t until)
{
	world->time = until;
	epoch_ticks(world->epoch, until);
	epoch_over(world->epoch);
}

static struct pairs_thread state_at(const struct world *world, uint64_t at, uint64_t thread)
{
	struct thread_states *states = thread_states_new(world->epoch, at, thread);
	const struct pairs_thread is = thread_states_of(states, thread);

	thread_states_free(states);
	return is;
}

/* Where holds are not told, the last holder of a wait may have got the lock later: the kernel tells it twice. */
static void who_held_it_last_is_not_said_to_have_held_it_then(void **state)
{
	struct world world = fresh();
	struct pairs_thread is;

	(void)state;
	TRACE_GIVE(&world, 0, world.time, lock_wait, .lock = 70, .thread = 1, .holder = 2);
	world.time += STEP;
	TRACE_GIVE(&world, 0, world.time, lock_wait, .lock = 70, .thread = 1, .holder = 3);
	world.time += STEP;
	TRACE_GIVE(&world, 0, world.time, lock_waited, .lock = 70, .thread = 1, .got = 1);
	pass(&world, BEGAN + 10 * STEP);
	is = state_at(&world, BEGAN + STEP / 2, 1);
	assert_true(is.wait.begin == BEGAN && is.wait.holder == 3 && is.held_last);
	assert_int_equal(state_at(&world, BEGAN + 5 * STEP, 1).wait.begin, 0);
	end(&world);
}

/* Of locks that share a name, since there are too many, it is not known who holds which. */
static void locks_beyond_number_have_no_holder(void **state)
{
	enum { MANY = 3000 };
	struct world world = fresh();
	uint64_t at;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++, world.time += STEP) {
		TRACE_GIVE(&world, 0, world.time, lock_acquired, .lock = 100 + i, .thread = 2);
		TRACE_GIVE(&world, 0, world.time, lock_released, .lock = 100 + i, .thread = 2);
	}
	TRACE_GIVE(&world, 0, world.time, lock_acquired, .lock = 10000, .thread = 3);
	TRACE_GIVE(&world, 1, world.time, lock_wait, .lock = 10001, .thread = 1, .holder = EVENT_NONE);
	at = world.time + STEP / 2;
	world.time += STEP;
	TRACE_GIVE(&world, 1, world.time, lock_waited, .lock = 10001, .thread = 1, .got = 0);
	TRACE_GIVE(&world, 0, world.time, lock_released, .lock = 10000, .thread = 3);
	pass(&world, world.time + 10 * STEP);
	assert_true(state_at(&world, at, 1).wait.begin);
	assert_int_equal(state_at(&world, at, 1).wait.holder, EVENT_NONE);
	end(&world);
}

/* The end of the call may be among what is missing. */
static void a_call_is_not_told_beyond_a_loss(void **state)
{
	struct world world = fresh();

	(void)state;
	TRACE_GIVE(&world, 0, world.time, syscall_enter, .thread = 1, .number = 4);
	pass(&world, world.time + STEP);
	assert_int_equal(state_at(&world, 0, 1).call.begin, BEGAN);
	epoch_packet(world.epoch, &(struct packet) {
		.stream = STREAM_TRACE, .begin = world.time, .end = world.time, .lost = 3 });
	TRACE_GIVE(&world, 0, world.time, sched_switch, .from = EVENT_NONE, .to = 1);
	pass(&world, world.time + STEP);
	assert_int_equal(state_at(&world, 0, 1).call.begin, 0);
	end(&world);
}

static struct thread_list *list_at(const struct world *world, uint64_t at, const char *filter)
{
	const struct moment moment = { .epoch = world->epoch };
	struct request request;
	char *error = NULL;

	memset(&request, 0, sizeof(request));
	request.kind = &thread_list_kind;
	request.excerpt = (struct excerpt) { .window_ns = at, .until_ns = at };
	assert_true(filter_parse(filter, &request.excerpt.filter, &error));
	return (struct thread_list *)answer_new(&request, &moment);
}

static void all_threads_are_listed_with_what_they_wait_for(void **state)
{
	struct world world = fresh();
	struct thread_list *list;

	(void)state;
	TRACE_GIVE(&world, 0, world.time, sched_switch, .from = EVENT_NONE, .to = 1);
	TRACE_GIVE(&world, 1, world.time, sched_switch, .from = EVENT_NONE, .to = 2);
	TRACE_GIVE(&world, 1, world.time, lock_acquired, .lock = 70, .thread = 2);
	world.time += STEP;
	TRACE_GIVE(&world, 0, world.time, syscall_enter, .thread = 1, .number = 4);
	TRACE_GIVE(&world, 0, world.time, lock_wait, .lock = 70, .thread = 1, .holder = 2);
	TRACE_GIVE(&world, 0, world.time, sched_switch, .from = 1, .to = 3, .leaves = LEAVES_BLOCKED);
	world.time += 8 * STEP;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		TRACE_GIVE(&world, cpu, world.time, irq_enter, .irq = 4);
	pass(&world, BEGAN + 10 * STEP);
	list = list_at(&world, BEGAN + 5 * STEP, "");
	assert_int_equal(list->at, BEGAN + 5 * STEP);
	assert_int_equal(list->count, 3);
	assert_int_equal(list->rows[0].thread, 1);
	assert_int_equal(list->rows[0].waits, 4 * STEP);
	assert_string_equal(list->rows[0].now,
		"waits for lock 70 for 40ns, held by thread 2, which runs on CPU 1 for 50ns");
	assert_true(list->rows[1].thread == 2 && list->rows[1].waits == 0);
	assert_string_equal(list->rows[2].now, "runs on CPU 0 for 40ns");
	answer_free(&list->answer);
	list = list_at(&world, BEGAN + 5 * STEP, "thread:1");
	assert_true(list->count == 1 && list->rows[0].thread == 1);
	answer_free(&list->answer);
	end(&world);
}

/* As long as events of that time may be still to come, what is told is told as of before, and a next answer comes. */
static void what_is_still_to_come_is_not_told_as_then(void **state)
{
	struct world world = fresh();
	const struct moment moment = { .epoch = world.epoch };
	struct function_request request;

	(void)state;
	memset(&request, 0, sizeof(request));
	request.request.kind = &function_table_kind;
	request.request.excerpt = (struct excerpt) {
		.window_ns = NS_PER_SECOND, .until_ns = BEGAN + STEP, .by = GROUP_THREAD };
	for (int come = 0; come < 2; come++) {
		struct function_table *answer;

		for (uint32_t i = 0; i < 40; i++)
			epoch_packet(world.epoch, &(struct packet) { .stream = STREAM_TRACE, .cpu = i % CPUS,
				.begin = BEGAN, .end = BEGAN + 2 * STEP * (i % CPUS || come) });
		epoch_ticks(world.epoch, BEGAN + 2 * STEP);
		answer = (struct function_table *)answer_new(&request.request, &moment);
		assert_int_equal(answer->time, come ? FUNCTION_THEN : FUNCTION_BEFORE);
		assert_int_equal(answer->answer.partial, !come);
		answer_free(&answer->answer);
	}
	end(&world);
}

/* The rows of threads; of these `visible` are seen, the first of them is under the cursor. */
static struct function_table *table_of(const struct world *world, uint64_t until, const uint32_t *visible, size_t count)
{
	const struct moment moment = { .epoch = world->epoch };
	struct function_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &function_table_kind;
	request.request.excerpt = (struct excerpt) {
		.window_ns = NS_PER_SECOND, .until_ns = until, .by = GROUP_THREAD };
	request.selected = count ? visible[0] : FUNCTION_NONE;
	request.visible_count = count;
	for (size_t i = 0; i < count; i++)
		request.visible[i] = visible[i];
	return (struct function_table *)answer_new(&request.request, &moment);
}

/* A loss is why the table does not say what its threads do: it says so, until it knows; and so it does of that time. */
static void a_loss_is_why_it_is_not_known(void **state)
{
	static const char lost[] = "not known: events lost";
	struct world world = fresh();
	struct function_table *table;
	uint32_t rows[2];
	uint64_t at;

	(void)state;
	TRACE_GIVE(&world, 0, world.time, sched_switch, .from = EVENT_NONE, .to = 1);
	TRACE_GIVE(&world, 1, world.time, sched_switch, .from = EVENT_NONE, .to = 2);
	TRACE_GIVE(&world, 1, world.time, sched_wake, .thread = 1, .waker = 2);
	pass(&world, BEGAN + STEP);
	table = table_of(&world, 0, NULL, 0);
	assert_int_equal(table->table->count, 2);
	for (int i = 0; i < 2; i++)
		rows[i] = table->table->rows[i].function;
	answer_free(&table->answer);
	table = table_of(&world, 0, rows, 2);
	assert_true(table->tells_now && !table->lost);
	assert_string_equal(table->visible[0].now, "on cpu0 0ns");
	answer_free(&table->answer);

	epoch_packet(world.epoch, &(struct packet) {
		.stream = STREAM_TRACE, .begin = world.time, .end = world.time, .lost = 3 });
	TRACE_GIVE(&world, 0, world.time, irq_enter, .irq = 4);
	pass(&world, BEGAN + 2 * STEP);
	at = BEGAN + 3 * STEP / 2;
	table = table_of(&world, 0, rows, 2);
	assert_true(table->tells_now && table->lost);
	assert_string_equal(table->now, "not known, since trace events were lost");
	assert_string_equal(table->visible[0].now, lost);
	assert_string_equal(table->visible[1].now, lost);
	answer_free(&table->answer);

	epoch_packet(world.epoch, &(struct packet) { .stream = STREAM_TRACE, .begin = world.time, .end = world.time });
	TRACE_GIVE(&world, 0, world.time, irq_exit, .irq = 4);
	TRACE_GIVE(&world, 0, world.time, sched_switch, .from = EVENT_NONE, .to = 1);
	pass(&world, BEGAN + 3 * STEP);
	table = table_of(&world, 0, rows, 2);
	assert_true(table->tells_now && table->lost);		/* who woke it was known, too */
	assert_string_equal(table->visible[0].now, "on cpu0 0ns");
	assert_string_equal(table->visible[1].now, lost);
	answer_free(&table->answer);
	table = table_of(&world, at, rows, 2);
	assert_string_equal(table->visible[0].now, lost);
	assert_string_equal(table->visible[1].now, "on cpu1 15ns");	/* nothing of that CPU was lost */
	answer_free(&table->answer);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_told_then_is_told_later),
		cmocka_unit_test(who_held_it_last_is_not_said_to_have_held_it_then),
		cmocka_unit_test(locks_beyond_number_have_no_holder),
		cmocka_unit_test(a_call_is_not_told_beyond_a_loss),
		cmocka_unit_test(all_threads_are_listed_with_what_they_wait_for),
		cmocka_unit_test(what_is_still_to_come_is_not_told_as_then),
		cmocka_unit_test(a_loss_is_why_it_is_not_known),
	};

	return cmocka_run_group_tests_name("thread_states", tests, NULL, NULL);
}
