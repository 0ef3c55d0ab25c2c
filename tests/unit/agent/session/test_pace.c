/* SPDX-License-Identifier: MIT */
/* How often a screen is answered: by what its answers cost, and by what reading takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/session/subscription.h"

static const uint64_t MS = NS_PER_MS;

/* Plays `rounds` rounds of answers, and returns the time that they took in 1/10,000 of all. */
static uint64_t play(struct pace *pace, int rounds, uint64_t cost, uint64_t reading)
{
	uint64_t now = 1000 * MS, worked = 0, answers = 0, begin = now;

	for (int i = 0; i < rounds; i++) {
		uint64_t pause = pace_pause(pace, cost);

		now += pause;
		worked += pause * reading / 10000;
		pace_begin(pace, now, worked);
		pace_end(pace, worked, worked + cost);
		worked += cost;
		answers += cost;
	}
	return answers * 10000 / (now - begin);
}

/* A four hundredth of the time is for answers and their frames, while reading takes little. */
static void test_little_is_read(void **state)
{
	struct pace pace = { .since = 0 };

	(void)state;
	assert_in_range(play(&pace, 100, 1 * MS, 50), 18, 25);
	assert_in_range(play(&pace, 100, MS / 10, 50), 3, 10);
}

/* More is read: then a quarter of that is for answers. Much is read: then up to half of the time. */
static void test_much_is_read(void **state)
{
	struct pace pace = { .since = 0 };

	(void)state;
	play(&pace, 20, 4 * MS, 400);
	assert_in_range(play(&pace, 100, 4 * MS, 400), 80, 110);
	play(&pace, 20, 10 * MS, 1200);
	assert_in_range(play(&pace, 100, 10 * MS, 1200), 2300, 2800);
	play(&pace, 20, 40 * MS, 4000);
	assert_in_range(play(&pace, 100, 40 * MS, 4000), 4500, 5000);
}

/* Two rounds a second come, whatever they cost. */
static void test_two_rounds_come(void **state)
{
	struct pace pace = { .since = 0 };

	(void)state;
	assert_int_equal(pace_pause(&pace, 100 * MS), 500 * MS);
	assert_int_equal(pace_pause(&pace, 10000 * MS), 500 * MS);
	assert_in_range(pace_pause(&pace, 0), 80 * MS, 100 * MS);	/* ten a second */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_little_is_read),
		cmocka_unit_test(test_much_is_read),
		cmocka_unit_test(test_two_rounds_come),
	};

	return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
