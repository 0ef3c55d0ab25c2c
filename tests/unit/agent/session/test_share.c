/* SPDX-License-Identifier: MIT */
/* Each reader's share of the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/session/share.h"

static const uint64_t MS = NS_PER_MS;

static void test_order(void **state)
{
	struct share cheap = { .took = 1 }, dear = { .took = 100 };

	(void)state;
	assert_true(share_is_before(&cheap, &dear));
	share_passed(&dear);
	assert_true(share_is_before(&dear, &cheap));
	share_answered(&dear, 0, 1000, 1100);
	assert_true(share_is_before(&cheap, &dear));
}

/* Three owe 100, 10 and 1: all are paid for alike. */
static void test_debts(void **state)
{
	struct share shares[3] = { { .debt = 100 }, { .debt = 10 }, { .debt = 1 } };
	struct shares all = { .left.next = &shares[0], .paid = 1000 };

	(void)state;
	shares[0].next = &shares[1];
	shares[1].next = &shares[2];
	assert_int_equal(share_due(&all, &shares[2], 0), 1000 + 3);
	assert_int_equal(share_due(&all, &shares[1], 0), 1000 + 10 + 10 + 1);
	assert_int_equal(share_due(&all, &shares[0], 0), 1000 + 111);
	shares_pay(&all, 1003);
	assert_true(share_allows(&shares[2], 1003) && !share_allows(&shares[1], 1003));
	shares_pay(&all, 1021);
	assert_true(share_allows(&shares[1], 1021) && !share_allows(&shares[0], 1021));
	shares_pay(&all, 1111);
	assert_true(share_allows(&shares[0], 1111));
}

/* After a turn of 100 ns, a reader whose answer took 10 rests for 10; one that was never answered rests for 100. */
static void test_rest(void **state)
{
	struct share cheap = { .answered = 1, .took = 10 }, fresh = { 0 };
	struct shares all = { .left.next = &cheap };

	(void)state;
	cheap.next = &fresh;
	shares_rest(&all, 1000, 1100);
	assert_int_equal(share_due(&all, &cheap, 0), 1110);
	assert_int_equal(share_due(&all, &fresh, 0), 1200);
	assert_true(share_allows(&cheap, 1110) && !share_allows(&cheap, 1109));
	shares_rest(&all, 1120, 1121);		/* a shorter turn does not cut a longer rest */
	assert_int_equal(share_due(&all, &fresh, 0), 1200);
}

/* An answer that is late by up to half of its pause does not put off the next one. */
static void test_late(void **state)
{
	const struct shares all = { .paid = 0 };
	struct share share = { 0 };

	(void)state;
	share_answered(&share, 100 * MS, 150 * MS, 151 * MS);
	share.debt = 0;
	assert_int_equal(share_due(&all, &share, 100 * MS), 200 * MS);
	share.debt = 0;
	share_answered(&share, 100 * MS, 190 * MS, 191 * MS);
	share.debt = 0;
	assert_int_equal(share_due(&all, &share, 100 * MS), 290 * MS);
	share_answered(&share, 100 * MS, 341 * MS, 342 * MS);
	share.debt = 0;
	assert_int_equal(share_due(&all, &share, 100 * MS), 441 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_debts),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
