/* SPDX-License-Identifier: MIT */
/* The clocks of many machines, and what lies on them: the window, the time line, the heat map. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/hand_answers.h"
#include "member.h"

/* The fleet's clock shows the time of the day, but is later than any guest's, and does not begin anew at midnight. */
static void test_clock_is_the_time_of_the_day(void **state)
{
	const uint64_t day = 24 * 3600 * NS_PER_SECOND;
	struct fleet *fleet = fleet_new(member_names, 3, NULL);
	uint64_t begun = util_now();
	struct vitals *now = fleet_vitals(fleet, begun), *tomorrow = fleet_vitals(fleet, begun + day);

	(void)state;
	assert_int_equal(tomorrow->now - now->now, day);
	assert_true(now->now >= FLEET_HOURS * (3600 * NS_PER_SECOND));
	assert_in_range(now->now % day, 0, 3600 * NS_PER_SECOND);	/* it is soon after midnight: see main */
	answer_free((struct answer *)now);
	answer_free((struct answer *)tomorrow);
	fleet_free(fleet);
}

/* Each machine's line ends with its own now. Slots are as wide as the widest, and weights are times. */
static void test_time_lines_are_one(void **state)
{
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 3, NULL);
	struct answers *wide = member_answers(&db, "Linux", 250, 900 * NS_PER_SECOND);
	struct time_line *line = fleet_time_line(fleet, util_now());
	const struct series_slot *last;

	(void)state;
	assert_int_equal(line->series.count, 0);		/* no machine has told of itself */
	answer_free((struct answer *)line);
	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND));
	wide->line->series.width *= 4;
	wide->line->series.count = 3;
	member_give(fleet, 1, wide);
	line = fleet_time_line(fleet, util_now());
	last = &line->series.slots[line->series.count - 1];
	assert_int_equal(line->series.width, 16 * NS_PER_SECOND);
	assert_int_equal(line->series.count, 13);		/* 49 slots, four in one, and what is left */
	assert_int_equal(last->whole, 12000 * (4 * NS_PER_MS + 4 * NS_PER_MS));	/* four slots at 1000 Hz, one at 250 */
	assert_int_equal(line->series.slots[0].whole, 12000 * NS_PER_MS);
	assert_in_range(line->now, line->series.begin + 12 * line->series.width,
		line->series.begin + 13 * line->series.width - 1);
	answer_free((struct answer *)line);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

static void take_heat(struct fleet *fleet, size_t machine, uint64_t now, uint64_t busy)
{
	struct answers *answers = util_alloc(sizeof(*answers));

	hand_heat(answers, NULL);
	answers->heat->asked = fleet_own_request(fleet, machine, &heat_map_kind).heat;
	answers->heat->whole = true;
	answers->heat->now = now;
	answers->heat->heat.first = now / HEAT_NS - HEAT_SLOTS + 1;
	for (size_t i = 0; i < HEAT_SLOTS; i++)
		answers->heat->heat.slots[i] = (struct heat_slot) { .whole = 80 };
	answers->heat->heat.slots[HEAT_SLOTS - 50].part = busy;
	fleet_take(fleet, machine, &answers->heat->answer, util_now());
	answers->heat = NULL;
	answers_free(answers);
}

/* Slots lie side by side as the machines' clocks do, and stay there when one of them answers again. */
static void test_heat_maps_are_one(void **state)
{
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 3, NULL);
	struct heat_map *map = fleet_heat(fleet, util_now());
	uint64_t found[2] = { 0 };

	(void)state;
	assert_int_equal(map->heat.count, 0);
	answer_free((struct answer *)map);
	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 150 * NS_PER_SECOND));
	member_give(fleet, 1, member_answers(&db, "Linux", 250, 900 * NS_PER_SECOND));
	for (int i = 0; i < 2; i++) {
		take_heat(fleet, 0, 150 * NS_PER_SECOND, 40);
		take_heat(fleet, 1, 900 * NS_PER_SECOND, 10);
		map = fleet_heat(fleet, util_now());
		assert_in_range(map->heat.count, HEAT_SLOTS, HEAT_SLOTS);
		assert_true(map->whole);
		for (size_t slot = 0; slot < map->heat.count; slot++) {
			assert_true(map->heat.slots[slot].part <= map->heat.slots[slot].whole);
			found[i] += map->heat.slots[slot].part;
		}
		answer_free((struct answer *)map);
	}
	assert_int_equal(found[0], 40 * NS_PER_MS + 10 * 4 * NS_PER_MS);	/* at 1000 Hz, and at 250 */
	assert_int_equal(found[1], found[0]);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

static uint64_t clock_of(struct fleet *fleet)
{
	struct vitals *vitals = fleet_vitals(fleet, util_now());
	uint64_t now = vitals->now;

	answer_free(&vitals->answer);
	return now;
}

/* The clock is that of the boot that lives: no answer about another one tells where a window ends. */
static void test_an_old_boot_freezes_nothing(void **state)
{
	struct member web = member_new(), again = member_new();
	struct fleet *fleet = fleet_new(member_names, 1, NULL);
	struct function_request wanted = answers_function_request();
	struct answers *old = member_answers(&web, "Linux", 1000, 900 * NS_PER_SECOND);

	(void)state;
	take_heat(fleet, 0, 900 * NS_PER_SECOND, 0);
	member_give(fleet, 0, old);
	member_give(fleet, 0, member_answers(&again, "Linux", 1000, 5 * NS_PER_SECOND));
	wanted.request.excerpt.until_ns = clock_of(fleet) - 2 * NS_PER_SECOND;
	wanted.request.excerpt.base.until_ns = clock_of(fleet) - NS_PER_SECOND;
	member_ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 3 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 0).base.until_ns, 4 * NS_PER_SECOND);
	fleet_free(fleet);
	member_free(&web);
	member_free(&again);
}

/* The window becomes live, and a baseline is marked, before anybody has looked in between; a clock is not told yet. */
static void test_a_window_and_a_baseline_change_at_once(void **state)
{
	struct member web = member_new(), db = member_new();
	struct fleet *fleet = fleet_new(member_names, 2, NULL);
	struct function_request wanted = answers_function_request();

	(void)state;
	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND));
	member_give(fleet, 1, member_answers(&db, "Linux", 1000, 0));
	wanted.request.excerpt.until_ns = clock_of(fleet);
	member_ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 50 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 1).until_ns, 1);	/* in no window */
	wanted.request.excerpt.base.until_ns = wanted.request.excerpt.until_ns - 2 * NS_PER_SECOND;
	wanted.request.excerpt.until_ns = 0;
	member_ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 0).base.until_ns, 48 * NS_PER_SECOND);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
}

/* Zero and freeze are set where each machine's own clock stood then. A new boot counts from its beginning. */
static void test_clocks_are_never_mixed(void **state)
{
	struct member web = member_new(), db = member_new(), again = member_new();
	struct fleet *fleet = fleet_new(member_names, 3, NULL);
	struct function_request wanted = answers_function_request();

	(void)state;
	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 50 * NS_PER_SECOND));
	member_give(fleet, 1, member_answers(&db, "Linux", 1000, 900 * NS_PER_SECOND));
	wanted.request.excerpt.zero_ns = 7;
	member_ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).zero_ns, 50 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 1).zero_ns, 900 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 2).zero_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 0);

	member_give(fleet, 0, member_answers(&web, "Linux", 1000, 60 * NS_PER_SECOND));
	wanted.request.excerpt.until_ns = clock_of(fleet);
	member_ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).zero_ns, 50 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 60 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 1).until_ns, 900 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 2).until_ns, 1);
	wanted.request.excerpt.back_ns = 5;		/* all go back as far, from where each was */
	wanted.request.excerpt.moved = 1;
	member_ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 60 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 0).back_ns, 5);
	assert_int_equal(fleet_excerpt(fleet, 1).until_ns, 900 * NS_PER_SECOND);
	assert_int_equal(fleet_excerpt(fleet, 1).back_ns, 5);
	assert_int_equal(fleet_excerpt(fleet, 2).back_ns, 0);	/* it is in no window */

	member_give(fleet, 1, member_answers(&again, "Linux", 1000, 1000 * NS_PER_SECOND));
	assert_int_equal(fleet_excerpt(fleet, 1).zero_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 1).until_ns, 1);
	wanted.request.excerpt.until_ns = 0;
	member_ask(fleet, &wanted);
	assert_int_equal(fleet_excerpt(fleet, 0).until_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 1).until_ns, 0);
	assert_int_equal(fleet_excerpt(fleet, 0).zero_ns, 50 * NS_PER_SECOND);
	fleet_free(fleet);
	member_free(&web);
	member_free(&db);
	member_free(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks_are_never_mixed),
		cmocka_unit_test(test_a_window_and_a_baseline_change_at_once),
		cmocka_unit_test(test_an_old_boot_freezes_nothing),
		cmocka_unit_test(test_clock_is_the_time_of_the_day),
		cmocka_unit_test(test_time_lines_are_one),
		cmocka_unit_test(test_heat_maps_are_one),
	};

	member_begin_at_midnight();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
