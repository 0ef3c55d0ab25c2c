/* SPDX-License-Identifier: MIT */
/* Events of many CPUs come out in order of time, each once, and nobody waits for a CPU that is silent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/trace/trace_order.h"

static const uint64_t MS = NS_PER_MS;

enum { CPUS = 5, EACH = 400, MOST = 100000 };

static struct {
	struct trace_event events[CPUS * EACH];
	size_t count;
} given;

static void take(void *context, const struct trace_event *event)
{
	(void)context;
	given.events[given.count++] = *event;
}

static struct trace_order *begin(uint32_t most)
{
	given.count = 0;
	return trace_order_new(NULL, most, take, NULL);
}

static void add(struct trace_order *order, uint64_t time, uint32_t cpu, enum trace_role role)
{
	trace_order_add(order, &(struct trace_event) { .time = time, .cpu = cpu, .role = role, .values = { time } });
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Packets of random sizes, from CPUs in random order, that are never further apart than a CPU may fall back. */
static void play(struct trace_order *order, uint32_t seed)
{
	uint32_t sent[CPUS] = { 0 }, left = CPUS;

	for (uint32_t i = 0; i < CPUS; i++)
		trace_order_complete(order, i, 0);
	while (left) {
		uint32_t cpu = next_random(&seed) % CPUS, size = next_random(&seed) % 9;

		for (uint32_t i = 0; i < CPUS; i++)		/* the one that is furthest back */
			cpu = sent[i] + 40 < sent[cpu] ? i : cpu;
		if (sent[cpu] == EACH)
			continue;
		for (uint32_t i = 0; i < size && sent[cpu] < EACH; i++, sent[cpu]++)
			add(order, (uint64_t)sent[cpu] * MS + cpu * 7, cpu, ROLE_NONE);
		trace_order_complete(order, cpu, sent[cpu] ? (uint64_t)(sent[cpu] - 1) * MS + cpu * 7 : 0);
		left -= sent[cpu] == EACH;
	}
}

static void events_come_in_order_each_once(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 50; seed++) {
		struct trace_order *order = begin(MOST);
		uint32_t of[CPUS] = { 0 };

		play(order, seed);
		trace_order_end(order);
		assert_int_equal(given.count, CPUS * EACH);
		for (size_t i = 0; i < given.count; i++) {
			const struct trace_event *event = &given.events[i];

			assert_true(!i || event->time >= given.events[i - 1].time);
			assert_int_equal(event->time, (uint64_t)of[event->cpu]++ * MS + event->cpu * 7);
		}
		assert_int_equal(trace_order_late(order), 0);
		trace_order_free(order);
	}
}

/* What all CPUs have passed is given away at once; what one has not, waits for it. */
static void what_is_complete_does_not_wait(void **state)
{
	struct trace_order *order = begin(MOST);

	(void)state;
	for (int i = 0; i < 2 * TRACE_SILENT_PACKETS; i++)		/* until then others may send their first */
		trace_order_complete(order, i % 2, 10 * MS);
	add(order, 20 * MS, 0, ROLE_NONE);
	trace_order_complete(order, 0, 30 * MS);
	assert_int_equal(given.count, 0);
	trace_order_complete(order, 1, 20 * MS - 1);
	assert_int_equal(given.count, 0);
	trace_order_complete(order, 1, 20 * MS);
	assert_int_equal(given.count, 1);
	trace_order_free(order);
}

static void nobody_waits_for_a_silent_cpu(void **state)
{
	struct trace_order *order = begin(MOST);
	const uint64_t packets = 2 * TRACE_SILENT_PACKETS;

	(void)state;
	for (int i = 0; i < 2 * TRACE_SILENT_PACKETS; i++)
		trace_order_complete(order, i % 2 ? 0 : 3, 10 * MS);
	trace_order_complete(order, 3, 10 * MS);
	add(order, 20 * MS, 0, ROLE_NONE);
	for (uint64_t i = 1; i < packets; i++) {	/* as behind a pause of the guest: CPU 3 may still follow */
		trace_order_complete(order, 0, 20 * MS + TRACE_SILENT_NS + i);
		assert_int_equal(given.count, 0);
	}
	trace_order_complete(order, 0, 20 * MS + TRACE_SILENT_NS + packets);
	assert_int_equal(given.count, 1);
	add(order, 15 * MS, 3, ROLE_NONE);		/* it comes back: too late for its place */
	trace_order_end(order);
	assert_int_equal(given.count, 2);
	assert_int_equal(given.events[1].time, 20 * MS);
	assert_int_equal(given.events[1].values[0], 15 * MS);
	assert_int_equal(trace_order_late(order), 1);
	trace_order_free(order);
}

/* A clock that goes back. */
static void time_of_a_cpu_never_goes_back(void **state)
{
	struct trace_order *order = begin(MOST);

	(void)state;
	add(order, 20 * MS, 0, ROLE_NONE);
	add(order, 5 * MS, 0, ROLE_NONE);
	trace_order_end(order);
	assert_int_equal(given.events[1].time, 20 * MS);
	assert_int_equal(trace_order_late(order), 1);
	trace_order_free(order);
}

/* A beginning that the guest has held: it stands in its place if that is not over; if it is, it keeps its time. */
static void what_may_be_late_keeps_its_time(void **state)
{
	struct trace_order *order = begin(MOST);

	(void)state;
	for (int i = 0; i < 2 * TRACE_SILENT_PACKETS; i++)
		trace_order_complete(order, i % 2, 10 * MS);
	trace_order_add(order, &(struct trace_event) {
		.time = 15 * MS, .cpu = 0, .role = ROLE_CALL_BEGIN, .held = true });
	add(order, 12 * MS, 1, ROLE_WAKE);
	trace_order_complete(order, 0, 30 * MS);
	trace_order_complete(order, 1, 30 * MS);
	assert_true(given.count == 2 && given.events[1].time == 15 * MS && given.events[1].before == 0);
	add(order, 31 * MS, 1, ROLE_WAKE);
	trace_order_complete(order, 0, 31 * MS);
	trace_order_complete(order, 1, 31 * MS);
	trace_order_add(order, &(struct trace_event) {
		.time = 29 * MS, .cpu = 0, .role = ROLE_CALL_BEGIN, .held = true });
	trace_order_end(order);
	assert_int_equal(given.count, 4);
	assert_true(given.events[3].time == 31 * MS && given.events[3].before == 2 * MS);
	assert_int_equal(trace_order_late(order), 0);
	trace_order_free(order);
}

static void of_one_time_ends_come_before_beginnings(void **state)
{
	struct trace_order *order = begin(MOST);

	(void)state;
	add(order, 20 * MS, 0, ROLE_CALL_BEGIN);
	add(order, 20 * MS, 1, ROLE_CALL_END);
	add(order, 20 * MS, 2, ROLE_IRQ_BEGIN);
	trace_order_end(order);
	assert_int_equal(given.events[0].role, ROLE_CALL_END);
	assert_int_equal(given.events[1].cpu, 0);
	trace_order_free(order);
}

/* However much comes: no more than so many wait, and the memory for them is charged. */
static void few_wait_where_little_may(void **state)
{
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);
	struct trace_order *order = trace_order_new(budget, 16, take, NULL);

	(void)state;
	given.count = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		add(order, i * MS, i % CPUS, ROLE_NONE);
		assert_int_equal(given.count, i < 16 ? 0 : i - 15);
	}
	assert_true(left - budget_left(budget) >= 16 * sizeof(struct trace_event));
	trace_order_free(order);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_in_order_each_once),
		cmocka_unit_test(what_is_complete_does_not_wait),
		cmocka_unit_test(nobody_waits_for_a_silent_cpu),
		cmocka_unit_test(time_of_a_cpu_never_goes_back),
		cmocka_unit_test(what_may_be_late_keeps_its_time),
		cmocka_unit_test(of_one_time_ends_come_before_beginnings),
		cmocka_unit_test(few_wait_where_little_may),
	};

	return cmocka_run_group_tests_name("trace_order", tests, NULL, NULL);
}
