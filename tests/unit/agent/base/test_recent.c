/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/hash.h"

static uint32_t have(struct recent *recent, uint32_t id, bool expected)
{
	bool fresh;
	uint32_t slot = recent_have(recent, id, &fresh);

	assert_true(slot < RECENT_SLOTS);
	assert_int_equal(fresh, expected);
	return slot;
}

static void an_id_keeps_its_slot(void **state)
{
	static const uint32_t ids[] = { 0, 1, 7, RECENT_SLOTS, 0xfffffffe, 0xffffffff };
	struct recent *recent = recent_new();
	uint32_t slots[6];

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(recent_find(recent, ids[i]), RECENT_NONE);
		slots[i] = have(recent, ids[i], true);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(slots[i], slots[k]);
	}
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(recent_find(recent, ids[i]), slots[i]);
		assert_int_equal(have(recent, ids[i], false), slots[i]);
	}
	recent_free(recent);
}

static void ids_that_follow_on_each_other_are_kept(void **state)
{
	struct recent *recent = recent_new();
	uint32_t kept = 0;

	(void)state;
	for (uint32_t i = 0; i < RECENT_SLOTS; i++)
		have(recent, 1000 + i, true);
	for (uint32_t i = 0; i < RECENT_SLOTS; i++)
		kept += recent_find(recent, 1000 + i) != RECENT_NONE;
	assert_true(kept > RECENT_SLOTS / 100 * 99);
	recent_free(recent);
}

static void what_is_met_again_stays(void **state)
{
	struct recent *recent = recent_new();
	uint32_t slot = have(recent, 5, true);

	(void)state;
	have(recent, 6, true);
	for (uint32_t i = 0; i < 10 * RECENT_SLOTS; i++) {
		have(recent, 1000 + i, true);
		if (i % 1000 == 0)
			assert_int_equal(recent_find(recent, 5), slot);
	}
	assert_int_equal(recent_find(recent, 6), RECENT_NONE);
	recent_free(recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_keeps_its_slot),
		cmocka_unit_test(ids_that_follow_on_each_other_are_kept),
		cmocka_unit_test(what_is_met_again_stays),
	};

	recent_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
