/* SPDX-License-Identifier: MIT */
/*
 * A guest whose events contradict each other for a moment: an interrupt ends once too often, a switch is missing, a
 * thread is on two CPUs and begins twice. Events, Timeline and Threads show all the rest as without that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/answers/answer.h"
#include "agent/answers/event_table.h"
#include "agent/answers/thread_states.h"
#include "agent/answers/timeline.h"
#include "agent/base/util.h"
#include "tests/unit/fakes/trace_give.h"

enum { CPUS = 2, THREADS = 4, ROUNDS = 100, BROKEN = 50, IRQ = 4, READ = 1 };
enum { EXIT_TOO_MANY = 1, SWITCH_TOO_FEW = 2, THREAD_TWICE = 4, ALL = 7 };

#define ROUND (10 * NS_PER_MS)
#define BEGAN NS_PER_SECOND
#define ENDED (BEGAN + ROUNDS * ROUND)

struct world {
	struct trace_kinds *kinds;
	struct epoch *epoch;
	uint64_t time;
};

static void name_thread(struct world *world, uint32_t thread)
{
	static const char *const names[THREADS] = { "main", "writer", "reader", "flusher" };
	const struct event named = { .kind = EVENT_THREAD, .time = 1, .thread = { .thread = thread, .process = thread,
		.name = { names[thread - 1], strlen(names[thread - 1]) } } };

	epoch_events(world->epoch, &named, 1);
}

/*
 * Two threads take turns on each CPU. What happens at a tenth of the round, on this CPU: the one that sleeps is woken,
 * gets the CPU, makes a call, and is interrupted.
 */
static void act(struct world *world, uint32_t cpu, uint32_t round, uint32_t tenth, int broken)
{
	uint32_t from = 1 + 2 * cpu + round % 2, to = 1 + 2 * cpu + (round + 1) % 2, on_other = 1 + (round + 1) % 2;
	bool twice = (broken & THREAD_TWICE) && cpu == 1;

	if (tenth == 1)
		TRACE_GIVE(world, cpu, world->time, sched_wake, .thread = to, .waker = from);
	if (tenth == 2 && !((broken & SWITCH_TOO_FEW) && cpu == 1))
		TRACE_GIVE(world, cpu, world->time, sched_switch, .from = from, .to = to, .leaves = LEAVES_ASLEEP);
	if (tenth == 3)
		TRACE_GIVE(world, cpu, world->time, syscall_enter, .thread = to, .number = READ);
	if (tenth == 6)
		TRACE_GIVE(world, cpu, world->time, syscall_exit, .thread = to, .number = READ);
	if (tenth == 7 && cpu == 0)
		TRACE_GIVE(world, cpu, world->time, irq_enter, .irq = IRQ);
	if (tenth == 8 && cpu == 0)
		TRACE_GIVE(world, cpu, world->time, irq_exit, .irq = IRQ);
	if (tenth == 9 && cpu == 0 && (broken & EXIT_TOO_MANY))
		TRACE_GIVE(world, cpu, world->time, irq_exit, .irq = IRQ);
	if (tenth == 7 && twice) {
		name_thread(world, on_other);
		TRACE_GIVE(world, cpu, world->time, task_begin, .thread = on_other, .process = on_other, .parent = to);
		TRACE_GIVE(world, cpu, world->time, sched_switch, .from = to, .to = on_other, .leaves = LEAVES_READY);
	}
	if (tenth == 9 && twice)
		TRACE_GIVE(world, cpu, world->time, sched_switch, .from = on_other, .to = to, .leaves = LEAVES_READY);
}

static struct world play(int broken)
{
	const uint8_t id[16] = { 1 };
	const struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = {
		.cpus = CPUS, .clock_hz = NS_PER_SECOND } };
	struct world world = { .kinds = trace_kinds_new(), .epoch = epoch_new(id, NULL, NULL), .time = BEGAN };

	world.epoch->number = 1;
	epoch_events(world.epoch, &guest, 1);
	for (uint32_t thread = 1; thread <= THREADS; thread++)
		name_thread(&world, thread);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		TRACE_GIVE(&world, cpu, world.time, sched_switch, .from = EVENT_NONE, .to = 1 + 2 * cpu);
	for (uint32_t i = 1; i < 10 * ROUNDS; i++)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			world.time = BEGAN + i * (ROUND / 10);
			act(&world, cpu, i / 10, i % 10, i / 10 == BROKEN ? broken : 0);
		}
	epoch_ticks(world.epoch, ENDED);
	epoch_over(world.epoch);
	return world;
}

static void end(const struct world *world)
{
	epoch_release(world->epoch);
	trace_kinds_free(world->kinds);
}

/* ---- Events ---- */

static struct event_table *ask_events(const struct world *world, enum event_by by)
{
	const struct moment moment = { .epoch = world->epoch };
	struct event_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &event_table_kind;
	request.request.excerpt = (struct excerpt) { .window_ns = ENDED - BEGAN, .until_ns = ENDED, .moved = 1 };
	request.by = by;
	return (struct event_table *)answer_new(&request.request, &moment);
}

static const struct event_row *row_of(const struct event_table *table, const struct event_row *like)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (table->rows[i].kind == like->kind && table->rows[i].number == like->number &&
				table->rows[i].part == like->part)
			return &table->rows[i];
	return NULL;
}

/* Each row is there, with nearly as many, which took as long; and it is told how many have no partner. */
static void check_events(const struct world *whole, const struct world *world, enum event_by by, uint64_t unmatched)
{
	struct event_table *is = ask_events(whole, by), *table = ask_events(world, by);

	assert_true(is->count >= 4 && !is->unmatched && !is->lost);
	assert_int_equal(table->unmatched, unmatched);
	for (uint32_t i = 0; i < is->count; i++) {
		const struct event_row *row = row_of(table, &is->rows[i]);

		assert_non_null(row);
		assert_in_range(row->count + 2, is->rows[i].count, is->rows[i].count + 4);
		assert_int_equal(row->p50, is->rows[i].p50);
	}
	answer_free(&is->answer);
	answer_free(&table->answer);
}

/* ---- Timeline ---- */

/* A column is a round. */
static struct timeline *ask_timeline(const struct world *world)
{
	const struct moment moment = { .epoch = world->epoch };
	struct timeline_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &timeline_kind;
	request.request.excerpt = (struct excerpt) { .window_ns = ENDED - BEGAN, .until_ns = ENDED, .moved = 1 };
	request.columns = ROUNDS;
	request.focus = request.of = 1;
	return (struct timeline *)answer_new(&request.request, &moment);
}

static const struct timeline_row *line_of(const struct timeline *timeline, const struct timeline_row *like)
{
	for (uint32_t i = 0; i < timeline->count; i++)
		if (timeline->rows[i].is_cpu == like->is_cpu && timeline->rows[i].number == like->number)
			return &timeline->rows[i];
	return NULL;
}

/* Each cell but those around that moment: a switch that is missing leaves what came before and behind it unknown. */
static void check_timeline(const struct world *whole, const struct world *world)
{
	struct timeline *is = ask_timeline(whole), *timeline = ask_timeline(world);

	assert_int_equal(is->count, CPUS + THREADS);
	assert_int_equal(timeline->count, is->count);
	for (uint32_t i = 0; i < is->count; i++) {
		const struct timeline_row *row = line_of(timeline, &is->rows[i]);

		assert_non_null(row);
		for (uint32_t k = 0; k < ROUNDS; k++) {
			const struct timeline_cell *one = &is->rows[i].cells[k], *other = &row->cells[k];

			if (k + 1 >= BROKEN && k <= BROKEN + 1)
				continue;
			assert_int_equal(other->state, one->state);
			assert_int_equal(other->who, one->who);
			assert_string_equal(timeline->names[other->name], is->names[one->name]);
		}
		if (!row->is_cpu)
			assert_string_equal(timeline_title(timeline, 0, row->number),
				timeline_title(is, 0, row->number));
	}
	answer_free(&is->answer);
	answer_free(&timeline->answer);
}

/* ---- Threads ---- */

/* Now, and in each round but those around that moment. */
static void check_threads(const struct world *whole, const struct world *world)
{
	for (uint32_t round = 2; round <= ROUNDS; round++) {
		uint64_t at = round < ROUNDS ? BEGAN + round * ROUND + ROUND / 20 : 0;
		struct thread_states *is, *states;

		if (round >= BROKEN && round <= BROKEN + 2)
			continue;
		is = thread_states_new(whole->epoch, at, EVENT_NONE);
		states = thread_states_new(world->epoch, at, EVENT_NONE);
		for (uint32_t thread = 1; thread <= THREADS; thread++) {
			struct pairs_thread one = thread_states_of(is, thread);
			struct pairs_thread other = thread_states_of(states, thread);

			assert_true(one.now.begin != 0);
			assert_int_equal(other.now.begin, one.now.begin);
			assert_int_equal(other.now.kind, one.now.kind);
			assert_int_equal(other.now.cpu, one.now.cpu);
			assert_int_equal(other.call.begin, one.call.begin);
		}
		thread_states_free(is);
		thread_states_free(states);
	}
}

static void all_the_rest_is_shown(void **state)
{
	static const struct { int broken; uint64_t unmatched; } kinds[] = {
		{ EXIT_TOO_MANY, 1 }, { SWITCH_TOO_FEW, 1 }, { THREAD_TWICE, 0 }, { ALL, 2 },
	};
	struct world whole = play(0);

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct world world = play(kinds[i].broken);

		check_events(&whole, &world, EVENT_BY_NAME, kinds[i].unmatched);
		check_events(&whole, &world, EVENT_BY_THREAD, kinds[i].unmatched);
		check_timeline(&whole, &world);
		check_threads(&whole, &world);
		end(&world);
	}
	end(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_the_rest_is_shown),
	};

	return cmocka_run_group_tests_name("contradictions", tests, NULL, NULL);
}
