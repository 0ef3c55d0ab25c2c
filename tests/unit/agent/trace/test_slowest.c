/* SPDX-License-Identifier: MIT */
/* Random spans against a model that has them all, and sorts them: which are kept, with what, and how much memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/trace/slowest.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/random.h"

enum { NAMES = 40, MINUTES = 60, COUNT = 120000, KEPT = COUNT, SPAN_TOO_MANY = 1 << 20 };

static const uint64_t minute = 60 * NS_PER_SECOND;

static const enum span_kind kinds[] = { SPAN_LOCK, SPAN_CALL, SPAN_PAIR };

static struct trace_span all[COUNT];	/* a span's stack is its place here */
static uint32_t names[COUNT];
static uint64_t words[TRACE_VALUES], results[TRACE_VALUES];

static struct {
	struct slow_span spans[KEPT];
	uint32_t count;
} kept;

static void keep(void *context, const struct slow_span *span)
{
	(void)context;
	assert_true(kept.count < KEPT);
	kept.spans[kept.count++] = *span;
}

static const uint64_t *words_of(uint32_t i)
{
	for (uint32_t k = 0; k < TRACE_VALUES; k++) {
		words[k] = UINT64_C(1000) * i + k;
		results[k] = words[k] * 7;
	}
	return i % 3 && names[i] % 3 ? words : NULL;
}

/* Names that are frequent, and seldom ones; some end a little before those that came before them. */
static void make_spans(struct random *random, uint64_t most_ns)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		uint64_t end = minute + MINUTES * minute / COUNT * i, back = random_below(random, 4 * NS_PER_SECOND);
		uint64_t ns = random_below(random, most_ns);

		end -= random_below(random, 50) ? 0 : back;
		names[i] = (uint32_t)random_below(random, 1 + random_below(random, NAMES));
		all[i] = (struct trace_span) {
			.kind = kinds[names[i] % 3], .cpu = i % 7, .thread = i % 100,
			.number = names[i], .begin = end - ns, .end = end, .result = i, .stack = i, .holder = i % 5,
			.ended_by = (uint16_t)(i % 1000),
			.lost = random_below(random, 20) == 0,
		};
	}
}

static struct slowest *feed(struct budget *budget)
{
	struct slowest *slowest = slowest_new(budget);

	for (uint32_t i = 0; i < COUNT; i++) {
		struct trace_span span = all[i];

		span.arguments = words_of(i);
		span.results = span.arguments && span.kind == SPAN_PAIR ? results : NULL;
		slowest_add(slowest, &span, names[i]);
	}
	return slowest;
}

static void is_as_it_came(const struct slow_span *span)
{
	uint32_t i = span->row.stack;
	const struct trace_span *was = &all[i];

	assert_true(i < COUNT && !was->lost && !span->row.lost);
	assert_int_equal(span->row.end, was->end);
	assert_int_equal(span->row.duration, was->end - was->begin);
	assert_int_equal(span->row.thread, was->thread);
	assert_int_equal(span->row.cpu, was->cpu);
	assert_int_equal(span->row.name, names[i]);
	assert_int_equal(span->row.waker, was->kind == SPAN_LOCK ? was->holder : EVENT_NONE);
	assert_int_equal(span->result, was->kind == SPAN_CALL ? i : 0);
	assert_true((span->arguments != NULL) == (words_of(i) != NULL));
	assert_true((span->results != NULL) == (span->arguments && was->kind == SPAN_PAIR));
	if (span->arguments)
		assert_memory_equal(span->arguments, words, (was->kind == SPAN_CALL ? CALL_ARGUMENTS : TRACE_VALUES) *
			sizeof(words[0]));
	if (span->results)
		assert_memory_equal(span->results, results, sizeof(results));
	assert_int_equal(span->ended_by, was->ended_by);
}

struct found {				/* what is compared: by minute, name, and the longest first */
	uint64_t minute, ns;
	uint32_t name;
};

static int by_place(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (a->minute != b->minute)
		return a->minute < b->minute ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

/* Returns how many are kept. */
static uint32_t agrees(const struct slowest *slowest, uint64_t from, uint64_t to)
{
	static struct found wanted[COUNT], got[COUNT];
	uint32_t count = 0, left = 0, of_name = 0;

	kept.count = 0;
	slowest_read(slowest, from, to, keep, NULL);
	for (uint32_t i = 0; i < COUNT; i++)
		if (!all[i].lost && all[i].end >= from && all[i].end < to)
			wanted[count++] = (struct found) {
				all[i].end / minute, all[i].end - all[i].begin, names[i] };
	qsort(wanted, count, sizeof(*wanted), by_place);
	for (uint32_t i = 0; i < count; i++) {
		bool same = i && wanted[i].minute == wanted[i - 1].minute && wanted[i].name == wanted[i - 1].name;

		of_name = same ? of_name + 1 : 0;
		if (of_name < SLOWEST)
			got[left++] = wanted[i];
	}
	memcpy(wanted, got, left * sizeof(*wanted));
	assert_int_equal(kept.count, left);
	for (uint32_t i = 0; i < kept.count; i++) {
		is_as_it_came(&kept.spans[i]);
		got[i] = (struct found) { kept.spans[i].row.end / minute, kept.spans[i].row.duration,
			kept.spans[i].row.name };
	}
	qsort(got, left, sizeof(*got), by_place);
	for (uint32_t i = 0; i < left; i++)
		assert_true(by_place(&got[i], &wanted[i]) == 0);
	return left;
}

static void test_the_longest_of_each_minute(void **state)
{
	static const uint64_t most[] = { 1, 10, 1000, NS_PER_SECOND };

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct random random = { seed };
		struct slowest *slowest;

		make_spans(&random, most[seed - 1]);
		slowest = feed(NULL);
		assert_int_equal(slowest_from(slowest), 0);
		assert_int_equal(slowest_refused(slowest), 0);
		assert_true(agrees(slowest, 0, UINT64_MAX) > MINUTES * NAMES);
		agrees(slowest, 7 * minute, 9 * minute);
		slowest_free(slowest);
	}
}

/* What is given up are the oldest minutes, and from when on all is there is told. */
static void test_memory_is_bounded(void **state)
{
	struct random random = { 5 };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget), share = budget_share(budget, 64);
	struct slowest *slowest;

	(void)state;
	make_spans(&random, NS_PER_SECOND);
	slowest = feed(budget);
	assert_true(left - budget_left(budget) <= share);
	assert_true(left - budget_left(budget) > share / 2);
	assert_int_equal(slowest_refused(slowest), 0);
	assert_true(slowest_from(slowest) > 0 && slowest_from(slowest) % minute == 0);
	assert_true(agrees(slowest, slowest_from(slowest), UINT64_MAX) > 5 * NAMES);
	kept.count = 0;
	slowest_read(slowest, 0, slowest_from(slowest), keep, NULL);
	assert_int_equal(kept.count, 0);
	slowest_free(slowest);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

/* More minutes than there is room for, in any order, and one minute with more names than there is memory for. */
static void test_hostile_times(void **state)
{
	struct random random = { 6 };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	struct slowest *slowest = slowest_new(budget);

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t end = i % 2 ? i * minute : random_next(&random);

		slowest_add(slowest, &(struct trace_span) { .kind = SPAN_CALL, .begin = end / 2, .end = end },
			i % SPAN_NAMES);
	}
	slowest_add(slowest, &(struct trace_span) { .kind = SPAN_CALL, .end = UINT64_MAX }, 0);
	slowest_free(slowest);
	slowest = slowest_new(budget);
	for (uint32_t i = 0; i < SPAN_TOO_MANY; i++)
		slowest_add(slowest, &(struct trace_span) { .kind = SPAN_CALL, .end = i }, i % SPAN_NAMES);
	assert_true(slowest_refused(slowest) > 0);
	assert_true(left - budget_left(budget) <= budget_share(budget, 64));
	slowest_free(slowest);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_longest_of_each_minute),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_hostile_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
