/* SPDX-License-Identifier: MIT */
/*
 * The rows of Events that ktop knows by their names alone; and the slowest spans: which they are, their arguments, and
 * what their threads did meanwhile, to the ns.
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
#include "agent/answers/thread_now.h"
#include "agent/answers/thread_states.h"
#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "agent/store/store.h"
#include "agent/trace/trace.h"
#include "agent/wire/payload.h"
#include "tests/unit/fakes/random.h"
#include "tests/unit/fakes/trace_give.h"

enum { READER = 7, WRITER = 9, STRANGER = 8, READ = 1, SYNC = 2, LOCK = 5, IRQ = 4, CALLS = 150000 };

static const uint64_t minute = 60 * NS_PER_SECOND;

struct world {
	struct trace_kinds *kinds;
	struct budget *budget;
	struct epoch *epoch;
	uint64_t until;			/* nothing is given from then on; 0: all is */
};

static void give(const struct world *world, uint32_t cpu, uint64_t time, uint16_t id, const void *fields, size_t size)
{
	if (!world->until || time < world->until)
		trace_give(world->epoch, world->kinds, cpu, time, id, fields, size);
}

#define GIVE(world, cpu, time, name, ...) give(world, cpu, time, KTOP_EVENT_##name, \
	&(const struct ktop_wire_##name) { __VA_ARGS__ }, sizeof(struct ktop_wire_##name))

static struct text text_of(const char *text)
{
	return (struct text) { text, strlen(text) };
}

static void tell(const struct world *world)
{
	static const char *const arguments[] = { [READ] = "u32 file;u64 size;", [SYNC] = "" };
	static const char *const names[] = { [READ] = "read", [SYNC] = "sync" };
	const struct event guest = { .kind = EVENT_GUEST, .time = 1, .guest = {
		.cpus = 2, .clock_hz = NS_PER_SECOND, .kernel = text_of("Linux"), .arch = text_of("x86_64") } };

	epoch_events(world->epoch, &guest, 1);
	for (uint32_t i = READ; i <= SYNC; i++) {
		const struct event told[] = {
			{ .kind = EVENT_NUMBER, .time = 1, .number = {
				.event = KTOP_EVENT_syscall_enter, .number = i, .name = text_of(names[i]) } },
			{ .kind = EVENT_ARGUMENTS, .time = 1, .arguments = {
				.event = KTOP_EVENT_syscall_enter, .number = i, .fields = text_of(arguments[i]) } },
		};

		epoch_events(world->epoch, told, 2);
	}
	for (uint32_t thread = READER; thread <= WRITER; thread += WRITER - READER) {
		const struct event named = { .kind = EVENT_THREAD, .time = 1, .thread = {
			.thread = thread, .process = thread,
			.name = text_of(thread == READER ? "reader" : "writer") } };

		epoch_events(world->epoch, &named, 1);
	}
}

static struct world begin(size_t mib)
{
	const uint8_t id[16] = { 1 };
	struct world world = { .kinds = trace_kinds_new(), .budget = mib ? budget_new(mib) : NULL };

	world.epoch = epoch_new(id, NULL, world.budget);
	world.epoch->number = 1;
	tell(&world);
	return world;
}

static void end(const struct world *world)
{
	epoch_release(world->epoch);
	trace_kinds_free(world->kinds);
	if (world->budget)
		budget_release(world->budget);
}

/* `of`: whose slowest spans are told; NULL: nobody's. */
static struct event_table *ask_about(const struct world *world, uint64_t from, uint64_t to, enum event_by by,
	const struct slow_of *of, const char *filter)
{
	const struct moment moment = { .epoch = world->epoch };
	struct event_request request;
	char *error = NULL;

	memset(&request, 0, sizeof(request));
	request.request.kind = &event_table_kind;
	request.request.excerpt = (struct excerpt) { .window_ns = to - from, .until_ns = to, .moved = 1 };
	assert_true(filter_parse(filter, &request.request.excerpt.filter, &error));
	request.by = by;
	if (of) {
		request.slow = 1;
		request.slow_kind = of->kind;
		request.slow_numbers[0] = of->number;
		request.slow_part = of->part;
	}
	return (struct event_table *)answer_new(&request.request, &moment);
}

static struct event_table *ask_by(const struct world *world, uint64_t to, enum event_by by, struct slow_of of,
	const char *filter)
{
	epoch_ticks(world->epoch, to);
	epoch_over(world->epoch);
	return ask_about(world, 0, to, by, &of, filter);
}

/* By the names alone, or, for a part, by threads. */
static struct event_table *ask(const struct world *world, uint64_t to, struct slow_of of, const char *filter)
{
	return ask_by(world, to, of.part == SLOW_ALL ? EVENT_BY_NAME : EVENT_BY_THREAD, of, filter);
}

/* The reader waits for the lock that the writer holds, asleep and then for a CPU; later it sleeps once more. */
static void play(const struct world *world)
{
	GIVE(world, 0, 1000, sched_switch, .from = EVENT_NONE, .to = READER);
	GIVE(world, 1, 1000, sched_switch, .from = EVENT_NONE, .to = WRITER);
	GIVE(world, 1, 1500, lock_acquired, .lock = LOCK, .thread = WRITER);
	GIVE(world, 0, 2000, syscall_enter, .thread = READER, .number = READ, .arg0 = 3, .arg1 = 0x10000);
	GIVE(world, 0, 3000, lock_wait, .lock = LOCK, .thread = READER, .holder = EVENT_NONE);
	GIVE(world, 0, 3100, sched_switch, .from = READER, .to = EVENT_NONE, .leaves = LEAVES_BLOCKED);
	GIVE(world, 0, 4000, irq_enter, .irq = IRQ);
	GIVE(world, 0, 4500, irq_exit, .irq = IRQ);
	GIVE(world, 1, 8000, lock_released, .lock = LOCK, .thread = WRITER);
	GIVE(world, 1, 8000, sched_wake, .thread = READER, .waker = WRITER);
	GIVE(world, 0, 9000, sched_switch, .from = EVENT_NONE, .to = READER);
	GIVE(world, 0, 9100, lock_acquired, .lock = LOCK, .thread = READER);
	GIVE(world, 0, 9500, lock_released, .lock = LOCK, .thread = READER);
	GIVE(world, 0, 10000, sched_switch, .from = READER, .to = EVENT_NONE, .leaves = LEAVES_ASLEEP);
	GIVE(world, 0, 11000, sched_wake, .thread = READER, .waker = EVENT_NONE);
	GIVE(world, 0, 12000, sched_switch, .from = EVENT_NONE, .to = READER);
	GIVE(world, 0, 13000, syscall_exit, .thread = READER, .number = READ, .result = (uint64_t)-2);
	GIVE(world, 0, 13100, syscall_enter, .thread = READER, .number = READ, .arg0 = 4, .arg1 = 8);
	GIVE(world, 0, 13400, syscall_exit, .thread = READER, .number = READ, .result = 8);
	GIVE(world, 1, 14000, syscall_enter, .thread = STRANGER, .number = READ, .arg0 = 5);
	GIVE(world, 1, 14900, syscall_exit, .thread = STRANGER, .number = READ);
	GIVE(world, 0, 15000, sched_switch, .from = READER, .to = EVENT_NONE, .leaves = LEAVES_ASLEEP);
}

static void test_what_a_call_waited_for(void **state)
{
	const struct world world = begin(0);
	struct event_table *table;
	const struct slow_row *row;
	char text[SLOW_PARTS];

	(void)state;
	play(&world);
	table = ask(&world, 20000, (struct slow_of) { SPAN_CALL, READ, SLOW_ALL }, "");
	assert_int_equal(table->slow_count, 3);
	row = &table->slow[0];
	assert_int_equal(row->begin, 2000);
	assert_int_equal(row->end, 13000);
	assert_string_equal(row->title, "reader/7");
	assert_string_equal(row->called, "read");
	assert_string_equal(row->call, "read(file=3, size=0x10000) = -2 ENOENT");
	assert_int_equal(row->ran, 1100 + 1000 + 1000);
	assert_int_equal(row->blocked, 4900);
	assert_int_equal(row->slept, 1000);
	assert_int_equal(row->ready, 1000 + 1000);
	assert_int_equal(row->unknown, 0);
	assert_int_equal(row->locked, 6100);
	assert_int_equal(row->lock_ns, 6100);
	assert_int_equal(row->holder, WRITER);
	assert_string_equal(slow_row_waited(row, text), "lock 5 55%, writer/9");
	assert_string_equal(slow_row_parts(row, text), "ran 28%, slept 9%, was blocked 45%, waited for a CPU 18%; "
		"waited for lock 5 55%, held by writer/9; "
		"meanwhile the CPU was idle for 18%");
	assert_string_equal(table->slow[1].call, "read(file=5, size=0) = 0");	/* nothing tells of this thread */
	assert_int_equal(table->slow[1].unknown, 900);
	assert_string_equal(slow_row_waited(&table->slow[1], text), "not known");
	assert_string_equal(table->slow[2].call, "read(file=4, size=8) = 8");
	assert_int_equal(table->slow[2].ran, 300);
	assert_string_equal(slow_row_waited(&table->slow[2], text), "ran 100%");
	answer_free(&table->answer);
	end(&world);
}

/* Why the reader started late: its CPU ran the writer, and an interrupt. */
static void test_what_ran_while_a_thread_waited_for_a_cpu(void **state)
{
	const struct world world = begin(0);
	struct event_table *table;
	char text[SLOW_PARTS];

	(void)state;
	GIVE(&world, 0, 500, sched_switch, .from = EVENT_NONE, .to = READER);
	GIVE(&world, 0, 600, sched_switch, .from = READER, .to = WRITER, .leaves = LEAVES_ASLEEP);
	GIVE(&world, 1, 700, sched_switch, .from = EVENT_NONE, .to = STRANGER);
	GIVE(&world, 1, 1000, sched_wake, .thread = READER, .waker = STRANGER);
	GIVE(&world, 0, 2000, irq_enter, .irq = IRQ);
	GIVE(&world, 0, 2400, irq_exit, .irq = IRQ);
	GIVE(&world, 0, 4000, sched_switch, .from = WRITER, .to = EVENT_NONE, .leaves = LEAVES_ASLEEP);
	GIVE(&world, 0, 5000, sched_switch, .from = EVENT_NONE, .to = READER);
	table = ask(&world, 20000, (struct slow_of) { SPAN_READY, READY_WOKEN, SLOW_ALL }, "");
	assert_int_equal(table->slow_count, 1);
	assert_true(table->slow[0].ahead == WRITER && table->slow[0].ahead_ns == 3000);
	assert_int_equal(table->slow[0].handler.ns, 400);
	assert_string_equal(slow_row_waited(&table->slow[0], text), "cpu 100%, writer/9");
	assert_string_equal(slow_row_parts(&table->slow[0], text),
		"waited for a CPU 100%; meanwhile the CPU ran writer/9 for 75%; irq 4 ran for 10%");
	answer_free(&table->answer);
	end(&world);
}

/* The row of it that has something under way. NULL: there is none. */
static const struct event_row *open_row(const struct event_table *table, enum span_kind kind, uint64_t number)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (table->rows[i].open && table->rows[i].kind == kind && table->rows[i].number == number)
			return &table->rows[i];
	return NULL;
}

static void assert_open(const struct event_table *table, enum span_kind kind, uint64_t number, uint64_t since,
	uint32_t thread)
{
	const struct event_row *row = open_row(table, kind, number);

	assert_non_null(row);
	assert_int_equal(row->open, 1);
	assert_int_equal(row->oldest, since);
	assert_int_equal(row->oldest_ns, table->to - since);
	assert_int_equal(row->oldest_of, thread);
}

/* What has begun and not ended has a row, before its end has come. */
static void test_what_has_not_ended_is_told(void **state)
{
	struct world world = begin(0);
	struct event_table *table;

	(void)state;
	world.until = 5000;
	play(&world);
	table = ask(&world, 5000, (struct slow_of) { .part = SLOW_ALL }, "");
	assert_open(table, SPAN_CALL, READ, 2000, READER);
	assert_open(table, SPAN_LOCK, LOCK, 3000, READER);
	assert_open(table, SPAN_SLEEP, SLEEP_BLOCKED, 3100, READER);
	assert_open(table, SPAN_HOLD, LOCK, 1500, WRITER);
	assert_null(open_row(table, SPAN_INTERRUPT, IRQ));
	assert_int_equal(open_row(table, SPAN_CALL, READ)->count, 0);
	answer_free(&table->answer);
	table = ask(&world, 5000, (struct slow_of) { .part = SLOW_ALL }, "comm:writer");
	assert_null(open_row(table, SPAN_CALL, READ));
	assert_open(table, SPAN_HOLD, LOCK, 1500, WRITER);
	answer_free(&table->answer);
	end(&world);
}

/* At any time, it is what was known then: whether asked then, or when all has ended. */
static void test_what_has_not_ended_is_of_the_moment(void **state)
{
	const struct world all = begin(0);

	(void)state;
	play(&all);
	for (uint64_t to = 1000; to < 15500; to += 50) {
		struct world world = begin(0);
		struct event_table *then, *later;
		uint32_t open = 0, as_open = 0;

		world.until = to;
		play(&world);
		then = ask(&world, to, (struct slow_of) { .part = SLOW_ALL }, "");
		later = ask(&all, to, (struct slow_of) { .part = SLOW_ALL }, "");
		for (uint32_t i = 0; i < later->count; i++)
			as_open += later->rows[i].open != 0;
		for (uint32_t i = 0; i < then->count; i++) {
			const struct event_row *row = &then->rows[i], *same = open_row(later, row->kind, row->number);

			open += row->open != 0;
			assert_true((same != NULL) == (row->open != 0));
			if (!same)
				continue;
			assert_int_equal(same->open, row->open);
			assert_int_equal(same->oldest, row->oldest);
			assert_int_equal(same->oldest_ns, row->oldest_ns);
		}
		assert_int_equal(open, as_open);
		answer_free(&then->answer);
		answer_free(&later->answer);
		end(&world);
	}
	end(&all);
}

/* Where other events are traced from some time on, it is so as far as it is known; once more has come, it is lost. */
static void test_what_is_not_known_any_more_is_lost(void **state)
{
	const struct event filters = { .kind = EVENT_FILTERS, .time = 6000,
		.filters = { .bytes = "lock:thread=7", .size = 13 } };
	struct world world = begin(0);
	struct event_table *table;
	const struct event_row *row;

	(void)state;
	world.until = 5000;
	play(&world);
	epoch_events(world.epoch, &filters, 1);
	table = ask(&world, 7000, (struct slow_of) { .part = SLOW_ALL }, "");
	row = open_row(table, SPAN_LOCK, LOCK);
	assert_non_null(row);
	assert_true(row->open == 1 && row->oldest == 3000 && row->oldest_ns == 3000 && row->lost == 0);
	assert_string_equal(table->filters, "lock:thread=7");
	answer_free(&table->answer);
	world.until = 0;
	GIVE(&world, 1, 8000, irq_enter, .irq = IRQ);
	table = ask(&world, 9000, (struct slow_of) { .part = SLOW_ALL }, "");
	assert_null(open_row(table, SPAN_LOCK, LOCK));
	for (uint32_t i = 0; i < table->count; i++)
		if (table->rows[i].kind != SPAN_INTERRUPT)
			assert_int_equal(table->rows[i].lost, 1);
	assert_true(table->count >= 4);
	answer_free(&table->answer);
	end(&world);
}

/* Of one thread, by the filter, of locks, of interrupts, of what there is none. */
static void test_of_which_row(void **state)
{
	static const struct {
		struct slow_of of;
		const char *filter;
		uint32_t count;
		uint64_t took;
		const char *waited;
	} rows[] = {
		{ { SPAN_CALL, READ, READER }, "", 2, 11000, "lock 5 55%, writer/9" },
		{ { SPAN_CALL, READ, SLOW_ALL }, "thread:8", 1, 900, "not known" },
		{ { SPAN_CALL, READ, SLOW_ALL }, "cpu:1", 1, 900, "not known" },
		{ { SPAN_CALL, READ, SLOW_ALL }, "comm:writer", 0, 0, NULL },
		{ { SPAN_LOCK, LOCK, SLOW_ALL }, "", 1, 6100, "lock 5 100%, writer/9" },
		{ { SPAN_HOLD, LOCK, SLOW_ALL }, "", 2, 6500, "ran 100%" },
		{ { SPAN_INTERRUPT, IRQ, SLOW_ALL }, "", 1, 500, "-" },
		{ { SPAN_SLEEP, SLEEP_BLOCKED, SLOW_ALL }, "", 1, 4900, "lock 5 100%, writer/9" },
		{ { SPAN_CALL, SYNC, SLOW_ALL }, "", 0, 0, NULL },
	};
	const struct world world = begin(0);
	char text[SLOW_WAITED];

	(void)state;
	play(&world);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct event_table *table = ask(&world, 20000, rows[i].of, rows[i].filter);

		assert_true(table->slow_told);
		assert_int_equal(table->slow_count, rows[i].count);
		if (rows[i].count) {
			assert_int_equal(table->slow[0].end - table->slow[0].begin, rows[i].took);
			assert_string_equal(slow_row_waited(&table->slow[0], text), rows[i].waited);
		}
		answer_free(&table->answer);
	}
	end(&world);
}

/* ---- more calls than have rows ---- */

static uint64_t took[CALLS], ended[CALLS];

static int longest_first(const void *left, const void *right)
{
	uint64_t a = took[*(const uint32_t *)left], b = took[*(const uint32_t *)right];

	return a < b ? 1 : a > b ? -1 : 0;
}

/* A call's second argument is its place in `took`. */
static void call_often(const struct world *world)
{
	struct random random = { 3 };
	uint64_t time = minute;

	for (uint32_t i = 0; i < CALLS; i++) {
		took[i] = 1 + random_below(&random, 1000000);
		GIVE(world, i % 2, time, syscall_enter, .thread = 1 + i % 2, .number = READ, .arg0 = 1, .arg1 = i);
		time += took[i];
		GIVE(world, i % 2, time, syscall_exit, .thread = 1 + i % 2, .number = READ, .result = i);
		ended[i] = time;
		time += minute * 5 / CALLS;
	}
}

static void test_older_than_all_rows(void **state)
{
	static uint32_t order[CALLS];
	const struct world world = begin(BUDGET_LEAST_MIB);
	struct event_table *table;
	uint32_t count = 0, old = 0, whole = 0;
	char call[64];

	(void)state;
	call_often(&world);
	table = ask(&world, ended[CALLS - 1] + 1, (struct slow_of) { SPAN_CALL, READ, SLOW_ALL }, "");
	assert_int_equal(table->slow_from, 0);
	assert_true(table->exact_from > minute && table->exact_from < ended[CALLS - 1]);
	assert_int_equal(table->kept_from, 0);
	assert_false(table->slow_forgot);
	for (uint32_t i = 0; i < CALLS; i++)
		order[count++] = i;
	qsort(order, count, sizeof(*order), longest_first);
	assert_int_equal(table->slow_count, SLOWEST);
	for (uint32_t i = 0; i < SLOWEST; i++) {
		const struct slow_row *row = &table->slow[i];

		assert_int_equal(row->end - row->begin, took[order[i]]);
		snprintf(call, sizeof(call), order[i] > 0xffff ? "read(file=1, size=0x%x) = %u" :
			"read(file=1, size=%u) = %u", (unsigned)order[i], (unsigned)order[i]);
		assert_string_equal(row->call, call);
		old += row->end < table->exact_from;
	}
	assert_true(old > 0);
	answer_free(&table->answer);

	/* Of a short range, the longest of all; the arguments of those alone that were among their minute's longest. */
	table = ask(&world, ended[CALLS - 1] + 1, (struct slow_of) { SPAN_CALL, READ, 2 }, "cpu:1");
	for (uint32_t i = 0; i < table->slow_count; i++)
		whole += strcmp(table->slow[i].call, "read(...) = ?") != 0;
	assert_int_equal(table->slow_count, SLOWEST);
	assert_true(whole > 0);
	answer_free(&table->answer);
	end(&world);
}

/* ---- what is summed up, against what is not ---- */

enum { OLD_CALLS = 260000, OLD_THREADS = 6, OLD_CPUS = 3, OLD_RANGES = 24 };

/* Calls of some threads, one after the other on each CPU: most are short, and all of a thread alike. */
static uint64_t call_for_minutes(const struct world *world)
{
	struct random random = { 11 };
	uint64_t time = minute;

	for (uint32_t i = 0; i < OLD_CALLS; i++) {
		uint32_t thread = 1 + (uint32_t)random_below(&random, OLD_THREADS), cpu = thread % OLD_CPUS;
		uint32_t number = random_below(&random, 4) ? READ : SYNC;
		uint64_t ns = 1 + random_below(&random, (uint64_t)1000 << thread) + (random_below(&random, 1000) ? 0 :
			random_below(&random, 50 * NS_PER_MS));

		GIVE(world, cpu, time, syscall_enter, .thread = thread, .number = number);
		GIVE(world, cpu, time += ns, syscall_exit, .thread = thread, .number = number);
		time += random_below(&random, 2 * minute / OLD_CALLS * 10);
	}
	return time;
}

/* Those that have ended spans: they come first. */
static uint32_t ended_rows(const struct event_table *table)
{
	uint32_t count = 0;

	while (count < table->count && table->rows[count].count)
		count++;
	return count;
}

static void compare_rows(const struct event_table *sums, const struct event_table *whole)
{
	assert_int_equal(ended_rows(sums), ended_rows(whole));
	for (uint32_t i = 0; i < ended_rows(sums); i++) {
		const struct event_row *a = &sums->rows[i], *b = &whole->rows[i];
		uint64_t trend = 0, over[2] = { 0, 0 };

		assert_int_equal(a->number, b->number);
		assert_int_equal(a->part, b->part);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->total, b->total);
		assert_int_equal(a->open, sums->open_known ? b->open : 0);
		assert_in_range(a->p50, b->p50 - b->p50 / 32, b->p50);
		assert_in_range(a->p99, b->p99 - b->p99 / 32, b->p99);
		assert_in_range(a->max, b->max - b->max / 32, b->max);
		assert_memory_equal(a->bars, b->bars, sizeof(a->bars));
		for (int k = 0; k < EVENT_TREND; k++)
			trend += a->trend[k];
		for (int k = 0; k < EVENT_OVER; k++) {
			over[0] += a->over[k];
			over[1] += b->over[k];
		}
		assert_int_equal(over[0], a->count);
		assert_int_equal(over[1], b->count);
		if (sums->to - sums->from <= EVENT_TREND * NS_PER_SECOND)
			assert_true(trend >= a->count);		/* a slot is wider than the trend, or than the range */
	}
}

/* Each part of the range has the spans that ended in it. */
static void test_spans_over_time(void **state)
{
	const struct world world = begin(0);
	struct random random = { 5 };
	uint32_t over[EVENT_OVER] = { 0 };
	uint64_t from = minute, to = minute + 8 * NS_PER_SECOND, time = minute - NS_PER_SECOND;
	struct event_table *table;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		GIVE(&world, 0, time, syscall_enter, .thread = READER, .number = READ);
		time += 1 + random_below(&random, 20 * NS_PER_MS);
		GIVE(&world, 0, time, syscall_exit, .thread = READER, .number = READ);
		if (time >= from && time < to)
			over[(time - from) * EVENT_OVER / (to - from)]++;
	}
	epoch_ticks(world.epoch, time + NS_PER_SECOND);
	epoch_over(world.epoch);
	table = ask_about(&world, from, to, EVENT_BY_NAME, NULL, "");
	assert_int_equal(table->from, from);
	assert_int_equal(table->to, to);
	assert_memory_equal(table->rows[0].over, over, sizeof(over));
	answer_free(&table->answer);
	end(&world);
}

/* What is said of a baseline is what was said of its range. */
static void test_a_baseline_is_what_was(void **state)
{
	const struct world world = begin(BUDGET_LEAST_MIB);
	const struct moment moment = { .epoch = world.epoch };
	struct random random = { 9 };
	uint64_t to = call_for_minutes(&world);
	char *error = NULL;

	(void)state;
	epoch_ticks(world.epoch, to);
	epoch_over(world.epoch);
	for (int i = 0; i < 10; i++) {
		uint64_t last = 1 + random_below(&random, to), window = 1 + random_below(&random, last), found = 0;
		struct event_table *before = ask_about(&world, last - window, last, EVENT_BY_THREAD, NULL, ""), *now;
		struct event_request request;

		memset(&request, 0, sizeof(request));
		request.request.kind = &event_table_kind;
		request.request.excerpt = (struct excerpt) { .window_ns = NS_PER_SECOND, .until_ns = to, .moved = 1,
			.base = { .window_ns = window, .until_ns = last, .moved = 1 } };
		assert_true(filter_parse("", &request.request.excerpt.filter, &error));
		request.by = EVENT_BY_THREAD;
		now = (struct event_table *)answer_new(&request.request, &moment);
		assert_true(now->compared && !before->compared);
		assert_int_equal(now->base_from, before->from);
		assert_int_equal(now->base_to, before->to);
		for (uint32_t k = 0; k < now->count; k++)
			for (uint32_t n = 0; n < before->count; n++) {
				const struct event_row *row = &now->rows[k], *was = &before->rows[n];

				if (row->kind != was->kind || row->number != was->number || row->part != was->part)
					continue;
				found++;
				assert_int_equal(row->was.count, was->count);
				assert_int_equal(row->was.total, was->total);
				assert_in_range(row->was.p50, was->p50 - was->p50 / 32, was->p50);
				assert_in_range(row->was.p99, was->p99 - was->p99 / 32, was->p99);
			}
		assert_int_equal(found, before->count);
		answer_free(&now->answer);
		answer_free(&before->answer);
	}
	end(&world);
}

/* Spans that had to be summed up tell the same as if each were still there: of whole slots, which the answer names. */
static void test_sums_tell_what_rows_did(void **state)
{
	static const char *const filters[] = { "", "", "cpu:1", "!cpu:0" };
	const struct world small = begin(BUDGET_LEAST_MIB), large = begin(0);
	struct random random = { 5 };
	uint64_t to = call_for_minutes(&small), coarse = 0;

	(void)state;
	assert_int_equal(call_for_minutes(&large), to);
	epoch_ticks(small.epoch, to);
	epoch_over(small.epoch);
	epoch_ticks(large.epoch, to);
	epoch_over(large.epoch);
	for (int i = 0; i < OLD_RANGES; i++) {
		uint64_t begin = i % 4 ? 0 : to - to / 16, first = begin + random_below(&random, to - begin);
		uint64_t last = first + 1 + random_below(&random, to - first);
		enum event_by by = i % 3 == 1 ? EVENT_BY_THREAD : i % 3 ? EVENT_BY_CPU : EVENT_BY_NAME;
		struct event_table *sums = ask_about(&small, first, last, by, NULL, filters[i % 4]), *whole;

		assert_int_equal(sums->kept_from, 0);
		assert_false(sums->forgot);
		assert_true(sums->exact_from > 2 * minute);
		if (first >= sums->exact_from + STORE_SLICE_NS) {	/* rounded as a range of samples is */
			assert_in_range(sums->from, first - STORE_SLICE_NS, first + STORE_SLICE_NS);
			assert_in_range(sums->to, last - STORE_SLICE_NS, last + STORE_SLICE_NS);
		}
		assert_int_equal(sums->open_known, sums->to >= sums->exact_from);
		whole = ask_about(&large, sums->from, sums->to, by, NULL, filters[i % 4]);
		assert_int_equal(whole->exact_from, 0);
		assert_int_equal(whole->from, sums->from);
		compare_rows(sums, whole);
		coarse += sums->from != first && sums->from % NS_PER_SECOND == 0;
		answer_free(&sums->answer);
		answer_free(&whole->answer);
	}
	assert_true(coarse > OLD_RANGES / 4);
	end(&small);
	end(&large);
}

/* Of a call whose end was lost, a baseline has no duration either. */
static void test_a_baseline_has_no_lost_span(void **state)
{
	const struct world world = begin(0);
	const struct moment moment = { .epoch = world.epoch };
	struct event_request request;
	struct event_table *table;

	(void)state;
	GIVE(&world, 0, 1000, syscall_enter, .thread = READER, .number = READ);
	GIVE(&world, 0, 3000, syscall_exit, .thread = READER, .number = READ);
	GIVE(&world, 0, 4000, syscall_enter, .thread = READER, .number = READ);
	epoch_packet(world.epoch, &(struct packet) {
		.stream = STREAM_TRACE, .cpu = 0, .begin = NS_PER_SECOND, .end = NS_PER_SECOND, .lost = 3 });
	GIVE(&world, 0, 2 * NS_PER_SECOND, syscall_enter, .thread = READER, .number = READ);
	epoch_ticks(world.epoch, 3 * NS_PER_SECOND);
	epoch_over(world.epoch);
	memset(&request, 0, sizeof(request));
	request.request.kind = &event_table_kind;
	request.request.excerpt = (struct excerpt) { .base = { .until_ns = 3 * NS_PER_SECOND } };
	table = (struct event_table *)answer_new(&request.request, &moment);
	assert_int_equal(table->rows[0].count, 1);
	assert_int_equal(table->rows[0].lost, 1);
	assert_int_equal(table->rows[0].was.count, 1);
	assert_int_equal(table->rows[0].was.total, 2000);
	assert_int_equal(table->rows[0].was.max, 2000);
	answer_free(&table->answer);
	end(&world);
}

/* ---- other events ---- */

enum { DISK_BEGIN = 70, DISK_END, DISK_IDLE, LONE_BEGIN, DISK_FLUSH, DISKS };

static void describe(const struct world *world, uint16_t id, const char *name, const char *fields)
{
	const struct event event = { .kind = EVENT_DESCRIPTOR, .time = 1, .descriptor = {
		.event = id, .stream = STREAM_TRACE, .name = text_of(name), .fields = text_of(fields) } };

	trace_kinds_learn(world->kinds, &event);
	epoch_events(world->epoch, &event, 1);
}

struct disk_begin {
	uint32_t thread, number;
	uint64_t block;
} __attribute__((packed));

struct disk_end {
	uint64_t block;
	int32_t error;
} __attribute__((packed));

static void add_disk(const struct world *world, uint64_t from, uint64_t to, uint32_t thread, uint32_t number)
{
	const struct disk_begin begin = { thread, number, from };
	const struct disk_end end = { from, -5 };

	give(world, 0, from, DISK_BEGIN, &begin, sizeof(begin));
	give(world, 1, to, DISK_END, &end, sizeof(end));
}

static const struct event_row *row_called(const struct event_table *table, const char *text)
{
	char own[EVENT_TEXT];

	for (uint32_t i = 0; i < table->count; i++)
		if (strcmp(event_row_text(&table->rows[i], table->by, own), text) == 0)
			return &table->rows[i];
	fail_msg("there is no row %s", text);
	return NULL;
}

/* Whatever a kernel calls its events: a beginning and its end have one row and its times, all else is counted. */
static void test_other_events(void **state)
{
	const struct world world = begin(0);
	const struct event named = { .kind = EVENT_NUMBER, .time = 1, .number = {
		.event = DISK_BEGIN, .number = 1, .name = text_of("write") } };
	const uint32_t idle = 3, lone[] = { READER, 5 }, number = 1;
	const struct event_row *row;
	struct event_table *table;

	(void)state;
	describe(&world, DISK_END, "disk_end", "u64 block;s32 error;");
	describe(&world, DISK_BEGIN, "disk_begin", "u32 thread;u32 number;u64 block;");
	describe(&world, DISK_IDLE, "disk_idle", "u32 disk;");
	describe(&world, LONE_BEGIN, "lone_begin", "u32 thread;u32 what;");
	describe(&world, DISK_FLUSH, "disk_flush", "u32 number;");
	describe(&world, DISKS, "disks", "u32 number;");
	epoch_events(world.epoch, &named, 1);
	add_disk(&world, 1000, 1500, READER, 1);
	add_disk(&world, 2000, 2300, WRITER, 0);
	add_disk(&world, 3000, 4000, READER, 1);
	give(&world, 0, 5000, DISK_IDLE, &idle, sizeof(idle));
	give(&world, 1, 5100, DISK_IDLE, &idle, sizeof(idle));
	give(&world, 1, 5200, LONE_BEGIN, lone, sizeof(lone));
	give(&world, 1, 5300, DISK_FLUSH, &number, sizeof(number));
	give(&world, 1, 5400, DISKS, &number, sizeof(number));

	table = ask(&world, 10000, (struct slow_of) { SPAN_PAIR, SPAN_NUMBER(DISK_BEGIN, 1), SLOW_ALL }, "");
	assert_int_equal(table->count, 6);
	row_called(table, "disk_flush 1");			/* a name is of this event alone */
	row_called(table, "disks 1");
	row = row_called(table, "disk write");
	assert_true(row->kind == SPAN_PAIR && row->count == 2 && row->total == 1500 && row->max == 1000);
	assert_true(row->longest == 4000 && row->longest_of == READER);
	row = row_called(table, "disk 0");
	assert_true(row->count == 1 && row->total == 300);
	row = row_called(table, "disk_idle");
	assert_true(row->kind == SPAN_SINGLE && row->count == 2 && row->total == 0 && row->longest == 5100);
	row = row_called(table, "lone_begin");
	assert_true(row->kind == SPAN_SINGLE && row->count == 1);
	assert_int_equal(table->unmatched, 0);
	assert_int_equal(table->slow_count, 2);
	assert_true(table->slow[0].begin == 3000 && table->slow[0].thread == READER);
	assert_string_equal(table->slow[0].call, "disk(number=1, block=3000) = error=-5");
	answer_free(&table->answer);

	table = ask(&world, 10000, (struct slow_of) { SPAN_SINGLE, SPAN_NUMBER(DISK_IDLE, EVENT_NONE), SLOW_ALL },
		"thread:7");
	assert_int_equal(table->count, 2);			/* the reader's */
	row_called(table, "disk write");
	row_called(table, "lone_begin");
	answer_free(&table->answer);
	end(&world);
}

/* Whatever it tells beside what both of its events have: more than there is room for, no end of its own, lists. */
static void test_what_a_pair_tells(void **state)
{
	static const struct { const char *begin, *end, *text; } pairs[] = {
		{ "u8 a;u8 b;", "u8 b;u8 a;", "disk(a=1, b=1)" },
		{ "u8 a;s8 low;u64 high;", "u8 a;s16 error;", "disk(a=1, low=-1, high=0xffffffffffffffff) = error=-1" },
		{ "u8 a;char[] name;u8 b;", "u8 a;u16 is;u8[] list;", "disk(a=1, ...) = is=65535, ..." },
		{ "u8 a;u8 b;u8 c;u8 d;u8 e;u8 f;u8 g;u8 h;u8 i;", "u8 z;u8 a;",
			"disk(a=1, b=255, c=255, d=255, e=255, f=255, g=255, h=255, ...) = z=1" },
		{ "u8 a;u32 thread;", "u8 a;u32 thread;u8 last;", "disk(a=1) = last=255" },
	};
	static const uint8_t fields[] = { 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };
	static const uint8_t same[] = { 1, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const struct world world = begin(0);
		bool both = i == 0 || i == 3;
		struct event_table *table;

		describe(&world, DISK_BEGIN, "disk_begin", pairs[i].begin);
		describe(&world, DISK_END, "disk_end", pairs[i].end);
		give(&world, 0, 1000, DISK_BEGIN, i ? fields : same, sizeof(fields));
		give(&world, 0, 2000, DISK_END, both ? same : fields, sizeof(fields));
		table = ask(&world, 3000, (struct slow_of) {
			SPAN_PAIR, SPAN_NUMBER(DISK_BEGIN, UINT32_MAX), SLOW_ALL }, "");
		assert_int_equal(table->slow_count, 1);
		assert_string_equal(table->slow[0].call, pairs[i].text);
		answer_free(&table->answer);
		end(&world);
	}
}

/* A word of the filter chooses rows by their names, as they stand, and so one kind of them; nothing else changes. */
static void test_a_word_chooses_rows(void **state)
{
	static const struct { const char *filter, *first; uint32_t count; } filters[] = {
		{ "", "syscall read", 7 }, { "syscall", "syscall read", 1 }, { "lock !block", "lock 5", 1 },
		{ "\"lock 5\"|\"hold 5\"", "hold 5", 2 }, { "!syscall !sleep !blocked", "hold 5", 4 },
		{ "syscall comm:writer", NULL, 0 }, { "reader irq", NULL, 0 }, { "nothing", NULL, 0 },
	};
	const struct world world = begin(0);
	struct event_table *all, *table;
	char text[EVENT_TEXT];

	(void)state;
	play(&world);
	all = ask(&world, 20000, (struct slow_of) { .part = SLOW_ALL }, "");
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		table = ask(&world, 20000, (struct slow_of) { .part = SLOW_ALL }, filters[i].filter);
		assert_int_equal(table->count, filters[i].count);
		if (table->count)
			assert_string_equal(event_row_text(&table->rows[0], table->by, text), filters[i].first);
		if (!strchr(filters[i].filter, ':'))
			assert_int_equal(table->count + table->hidden, all->count);
		for (uint32_t k = 0; k < table->count; k++)
			assert_int_equal(table->rows[k].total,
				row_called(all, event_row_text(&table->rows[k], table->by, text))->total);
		answer_free(&table->answer);
	}
	answer_free(&all->answer);
	end(&world);
}

/* ---- parts ---- */

enum { CODE = 0x1000 };			/* where the functions of the guest begin, 16 bytes each */

/* An idle event of the disk, with these functions in its stack, the innermost first. */
static void idle_at(const struct world *world, uint32_t cpu, uint64_t time, const char *functions)
{
	uint64_t frames[8];
	const uint32_t disk = 3;
	uint32_t count = 0;

	for (; functions[count]; count++)
		frames[count] = CODE + 16 * (uint64_t)(functions[count] - 'a') + 4 + time % 8;
	epoch_packet(world->epoch, &(struct packet) { .stream = STREAM_TRACE, .cpu = cpu, .begin = time, .end = time });
	epoch_events(world->epoch, &(struct event) { .kind = EVENT_STACK, .cpu = cpu, .time = time, .stack = {
		.event = DISK_IDLE, .sample = { .kernel_count = count, .kernel = frames } } }, 1);
	epoch_events(world->epoch, &(struct event) { .kind = EVENT_TRACE, .id = DISK_IDLE, .cpu = cpu, .time = time,
		.trace = { trace_kinds_find(world->kinds, DISK_IDLE), &disk, sizeof(disk) } }, 1);
}

static void check_row(const struct event_table *table, const char *text, uint64_t count)
{
	assert_int_equal(row_called(table, text)->count, count);
}

/* A row for each thread, process, CPU, or place in the code, which is three functions however they go on. */
static void test_parts(void **state)
{
	const struct world world = begin(0);
	const struct event_row *row;
	struct event_table *table;
	struct slow_of of = { SPAN_CALL, READ, SLOW_ALL };

	(void)state;
	for (char name[] = "a"; *name <= 'f'; name[0]++)
		epoch_events(world.epoch, &(struct event) { .kind = EVENT_SYMBOL, .time = 1, .symbol = {
			.address = CODE + 16 * (uint64_t)(*name - 'a'), .size = 16, .name = text_of(name) } }, 1);
	describe(&world, DISK_IDLE, "disk_idle", "u32 disk;");
	play(&world);
	idle_at(&world, 0, 20000, "abcd");
	idle_at(&world, 0, 20001, "abcef");
	idle_at(&world, 1, 20002, "abd");
	idle_at(&world, 1, 20003, "ab");
	GIVE(&world, 1, 20100, irq_enter, .irq = IRQ);
	GIVE(&world, 1, 20200, irq_exit, .irq = IRQ);

	table = ask_by(&world, 30000, EVENT_BY_THREAD, of, "");
	check_row(table, "reader/7: syscall read", 2);
	check_row(table, "thread 8: syscall read", 1);
	check_row(table, "irq 4", 2);				/* of none */
	answer_free(&table->answer);

	table = ask_by(&world, 30000, EVENT_BY_PROCESS, of, "");
	check_row(table, "reader/7: syscall read", 2);
	check_row(table, "[not known]: syscall read", 1);
	answer_free(&table->answer);

	table = ask_by(&world, 30000, EVENT_BY_CPU, of, "");
	check_row(table, "cpu 0: irq 4", 1);
	check_row(table, "cpu 1: irq 4", 1);
	check_row(table, "cpu 0: disk_idle", 2);
	row = row_called(table, "cpu 1: syscall read");
	assert_true(row->count == 1 && row->part == 1);
	of.part = row->part;
	answer_free(&table->answer);
	table = ask_by(&world, 30000, EVENT_BY_CPU, of, "");
	assert_true(table->slow_count == 1 && table->slow[0].thread == STRANGER);
	answer_free(&table->answer);

	table = ask_by(&world, 30000, EVENT_BY_CODE, of, "");
	check_row(table, "disk_idle < a < b < c < ...", 2);
	check_row(table, "disk_idle < a < b < d", 1);
	check_row(table, "disk_idle < a < b", 1);
	check_row(table, "syscall read", 3);			/* none has told a stack */
	answer_free(&table->answer);
	end(&world);
}

/* A thread that is blocked while its own request is with a disk waits for that. One that sleeps may wait for more. */
static void test_a_request_is_waited_for(void **state)
{
	const struct world world = begin(0);
	const struct slow_of of = { SPAN_CALL, READ, SLOW_ALL };
	struct thread_states *states;
	struct event_table *table;
	char text[SLOW_PARTS], brief[THREAD_BRIEF], now[THREAD_NOW], next[THREAD_TITLE];

	(void)state;
	describe(&world, KTOP_EVENT_block_begin, "block_begin", "u64 request;u32 thread;u32 number;u32 device;"
		"u64 sector;u32 bytes;");
	describe(&world, KTOP_EVENT_block_end, "block_end", "u64 request;s32 error;");
	for (int i = 0; i < 2; i++) {
		uint64_t from = 1000 + 10000 * (uint64_t)i;

		GIVE(&world, 0, from, sched_switch, .from = EVENT_NONE, .to = READER);
		GIVE(&world, 0, from + 100, syscall_enter, .thread = READER, .number = READ);
		GIVE(&world, 0, from + 200, block_begin, .request = 7, .thread = READER, .number = 3);
		GIVE(&world, 0, from + 300, sched_switch, .from = READER, .to = EVENT_NONE,
			.leaves = i ? LEAVES_ASLEEP : LEAVES_BLOCKED);
		GIVE(&world, 1, from + 8200, block_end, .request = 7);
		GIVE(&world, 1, from + 8300, sched_wake, .thread = READER, .waker = EVENT_NONE);
		GIVE(&world, 0, from + 8400, sched_switch, .from = EVENT_NONE, .to = READER);
		GIVE(&world, 0, from + 9100 + 100 * (uint64_t)i, syscall_exit, .thread = READER, .number = READ);
		GIVE(&world, 0, from + 9300, sched_switch, .from = READER, .to = EVENT_NONE, .leaves = LEAVES_ASLEEP);
	}
	table = ask_by(&world, 30000, EVENT_BY_NAME, of, "");
	assert_int_equal(table->slow_count, 2);
	assert_string_equal(slow_row_waited(&table->slow[0], text), "sleep 88%");
	assert_string_equal(slow_row_waited(&table->slow[1], text), "blocked 89%, block 3");
	assert_true(strstr(slow_row_parts(&table->slow[1], text), "; its block 3 was under way for 89%"));
	answer_free(&table->answer);
	for (uint64_t at = 5000; at < 20000; at += 10000) {
		states = thread_states_new(world.epoch, at, READER);
		thread_now_brief(world.epoch, states, READER, brief);
		thread_now(world.epoch, states, READER, now, next);
		assert_string_equal(brief, at == 5000 ? "blocked 3.7us, block 3" : "sleep 3.7us, syscall read");
		assert_int_equal(strstr(now, "is blocked for 3.7us in syscall read while its block 3 is under way for "
			"3.8us") != NULL, at == 5000);
		thread_states_free(states);
	}
	end(&world);
}

static void test_by_lock(void **state)
{
	const struct world world = begin(0);
	const struct slow_of of = { .kind = SPAN_HOLD, .number = LOCK, .part = SLOW_ALL };
	struct event_table *table;

	(void)state;
	play(&world);
	table = ask_by(&world, 20000, EVENT_BY_LOCK, of, "");
	assert_int_equal(table->count, 2);
	check_row(table, "lock 5", 1);
	check_row(table, "hold 5", 2);
	assert_int_equal(table->slow_count, 2);
	answer_free(&table->answer);
	end(&world);
}

/* As bytes of the wire, which the decoder takes apart. */
static void give_bytes(const struct world *world, uint32_t cpu, uint64_t time, uint16_t id, const void *bytes,
	size_t size)
{
	struct event event = { .id = id, .cpu = cpu, .time = time };

	assert_true(payload_read(world->kinds, bytes, size, &event));
	assert_false(payload_read(world->kinds, bytes, size - 1, &(struct event) { .id = id }));
	epoch_packet(world->epoch, &(struct packet) { .stream = STREAM_TRACE, .cpu = cpu, .begin = time, .end = time });
	epoch_events(world->epoch, &event, 1);
}

#define GIVE_BYTES(world, cpu, time, name, ...) give_bytes(world, cpu, time, KTOP_EVENT_##name, \
	&(const struct ktop_wire_##name) { __VA_ARGS__ }, sizeof(struct ktop_wire_##name))

/* What the hook tells as one event, or late, counts as if it had told each at its time. */
static void test_two_events_in_one(void **state)
{
	const struct world world = begin(0);
	const struct slow_of calls = { .kind = SPAN_CALL, .number = READ, .part = SLOW_ALL };
	const struct event left_out = { .kind = EVENT_LEFT_OUT, .time = 1, .left_out = { .cpu = 1, .pairs = 17 } };
	const struct event before = { .kind = EVENT_LEFT_OUT, .time = 1, .left_out = { .cpu = 1, .pairs = 5 } };
	struct event_table *table;
	const struct slow_row *row;

	(void)state;
	GIVE_BYTES(&world, 0, 5000, syscall_whole, .took = 1000, .thread = READER, .number = READ, .arg0 = 3, .arg1 = 9,
		.result = (uint64_t)-2);
	GIVE_BYTES(&world, 1, 6000, syscall_began, .ago = 1500, .thread = WRITER, .number = READ, .arg0 = 4);
	GIVE_BYTES(&world, 1, 6000, irq_whole, .took = 0, .irq = IRQ);
	GIVE_BYTES(&world, 0, 7000, softirq_whole, .took = 300, .softirq = 2);
	GIVE_BYTES(&world, 1, 8000, irq_began, .ago = 700, .irq = IRQ);
	GIVE(&world, 1, 8100, irq_exit, .irq = IRQ);
	GIVE(&world, 1, 9500, syscall_exit, .thread = WRITER, .number = READ);
	/* A lie. */
	GIVE_BYTES(&world, 0, 9900, syscall_whole, .took = UINT64_MAX, .thread = READER, .number = READ);
	epoch_events(world.epoch, &before, 1);		/* these were left out before ktop listened */
	epoch_events(world.epoch, &left_out, 1);

	table = ask(&world, 30000, calls, "");
	assert_true(table->lost == 0 && table->unmatched == 0 && table->late == 1 && table->left_out == 12);
	assert_int_equal(row_called(table, "syscall read")->count, 3);
	assert_int_equal(row_called(table, "irq 4")->count, 2);
	assert_int_equal(row_called(table, "irq 4")->max, 800);
	assert_int_equal(row_called(table, "softirq 2")->max, 300);
	row = &table->slow[table->slow_count - 1];
	assert_true(row->begin == 4000 && row->end == 5000 && row->thread == READER);
	row = &table->slow[0];
	assert_true(row->begin == 4500 && row->end == 9500 && row->thread == WRITER);
	answer_free(&table->answer);
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_a_call_waited_for),
		cmocka_unit_test(test_what_ran_while_a_thread_waited_for_a_cpu),
		cmocka_unit_test(test_what_has_not_ended_is_told),
		cmocka_unit_test(test_what_has_not_ended_is_of_the_moment),
		cmocka_unit_test(test_what_is_not_known_any_more_is_lost),
		cmocka_unit_test(test_of_which_row),
		cmocka_unit_test(test_by_lock),
		cmocka_unit_test(test_older_than_all_rows),
		cmocka_unit_test(test_sums_tell_what_rows_did),
		cmocka_unit_test(test_spans_over_time),
		cmocka_unit_test(test_a_baseline_is_what_was),
		cmocka_unit_test(test_a_baseline_has_no_lost_span),
		cmocka_unit_test(test_other_events),
		cmocka_unit_test(test_what_a_pair_tells),
		cmocka_unit_test(test_a_request_is_waited_for),
		cmocka_unit_test(test_a_word_chooses_rows),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_two_events_in_one),
	};

	return cmocka_run_group_tests_name("event_table", tests, NULL, NULL);
}
