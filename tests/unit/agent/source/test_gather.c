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
	assert_in_range(play(GATHER_LITTLE / 12), drains / 3, drains / 2);
}

static void test_much_is_read_at_once(void **state)
{
	(void)state;
	assert_in_range(play(GATHER_LITTLE), SECONDS * 1000 / DRAIN_MS - 1, SECONDS * 1000 / DRAIN_MS);
}

/* A fast guest's burst begins with little, and what has come of it is read: it is not left to fill the socket. */
static void test_bursts(void **state)
{
	struct gather gather = { .got = 0 };
	int rests = 0;

	(void)state;
	for (uint64_t ms = 1000; ms < 11000; ms += DRAIN_MS)
		for (uint64_t piece = 0; piece < 10; piece++) {
			uint64_t now = (ms + piece) * NS_PER_MS;

			gather_took(&gather, GATHER_LITTLE / 10, now);
			gather_took(&gather, 0, now);
			rests += gather.until > now;
		}
	assert_in_range(rests, 1, 10);		/* in the first burst alone */
}

/* A look at an empty socket changes nothing. */
static void test_looks(void **state)
{
	struct gather gather = { .got = 0 };
	const uint64_t now = NS_PER_SECOND;

	(void)state;
	gather_took(&gather, 0, now);
	assert_int_equal(gather.until, 0);
	gather_took(&gather, 1, now + 1);
	assert_int_equal(gather.until, 0);
	gather_took(&gather, 0, now + 2);
	assert_int_equal(gather.until, now + 2 + GATHER_MS * NS_PER_MS);
	gather_took(&gather, 0, now + 3);
	assert_int_equal(gather.until, now + 2 + GATHER_MS * NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_little_gathers),
		cmocka_unit_test(test_much_is_read_at_once),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_looks),
	};

	return cmocka_run_group_tests_name("gather", tests, NULL, NULL);
}
