/* SPDX-License-Identifier: MIT */
/* How often a port is read: by how much comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/source/gather.h"

enum { SECONDS = 10, DRAIN_MS = 20 };

/* A guest sends so many bytes each DRAIN_MS. Returns how often its socket is read; checks that no byte stays long. */
static int play(size_t bytes)
{
	struct gather gather = { .got = 0 };
	size_t there = 0;
	int reads = 0, oldest = 0;

	for (int ms = 0; ms < SECONDS * 1000; ms++) {
		uint64_t now = NS_PER_SECOND + (uint64_t)ms * NS_PER_MS;

		if (ms % DRAIN_MS == 0) {
			oldest = there ? oldest : ms;
			there += bytes;
		}
		if (!there || now < gather.until)
			continue;
		assert_in_range(ms - oldest, 0, GATHER_MS);
		gather_took(&gather, there, now);
		gather_took(&gather, 0, now);
		there = 0;
		reads++;
	}
	return reads;
}

static void test_little_gathers(void **state)
{
	const int drains = SECONDS * 1000 / DRAIN_MS;

	(void)state;
	assert_in_range(play(100), drains / 3, drains / 2);
	assert_in_range(play(GATHER_LITTLE / 2 - 1), drains / 3, drains / 2);
}

static void test_much_is_read_at_once(void **state)
{
	(void)state;
	assert_int_equal(play(GATHER_LITTLE), SECONDS * 1000 / DRAIN_MS);
}

/* Several reads in a row count together, and a look at an empty socket changes nothing. */
static void test_reads_in_a_row(void **state)
{
	struct gather gather = { .got = 0 };

	(void)state;
	gather_took(&gather, 0, 5);
	assert_int_equal(gather.until, 0);
	gather_took(&gather, GATHER_LITTLE / 2, 5);
	assert_int_equal(gather.until, 0);
	gather_took(&gather, GATHER_LITTLE / 2, 6);
	gather_took(&gather, 0, 7);
	assert_int_equal(gather.until, 0);
	gather_took(&gather, 1, 8);
	gather_took(&gather, 0, 9);
	assert_int_equal(gather.until, 9 + GATHER_MS * NS_PER_MS);
	gather_took(&gather, 0, 10);
	assert_int_equal(gather.until, 9 + GATHER_MS * NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_little_gathers),
		cmocka_unit_test(test_much_is_read_at_once),
		cmocka_unit_test(test_reads_in_a_row),
	};

	return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
