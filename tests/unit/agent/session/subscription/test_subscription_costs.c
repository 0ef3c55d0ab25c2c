/* SPDX-License-Identifier: MIT */
/* What a question costs the other readers, and the bytes from the guest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "agent/session/subscription.h"
#include "tests/unit/clock.h"
#include "desk.h"

enum {
	SPAN_MS = 20000,		/* a scene's length */
	CHEAP_US = 100,
};

struct scene {
	uint32_t cost_ms[READERS];	/* of each other reader's question; ends with 0 */
	uint32_t bytes_ms;		/* decoding after each turn, as long as the guest sends */
};

static struct outcome {
	uint32_t cheap;			/* answers that the cheap reader, reader 0, took */
	uint64_t taken;			/* when it took the last one */
	uint64_t gap;			/* the longest time between two */
	uint32_t others, least;		/* answers to the others; to the one of them that got the fewest */
	uint64_t answering, span;	/* ns that all answers took; that the scene took */
} outcome;

/* All take their answers as soon as they are woken, as readers in threads of their own do. */
static void take_woken(struct desk *desk)
{
	for (uint32_t i = 0; i < READERS && desk->readers[i]; i++) {
		if (!desk_woken(desk, i))
			continue;
		wakeup_clear(desk->wakeups[i]);
		desk_take(desk, i);
		if (i > 0)
			continue;
		if (outcome.cheap++ && util_now() - outcome.taken > outcome.gap)
			outcome.gap = util_now() - outcome.taken;
		outcome.taken = util_now();
	}
}

/* The cheap reader is there before the others come. */
static void play(const struct scene *scene)
{
	struct desk *desk = desk_open(READERS);
	uint64_t begin = util_now(), end = begin + (uint64_t)SPAN_MS * NS_PER_MS;
	uint32_t count = 1;

	outcome = (struct outcome) { .least = UINT32_MAX };
	desk->making = take_woken;
	desk_ask(desk, 0, CHEAP_US);
	desk_serve(desk);
	for (; scene->cost_ms[count - 1]; count++)
		desk_ask(desk, count, scene->cost_ms[count - 1] * 1000);
	while (util_now() < end) {
		take_woken(desk);
		desk_serve(desk);
		clock_pass(scene->bytes_ms * NS_PER_MS);
	}
	for (uint32_t i = 1; i < count; i++) {
		outcome.others += desk->made[i];
		outcome.least = desk->made[i] < outcome.least ? desk->made[i] : outcome.least;
	}
	outcome.answering = desk->answering;
	outcome.span = util_now() - begin;
	desk_close(desk);
}

static uint32_t least_of(const struct scene *scene)
{
	play(scene);
	return outcome.least;
}

/*
 * Half of the time belongs to the bytes, and to the cheap reader who asks between. So this one has half of the answers
 * that it has alone, whatever the others ask. It waits for one of their answers, never for two.
 */
static void test_the_cheap_beside_the_dear(void **state)
{
	static const struct scene scenes[] = {
		{ { 25 }, 0 }, { { 100 }, 0 }, { { 500 }, 0 },
		{ { 500, 500 }, 0 }, { { 25, 100, 500 }, 0 }, { { 500, 25, 25, 500, 100, 100, 500, 500 }, 0 },
		{ { 5, 5, 5, 5, 5, 5, 5, 5, 500 }, 0 },
	};
	const uint32_t alone = SPAN_MS / PAUSE_MS;

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		uint64_t dearest = 0;

		for (int k = 0; scenes[i].cost_ms[k]; k++)
			dearest = scenes[i].cost_ms[k] > dearest ? scenes[i].cost_ms[k] : dearest;
		play(&scenes[i]);
		print_message("# scene %zu: %.1f cheap answers a second, %.2f others, the longest gap %.1f ms\n", i,
			outcome.cheap * 1e3 / SPAN_MS, outcome.others * 1e3 / SPAN_MS, (double)outcome.gap / 1e6);
		assert_true(outcome.cheap >= alone * 45 / 100);
		assert_true(outcome.gap <= (dearest + TURN_MS + PAUSE_MS) * NS_PER_MS);
	}
}

/* An expensive reader does not starve: beside cheap ones, or beside others, each has its part of the half. */
static void test_the_dear_beside_others(void **state)
{
	static const struct scene one = { { 500 }, 0 }, four = { { 500, 500, 500, 500 }, 0 },
		unlike = { { 500, 25 }, 0 }, many = { { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 500 }, 0 };

	(void)state;
	assert_in_range(least_of(&one), SPAN_MS / 1000 * 95 / 100, SPAN_MS / 1000 + 1);
	assert_in_range(least_of(&four), SPAN_MS / 4000 * 9 / 10, SPAN_MS / 4000 + 1);
	assert_in_range(least_of(&unlike), SPAN_MS / 2000, SPAN_MS / 1000);	/* half as often as alone, or more */
	assert_in_range(least_of(&many), SPAN_MS / 1000 / 18, SPAN_MS / 1000);	/* one of 18 readers */
}

/* However many ask, a quarter of the time is left for the bytes, but for one answer that is still to be rested from. */
static void test_a_quarter_of_the_time_is_for_bytes(void **state)
{
	static const struct scene scenes[] = {
		{ { 500 }, 0 }, { { 500, 500, 500, 500 }, 20 }, { { 25, 100, 500 }, 0 },
		{ { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 }, 0 },
		{ { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 }, 20 },
		{ { 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 500, 500 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		uint64_t dearest = 0;

		for (int k = 0; scenes[i].cost_ms[k]; k++)
			dearest = scenes[i].cost_ms[k] > dearest ? scenes[i].cost_ms[k] : dearest;
		play(&scenes[i]);
		assert_true(outcome.answering <= outcome.span * 3 / 4 + dearest * NS_PER_MS);
		assert_true(outcome.answering * 100 > outcome.span * 40);	/* and what is not needed is not left */
	}
}

/* Readers who come, ask one expensive question, and leave: that does not get round the rest. */
static void test_readers_who_leave_pay(void **state)
{
	struct desk *desk = desk_open(2);
	uint64_t begin = util_now(), owed;

	(void)state;
	desk_ask(desk, 0, CHEAP_US);
	for (int i = 0; i < 20; i++) {
		uint32_t before = desk->made[1];

		desk_ask(desk, 1, 500 * 1000);
		while (desk->made[1] == before) {
			desk_serve(desk);
			desk_take(desk, 0);
		}
		subscription_leave(desk->readers[1]);
		desk->readers[1] = subscription_new(desk->all, desk->wakeups[1], NULL);
	}
	assert_true(desk->made[0] >= (util_now() - begin) / NS_PER_MS / PAUSE_MS * 45 / 100);
	owed = 500 * NS_PER_MS + 2 * (uint64_t)desk->made[0] * CHEAP_US * 1000;
	assert_in_range(desk->answering, 0, util_now() - begin - desk->answering + owed);
	desk_close(desk);
}

/* Readers who come again and again do not cut the rest of the others short. */
static void test_readers_who_come_leave_time_for_bytes(void **state)
{
	struct desk *desk = desk_open(7);
	uint64_t begin = util_now(), end = begin + SPAN_MS * NS_PER_MS;

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		desk_ask(desk, i, 15 * 1000);
	while (util_now() < end) {
		uint32_t before = desk->made[6];

		desk_ask(desk, 6, 1000);
		while (desk->made[6] == before) {
			desk_serve(desk);
			for (uint32_t i = 0; i < 6; i++)
				desk_take(desk, i);
		}
		subscription_leave(desk->readers[6]);
		desk->readers[6] = subscription_new(desk->all, desk->wakeups[6], NULL);
	}
	assert_in_range(desk->answering, 0, (util_now() - begin) * 3 / 4 + 20 * NS_PER_MS);
	desk_close(desk);
}

/* Each fifth answer takes 25 ms more, as where others have the processor. */
static void be_late(struct desk *desk)
{
	static unsigned count;

	if (++count % 5 == 0) {
		clock_pass(25 * NS_PER_MS);
		desk->answering += 25 * NS_PER_MS;
	}
}

static void test_a_short_answer_that_is_late_ends_no_rest(void **state)
{
	struct desk *desk = desk_open(7);
	uint64_t begin = util_now(), end = begin + SPAN_MS * NS_PER_MS;

	(void)state;
	desk->making = be_late;
	for (uint32_t i = 0; i < 7; i++)
		desk_ask(desk, i, (i < 2 ? 500 : 5) * 1000);
	while (util_now() < end) {
		desk_serve(desk);
		for (uint32_t i = 0; i < 7; i++)
			desk_take(desk, i);
	}
	assert_in_range(desk->answering, 0, (util_now() - begin) * 3 / 4 + 500 * NS_PER_MS);
	desk_close(desk);
}

/* Serves for a second. Returns how many answers came. */
static uint32_t second_of(struct desk *desk)
{
	uint64_t end = util_now() + NS_PER_SECOND;
	uint32_t before = desk->made[0];

	while (util_now() < end) {
		desk_serve(desk);
		desk_take(desk, 0);
	}
	return desk->made[0] - before;
}

/* The first samples are shown soon. Where none come for long, two answers a second are enough. */
static void test_empty_answers_come_soon_for_a_while(void **state)
{
	struct desk *desk = desk_open(1);
	const uint32_t usual = 1000 / PAUSE_MS;

	(void)state;
	desk->empty = true;
	desk_ask(desk, 0, CHEAP_US);
	assert_in_range(second_of(desk), 2 * usual, 50);
	assert_in_range(second_of(desk), 2, 3);
	desk->empty = false;
	assert_in_range(second_of(desk), usual / 2, usual + 2);
	assert_in_range(second_of(desk), usual - 1, usual + 2);
	desk->empty = true;
	assert_in_range(second_of(desk), 2 * usual, 50);
	assert_in_range(second_of(desk), 2, 3);
	desk_ask(desk, 0, CHEAP_US);			/* another question */
	assert_in_range(second_of(desk), 2 * usual, 50);
	desk_close(desk);
}

/* Two questions of one screen that were asked at different times are soon answered in one turn, for one frame. */
static void test_the_answers_of_a_screen_come_together(void **state)
{
	(void)state;
	for (uint64_t apart = 5; apart < PAUSE_MS; apart += 5) {
		struct desk *desk = desk_open(1);

		desk->readers[1] = subscription_new(desk->all, desk->wakeups[0], NULL);
		desk_ask(desk, 0, CHEAP_US);
		desk_serve(desk);
		desk_take(desk, 0);
		clock_pass(apart * NS_PER_MS);
		desk_ask(desk, 1, CHEAP_US);
		for (int turn = 0; turn < 12; turn++) {
			uint32_t before = desk->made[0] + desk->made[1];

			desk_serve(desk);
			desk_take(desk, 0);
			desk_take(desk, 1);
			if (turn >= 4)
				assert_int_equal(desk->made[0] + desk->made[1], before + 2);
		}
		desk_close(desk);
	}
}

/*
 * What an answer spends of the thread's time is spread over the pause behind it: this much of it is for answers. The
 * pause is over sooner where reading takes a third of that, and is not little.
 */
static void test_a_costly_answer_makes_a_longer_pause(void **state)
{
	static const struct {
		uint32_t spent_us, read_us, pause_ms;
	} answers[] = {
		{ 0, 0, PAUSE_MS }, { 250, 0, 200 }, { 500, 0, 300 }, { 1000, 0, ANSWERS_LONGEST_MS },
		{ 900000, 0, ANSWERS_LONGEST_MS }, { 18000, 6000, ANSWERS_LONGEST_MS }, { 17500, 6000, PAUSE_MS },
		{ 250, 4000, 200 }, { 250, 6000, PAUSE_MS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		struct desk *desk = desk_open(1);
		uint64_t before;

		desk->spent = (uint64_t)answers[i].spent_us * 1000;
		desk_ask(desk, 0, 0);
		for (int k = 0; k < 20; k++) {
			before = util_now();
			clock_spend((uint64_t)answers[i].read_us * 1000);
			desk_serve(desk);
			desk_take(desk, 0);
		}
		assert_int_equal(util_now() - before, answers[i].pause_ms * NS_PER_MS);
		desk_close(desk);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_cheap_beside_the_dear),
		cmocka_unit_test(test_the_dear_beside_others),
		cmocka_unit_test(test_a_quarter_of_the_time_is_for_bytes),
		cmocka_unit_test(test_readers_who_leave_pay),
		cmocka_unit_test(test_readers_who_come_leave_time_for_bytes),
		cmocka_unit_test(test_a_short_answer_that_is_late_ends_no_rest),
		cmocka_unit_test(test_empty_answers_come_soon_for_a_while),
		cmocka_unit_test(test_the_answers_of_a_screen_come_together),
		cmocka_unit_test(test_a_costly_answer_makes_a_longer_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
