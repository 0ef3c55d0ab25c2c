/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel-hook/base/grid.h"

enum { PERIOD = 1000 };

static void the_sum_of_periods_is_exact(void **state)
{
	unsigned seed = 11;

	(void)state;
	print_message("seed %u\n", seed);
	for (int round = 0; round < 300; round++) {
		struct ktop_grid grid = { .seed = (uint32_t)round + 1 };
		uint64_t period = 1 + (uint64_t)rand_r(&seed) % 5000, begin = 77, now = begin;
		uint64_t sum = 0, most;

		ktop_grid_start(&grid, now, period);
		for (int i = 0; i < 500; i++) {
			uint64_t whole = (now - begin) / period;	/* what must come out */

			sum += ktop_grid_due(&grid, now);
			assert_true(sum == whole || sum + 1 == whole);
			most = rand_r(&seed) % 8 ? period / 2 + 1 : 20 * period;
			now += (uint64_t)rand_r(&seed) % most;
		}
	}
}

static void fire_times_are_spread_over_the_period(void **state)
{
	struct ktop_grid grid = { .seed = 5 };
	uint64_t low = UINT64_MAX, high = 0;

	(void)state;
	ktop_grid_start(&grid, 0, 1000000);
	for (int i = 0; i < 1000; i++) {
		uint64_t late = grid.fire - grid.next;

		low = late < low ? late : low;
		high = late > high ? late : high;
		assert_int_equal(ktop_grid_due(&grid, grid.fire - 1), 0);
		assert_int_equal(ktop_grid_due(&grid, grid.fire), 1);
	}
	assert_int_equal(grid.next, 1001 * 1000000ull);
	assert_true(low < 10000 && high > 990000 && high < 1000000);
}

/* Work that repeats with the sampling period and takes 30 % of it gets 30 % of the samples, wherever it begins. */
static void work_that_keeps_step_gets_its_share(void **state)
{
	enum { SAMPLES = 20000 };

	(void)state;
	for (uint64_t place = 0; place < PERIOD; place += PERIOD / 5) {
		struct ktop_grid grid = { .seed = 5 };
		uint32_t hits = 0;

		ktop_grid_start(&grid, 0, PERIOD);
		for (int i = 0; i < SAMPLES; i++) {
			hits += (grid.fire + place) % PERIOD < PERIOD * 3 / 10;
			assert_int_equal(ktop_grid_due(&grid, grid.fire), 1);
		}
		assert_in_range(hits, SAMPLES * 28 / 100, SAMPLES * 32 / 100);
	}
}

/* This holds for any clock value, also for a clock that has just begun. */
static void nothing_is_due_after_the_stop(void **state)
{
	static const uint64_t clocks[] = { 0, 1, PERIOD / 2, 3 * PERIOD, UINT64_MAX - 1 };
	struct ktop_grid grid = { .seed = 5 };

	(void)state;
	ktop_grid_start(&grid, 0, PERIOD);
	ktop_grid_stop(&grid);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		assert_int_equal(ktop_grid_due(&grid, clocks[i]), 0);
	ktop_grid_start(&grid, PERIOD, PERIOD);
	assert_int_equal(ktop_grid_due(&grid, 3 * PERIOD), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sum_of_periods_is_exact),
		cmocka_unit_test(fire_times_are_spread_over_the_period),
		cmocka_unit_test(nothing_is_due_after_the_stop),
		cmocka_unit_test(work_that_keeps_step_gets_its_share),
	};

	return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
