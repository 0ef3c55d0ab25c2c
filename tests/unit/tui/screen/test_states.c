/* SPDX-License-Identifier: MIT */
/* The screen in each of its states. A state has a golden file, tests/golden/state_NAME.txt; a view view_NAME.txt. */
#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/answers.h"
#include "hand_states.h"
#include "sheet.h"
#include "stage.h"

static bool is_of_view(const struct hand_state *state)
{
	return state->keys[0] >= '1' && state->keys[0] <= '9';
}

static void raise_state(struct stage *stage, const struct hand_state *state)
{
	struct answers *answers = hand_state_answers(state);

	stage_raise(stage, is_of_view(state) ? NULL : answers);
	if (is_of_view(state)) {	/* the answers are for this view */
		stage_press(stage, (unsigned char)state->keys[0]);
		stage_show(stage, answers);
	}
	stage_type(stage, state->keys);
	stage->now += 4 * NS_PER_SECOND;	/* the message has gone */
	screen_step(stage->screen, stage->now);
}

static void test_states(void **state)
{
	(void)state;
	for (const struct hand_state *each = hand_states; each->name; each++) {
		char *golden = util_format("state_%s", each->name);
		struct stage stage;

		raise_state(&stage, each);
		sheet_check(&stage, golden);
		stage_strike(&stage);
		free(golden);
	}
}

static void test_views(void **state)
{
	(void)state;
	for (const struct hand_state *each = hand_views; each->name; each++) {
		char *golden = util_format("view_%s", each->name);
		struct stage stage;

		raise_state(&stage, each);
		sheet_check_view(&stage, golden);
		stage_strike(&stage);
		free(golden);
	}
}

/* Without a recording, the keys of the player do nothing. With one, SPACE plays it and orders nothing from a guest. */
static void test_keys_of_a_recording(void **state)
{
	static const struct { const char *keys; struct play play; } rows[] = {
		{ " ", { PLAY_PAUSE, 0 } }, { "f", { PLAY_FASTER, 0 } }, { "F", { PLAY_SLOWER, 0 } },
		{ "o", { PLAY_STEP, 0 } }, { "(", { PLAY_BY, -10 * (int64_t)NS_PER_SECOND } },
		{ ")", { PLAY_BY, 10 * NS_PER_SECOND } }, { "r", { PLAY_NEXT_BOOT, 0 } },
		{ "R", { PLAY_PREVIOUS_BOOT, 0 } }, { "t1:30\r", { PLAY_TO, 90 * NS_PER_SECOND } },
		{ "t90\r", { PLAY_TO, 90 * NS_PER_SECOND } }, { "t1:00:00.5\r", { PLAY_TO, 3600500000000 } },
		{ "t-30\r", { PLAY_BY, -30 * (int64_t)NS_PER_SECOND } },
		{ "t+1:00\r", { PLAY_BY, 60 * NS_PER_SECOND } },
	};
	static const char *const bad[] = { "t\r", "t1:\r", "t:1\r", "t1:2:3:4\r", "tx\r", "t1x\r", "t--1\r", "t1e3\r" };
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_state("replay"));
	stage_type(&stage, "f");
	assert_int_equal(stage.session.plays, 0);
	stage.config.keys.replay = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		stage_type(&stage, rows[i].keys);
		assert_int_equal(stage.session.plays, i + 1);
		assert_int_equal(stage.session.played.kind, rows[i].play.kind);
		assert_int_equal(stage.session.played.ns, rows[i].play.ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		stage_type(&stage, bad[i]);
		stage_holds(&stage, "not a time; give 90, 1:30", true);
	}
	assert_int_equal(stage.session.plays, sizeof(rows) / sizeof(*rows));
	assert_int_equal(stage.session.runs, 0);
	stage_strike(&stage);
}

static void show_play(struct stage *stage, uint32_t taken, bool jumping)
{
	struct answers *answers = hand_state("replay");

	answers->vitals->play.taken = taken;
	answers->vitals->play.jumping = jumping;
	stage_show(stage, answers);
}

/* The guest's time is another one until all before the jump's is read: no key takes a window of it meanwhile. */
static void test_keys_after_a_jump(void **state)
{
	static const char keys[] = { '[', '{', 'Z', 'z', '\b' };
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_state("replay"));
	stage.config.keys.replay = true;
	stage_type(&stage, "f");
	stage_type(&stage, ")");
	for (int i = 0; i < 4; i++) {			/* not taken; taken up to the first order; taken; read */
		show_play(&stage, (uint32_t)(i < 2 ? i : 2), i == 2);
		for (size_t k = 0; k < sizeof(keys); k++) {
			stage_type(&stage, (const char[]) { keys[k], '\0' });
			stage_holds(&stage, "nothing done: ktop still reads up to that time", i < 3);
			stage_holds(&stage, "FROZEN", i == 3 && keys[k] == 'Z');
			if (i == 3)
				stage_type(&stage, ".");
		}
	}
	stage_strike(&stage);
}

static void test_reset(void **state)
{
	struct answers *answers = hand_state("empty");
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_state("live"));
	stage_press(&stage, 'Z');
	answers->vitals->now = 2 * NS_PER_SECOND;
	stage_show(&stage, answers);
	sheet_check(&stage, "state_reset");
	stage_strike(&stage);
}

/* Advice is of use: a longer window is not advised if nothing comes before this one. */
static void test_advice_on_an_empty_table(void **state)
{
	struct answers *answers = hand_state("off_and_empty");
	struct stage stage;

	(void)state;
	stage_raise(&stage, answers);
	stage_holds(&stage, "SPACE starts it; F7 takes a longer window", true);
	stage_press(&stage, 'z');
	stage_holds(&stage, "SPACE starts it; Esc counts all again.", true);
	answers = hand_state("off_and_empty");
	answers->vitals->now = 2 * NS_PER_SECOND;			/* reset less than a window ago */
	stage_show(&stage, answers);
	stage_holds(&stage, "Profiling is off in the guest.", true);
	stage_holds(&stage, "SPACE starts it.", true);
	stage_holds(&stage, "longer window", false);
	answers = hand_state("off_and_empty");
	answers->vitals->unsampled = true;			/* reset long ago, and never profiled since */
	stage_show(&stage, answers);
	stage_holds(&stage, "SPACE starts it.", true);
	stage_holds(&stage, "longer window", false);
	stage_strike(&stage);
}

static void test_before_the_first_answers(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	sheet_check(&stage, "state_first");
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_views),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_keys_of_a_recording),
		cmocka_unit_test(test_keys_after_a_jump),
		cmocka_unit_test(test_advice_on_an_empty_table),
		cmocka_unit_test(test_before_the_first_answers),
	};
	int failed;

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	hand_states_begin();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	hand_states_end();
	return failed;
}
