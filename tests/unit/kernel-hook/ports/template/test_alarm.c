/* SPDX-License-Identifier: MIT */
/* The template's alarm, compared with arithmetic of 128 bits, and with a simulated timer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/ports/template/alarm.h"
#include "tests/unit/fakes/random.h"

__extension__ typedef unsigned __int128 wide;

enum { ROUNDS = 200000 };

static const uint64_t clocks[] = { 100, 1000, 1193182, 1000000000, 2419200123, 9999999967 };
static const uint32_t timers[] = { 100, 1000, 1024, 32768, 1193182, 62500000, 4000000000 };
static const uint32_t mosts[] = { 1, 100, 65535, 0x7fffffff, UINT32_MAX };

#define ANY(random, list) list[random_below(random, sizeof(list) / sizeof(list[0]))]

static uint64_t any_wait(struct random *random)
{
	return random_next(random) >> random_below(random, 64);
}

/* A shot is never early. It is late by at most one unit, and if the wait exceeds 32 bits, by 2^-32 of the wait. */
static void units_are_enough_and_no_more(void **state)
{
	struct random random = { 41 };

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t clock_hz = ANY(&random, clocks), wait = any_wait(&random);
		uint32_t timer_hz = ANY(&random, timers), most = ANY(&random, mosts), units;
		uint64_t now = random_below(&random, 1ull << 40);
		wide exact = ((wide)wait * timer_hz + clock_hz - 1) / clock_hz;
		struct ktop_alarm alarm;

		ktop_alarm_init(&alarm, clock_hz, timer_hz, most);
		alarm.sample = wait < KTOP_NEVER - now ? now + wait : KTOP_NEVER;
		units = ktop_alarm_units(&alarm, now);
		assert_in_range(units, 1, most);
		if (exact >= most) {
			/* up to where the timer reaches, to a clock tick */
			assert_true(units == most || (wide)units * clock_hz + clock_hz > (wide)wait * timer_hz);
			continue;
		}
		assert_true(units >= exact);
		assert_true(units <= exact + 1 + (wait >> 32));
	}
}

static void the_earlier_wish_counts(void **state)
{
	struct ktop_alarm alarm;

	(void)state;
	ktop_alarm_init(&alarm, 1000, 1000, 10000);
	assert_int_equal(ktop_alarm_units(&alarm, 5), 10000);		/* no deadline */
	alarm.kernel = 105;
	assert_int_equal(ktop_alarm_units(&alarm, 5), 100);
	alarm.sample = 25;
	assert_int_equal(ktop_alarm_units(&alarm, 5), 20);
	alarm.kernel = 15;
	assert_int_equal(ktop_alarm_units(&alarm, 5), 10);
	assert_int_equal(ktop_alarm_units(&alarm, 15), 1);		/* the deadline is due or has passed */
	assert_int_equal(ktop_alarm_units(&alarm, 5000), 1);
}

static void a_met_wish_is_cleared_and_the_other_stands(void **state)
{
	struct ktop_alarm alarm;

	(void)state;
	ktop_alarm_init(&alarm, 1000, 1000, 10000);
	alarm.kernel = 10;
	alarm.sample = 20;
	assert_int_equal(ktop_alarm_met(&alarm, 9), 0);
	assert_int_equal(ktop_alarm_met(&alarm, 10), KTOP_ALARM_KERNEL);
	assert_true(alarm.kernel == KTOP_NEVER && alarm.sample == 20);
	assert_int_equal(ktop_alarm_met(&alarm, 19), 0);
	alarm.kernel = 30;
	assert_int_equal(ktop_alarm_met(&alarm, 25), KTOP_ALARM_SAMPLE);
	assert_true(alarm.kernel == 30 && alarm.sample == KTOP_NEVER);
	alarm.sample = 29;
	assert_int_equal(ktop_alarm_met(&alarm, 31), KTOP_ALARM_KERNEL | KTOP_ALARM_SAMPLE);
	assert_int_equal(ktop_alarm_met(&alarm, KTOP_NEVER - 1), 0);
}

/*
 * A machine with one timer: in its interrupt, both parties set a new deadline when the old one is met. Two plain lists
 * of deadlines say what must come out: each deadline is served once, at most a unit late, whatever the other one does.
 */
static void neither_party_misses_a_turn(void **state)
{
	enum { CLOCK = 1000000, TIMER = 1000, UNIT = CLOCK / TIMER, MOST = 50 };
	struct random random = { 7 };
	struct ktop_alarm alarm;
	uint64_t now = 0, kernel, sample;
	uint32_t served[2] = { 0 };

	(void)state;
	ktop_alarm_init(&alarm, CLOCK, TIMER, MOST);
	kernel = alarm.kernel = 1 + random_below(&random, 200 * UNIT);
	sample = alarm.sample = 1 + random_below(&random, 20 * UNIT);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t earlier = kernel < sample ? kernel : sample;
		uint32_t units = ktop_alarm_units(&alarm, now), met;

		assert_in_range(units, 1, MOST);
		now += (uint64_t)units * UNIT;
		assert_true(now < earlier + 2 * UNIT || units == 1);
		met = ktop_alarm_met(&alarm, now);
		assert_int_equal(met & KTOP_ALARM_KERNEL, kernel <= now ? KTOP_ALARM_KERNEL : 0);
		assert_int_equal(met & KTOP_ALARM_SAMPLE, sample <= now ? KTOP_ALARM_SAMPLE : 0);
		if (met & KTOP_ALARM_SAMPLE) {
			sample = alarm.sample = now + 1 + random_below(&random, 20 * UNIT);
			served[1]++;
		}
		if (met & KTOP_ALARM_KERNEL) {
			kernel = alarm.kernel = now + 1 + random_below(&random, 200 * UNIT);
			served[0]++;
		}
	}
	assert_true(served[0] > ROUNDS / 100 && served[1] > ROUNDS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_enough_and_no_more),
		cmocka_unit_test(the_earlier_wish_counts),
		cmocka_unit_test(a_met_wish_is_cleared_and_the_other_stands),
		cmocka_unit_test(neither_party_misses_a_turn),
	};

	return cmocka_run_group_tests_name("alarm", tests, NULL, NULL);
}
