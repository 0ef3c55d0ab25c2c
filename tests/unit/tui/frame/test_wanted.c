/* SPDX-License-Identifier: MIT */
/* The rows whose details are asked for: they have all rows on the screen, and change seldom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fakes/random.h"
#include "tui/frame/list.h"

enum { ROWS = 100, MANY = 4 * WANTED_ROWS, HEIGHT = 20 };

static uint64_t keys[MANY];

static uint64_t key_of(const void *context, size_t row)
{
	(void)context;
	return keys[row];
}

static const struct list_rows rows = { .count = ROWS, .key = key_of };

static void number_rows(void)
{
	for (size_t i = 0; i < MANY; i++)
		keys[i] = 1000 + i;
}

static bool has(const struct wanted *wanted, uint64_t key)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->keys[i] == key)
			return true;
	return false;
}

/* Two neighbours change places again and again: all rows on the screen are wanted, and few questions are asked. */
static void test_rows_change_places(void **state)
{
	struct list list = { .top = 30, .height = HEIGHT };
	struct random random = { .state = 5 };
	struct wanted wanted = { .count = 0 }, before;
	int changes = 0;

	(void)state;
	number_rows();
	for (int i = 0; i < 1000; i++) {
		size_t at = random_below(&random, ROWS - 1);
		uint64_t key = keys[at];

		keys[at] = keys[at + 1];
		keys[at + 1] = key;
		before = wanted;
		wanted_update(&wanted, &list, &rows);
		changes += wanted.count != before.count || wanted.keys[0] != before.keys[0];
		for (size_t row = list.top; row < list.top + HEIGHT; row++)
			assert_true(has(&wanted, keys[row]));
		assert_in_range(wanted.count, HEIGHT, 2 * HEIGHT);
	}
	assert_in_range(changes, 1, 20);
}

/* Threads that run alike: any of few rows may come to the screen at any time. All are wanted, so nothing changes. */
static void test_few_rows(void **state)
{
	static const struct list_rows few = { .count = 3 * HEIGHT, .key = key_of };
	struct list list = { .top = 30, .height = HEIGHT };
	struct random random = { .state = 6 };
	struct wanted wanted = { .count = 0 }, first;

	(void)state;
	number_rows();
	wanted_update(&wanted, &list, &few);
	first = wanted;
	assert_int_equal(wanted.count, few.count);
	for (int i = 0; i < 1000; i++) {
		size_t at = random_below(&random, few.count), to = random_below(&random, few.count);
		uint64_t key = keys[at];

		keys[at] = keys[to];
		keys[to] = key;
		list.top = random_below(&random, few.count - HEIGHT);
		wanted_update(&wanted, &list, &few);
		assert_memory_equal(&wanted, &first, sizeof(wanted));
	}
}

/* The list goes down row by row: every few rows, others are wanted. */
static void test_the_list_moves(void **state)
{
	struct list list = { .height = HEIGHT };
	struct wanted wanted = { .count = 0 };

	(void)state;
	number_rows();
	for (list.top = 0; list.top + HEIGHT <= ROWS; list.top++) {
		wanted_update(&wanted, &list, &rows);
		for (size_t row = list.top; row < list.top + HEIGHT; row++)
			assert_true(has(&wanted, keys[row]));
	}
}

static void test_no_rows(void **state)
{
	static const struct list_rows none = { .count = 0, .key = key_of };
	struct list list = { .height = HEIGHT };
	struct wanted wanted = { .count = 0 };

	(void)state;
	number_rows();
	wanted_update(&wanted, &list, &rows);
	assert_int_equal(wanted.count, HEIGHT + HEIGHT / 2);
	wanted_update(&wanted, &list, &none);
	assert_int_equal(wanted.count, 0);
}

/* A list that is longer than a question can be. */
static void test_too_many(void **state)
{
	static const struct list_rows many = { .count = MANY, .key = key_of };
	struct list list = { .height = MANY };
	struct wanted wanted = { .count = 0 };

	(void)state;
	number_rows();
	wanted_update(&wanted, &list, &many);
	assert_int_equal(wanted.count, WANTED_ROWS);
	assert_int_equal(wanted.keys[0], keys[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_change_places),
		cmocka_unit_test(test_few_rows),
		cmocka_unit_test(test_the_list_moves),
		cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests_name("wanted", tests, NULL, NULL);
}
