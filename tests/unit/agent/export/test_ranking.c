/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/export/export_folded.h"
#include "tests/unit/fakes/random.h"

enum { THINGS = 500, VALUES = 200 };

struct thing {
	uint32_t number;
	unsigned value;
};

static int by_value(const void *left, const void *right)
{
	const struct thing *a = left, *b = right;

	return (a->value > b->value) - (a->value < b->value);
}

static void new_numbers_are_in_the_order_of_the_things(void **state)
{
	struct random random = { .state = 5 };
	struct thing things[THINGS];
	unsigned values[THINGS];
	uint32_t *ranking;

	(void)state;
	for (uint32_t i = 0; i < THINGS; i++) {
		values[i] = (unsigned)random_below(&random, VALUES);
		things[i] = (struct thing) { .number = i, .value = values[i] };
	}
	ranking = ranking_new(NULL, things, THINGS, sizeof(things[0]), by_value);
	assert_non_null(ranking);
	for (uint32_t i = 0; i < THINGS; i++) {
		assert_int_equal(things[ranking[i]].value, values[i]);
		for (uint32_t k = 0; k < i; k++) {
			assert_int_equal(ranking[i] < ranking[k], values[i] < values[k]);
			assert_int_equal(ranking[i] == ranking[k], values[i] == values[k]);
		}
	}
	ranking_free(NULL, ranking, THINGS);
}

static void nothing_is_in_order_and_memory_that_is_refused_is_told(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	uint32_t *ranking = ranking_new(budget, NULL, 0, sizeof(struct thing), by_value);
	size_t left = budget_left(budget);

	(void)state;
	assert_non_null(ranking);
	ranking_free(budget, ranking, 0);
	assert_null(ranking_new(budget, NULL, (uint32_t)left / sizeof(uint32_t) + 1, sizeof(struct thing), by_value));
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_numbers_are_in_the_order_of_the_things),
		cmocka_unit_test(nothing_is_in_order_and_memory_that_is_refused_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
