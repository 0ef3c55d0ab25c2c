/* SPDX-License-Identifier: MIT */
/* Histograms of durations against sorted lists of them: percentiles, bars, sums of two, and no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/trace/latencies.h"
#include "tests/unit/fakes/random.h"

enum { SPANS = 500, BARS = 40, ROUNDS = 200 };

static int by_size(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Of any power of two. */
static uint64_t draw(struct random *random)
{
	return random_next(random) >> random_below(random, 64);
}

/* Half of them come by way of another histogram, of other pages. */
static void as_sorted(void **state)
{
	struct random random = { 7 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct latency_pages pages = { .budget = NULL }, others = { .budget = NULL };
		struct latencies all = { .refused = false }, other = { .refused = false };
		uint64_t ns[SPANS], count = 1 + random_below(&random, SPANS);
		uint32_t bars[BARS] = { 0 }, wanted[BARS] = { 0 };

		for (uint64_t i = 0; i < count; i++) {
			unsigned bar;

			ns[i] = draw(&random);
			bar = latencies_log(ns[i]);
			wanted[bar < BARS ? bar : BARS - 1]++;
			assert_true(latencies_add(i % 2 ? &other : &all, i % 2 ? &others : &pages, ns[i], 1));
		}
		assert_true(latencies_merge(&all, &pages, &other, &others));
		qsort(ns, count, sizeof(*ns), by_size);
		for (unsigned part = 1; part <= 100; part++) {
			uint64_t is = ns[(count * part + 99) / 100 - 1];
			uint64_t told = latencies_percentile(&all, &pages, ns[count - 1], part);

			assert_in_range(told, is - is / 32, is / 32 > UINT64_MAX - is ? UINT64_MAX : is + is / 32);
		}
		latencies_bars(&all, &pages, bars, BARS);
		assert_memory_equal(bars, wanted, sizeof(bars));
		latency_pages_clear(&pages);
		latency_pages_clear(&others);
	}
}

/* A count stays at the most that it can be, and a bar. */
static void many(void **state)
{
	struct latency_pages pages = { .budget = NULL };
	struct latencies all = { .refused = false };
	uint32_t bars[BARS] = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(latencies_add(&all, &pages, 1000, UINT32_MAX - 1));
	assert_true(latencies_add(&all, &pages, 1023, UINT64_MAX));
	latencies_bars(&all, &pages, bars, BARS);
	assert_int_equal(bars[latencies_log(1000)], UINT32_MAX);
	assert_in_range(latencies_percentile(&all, &pages, 1023, 50), 969, 1031);
	latency_pages_clear(&pages);
}

/* Where a page found no memory, no percentile is told: also not in the sum of two. */
static void no_memory(void **state)
{
	struct budget *budget = budget_new(BUDGET_MIB);
	struct latency_pages pages = { .budget = budget }, others = { .budget = NULL };
	struct latencies all = { .refused = false }, sum = { .refused = false };

	(void)state;
	assert_true(latencies_add(&all, &pages, 5, 1));
	assert_int_equal(latencies_percentile(&all, &pages, 5, 50), 5);
	budget_charge(budget, budget_left(budget));
	for (int log = 8; log < 64; log++)
		if (!latencies_add(&all, &pages, UINT64_C(1) << log, 1))
			break;
	assert_true(all.refused);
	assert_int_equal(latencies_percentile(&all, &pages, 5, 50), 0);
	assert_true(latencies_merge(&sum, &others, &all, &pages));
	assert_int_equal(latencies_percentile(&sum, &others, 5, 50), 0);
	latency_pages_clear(&pages);
	latency_pages_clear(&others);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_sorted),
		cmocka_unit_test(many),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
