/* SPDX-License-Identifier: MIT */
/* What a screen shows and asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tests/unit/fakes/scratch.h"
#include "tui/screen/screen.h"
#include "tui/terminal/keys.h"
#include "stage.h"

static void raise_stage(struct stage *stage)
{
	stage_raise(stage, hand_answers(hand_names, hand_functions));
}

/* ---- the tests ---- */

static void test_says_what_it_needs(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_resize(&stage, 3, 20, true);
	stage_holds(&stage, "ktop needs 20x4", true);
	stage_resize(&stage, 4, 19, true);
	stage_holds(&stage, "this is 19x4", true);
	stage_resize(&stage, 4, 20, true);
	stage_holds(&stage, "[idle]", true);
	stage_strike(&stage);
}

/* With few rows, a message covers the view's last row until it goes. */
static void test_few_rows(void **state)
{
	struct input on_last_row = { .kind = INPUT_CLICK, .row = 4, .column = 12 };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_resize(&stage, 5, 20, true);
	stage_holds(&stage, "spin_lock", true);
	screen_input(stage.screen, &on_last_row, stage.now);
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.wanted.selected, hand_functions[1]);	/* spin_lock */
	stage_press(&stage, '/');
	stage_holds(&stage, "Search:", true);
	stage_holds(&stage, "spin_lock", false);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "spin_lock", true);
	stage_strike(&stage);
}

static void test_before_the_first_answers(void **state)
{
	struct stage stage;
	static const uint32_t codes[] = { ' ', 's', 'z', 'Z', 'w', 'j', 'G', '<', '>', 'I', 'n',
		KEYS_LEFT, KEYS_ESCAPE };

	(void)state;
	stage_raise(&stage, NULL);
	assert_false(screen_step(stage.screen, 1));
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		assert_int_equal(stage_press(&stage, codes[i]), SCREEN_NOTHING);
	assert_int_equal(stage.session.runs + stage.session.snapshots, 0);
	assert_int_equal(stage_press(&stage, 'q'), SCREEN_QUIT);
	stage_strike(&stage);
}

static void test_never_breaks_at_any_size(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (int rows = 0; rows < 40; rows += 3) {
		for (int columns = 0; columns < 200; columns += 7) {
			stage_resize(&stage, rows, columns, true);
			screen_draw(stage.screen, stage.canvas);
			stage_press(&stage, '?');
			stage_press(&stage, 'G');
			stage_press(&stage, '?');
			stage_press(&stage, '/');
			stage_press(&stage, KEYS_ESCAPE);
		}
	}
	stage_strike(&stage);
}

static void test_wishes(void **state)
{
	struct stage stage;
	int wants;

	(void)state;
	raise_stage(&stage);
	assert_int_equal(stage.session.wanted.window_ns, 10 * NS_PER_SECOND);
	assert_int_equal(stage.session.wanted.visible_count, HAND_FUNCTIONS);
	assert_int_equal(stage.session.wanted.selected, hand_functions[7]);
	wants = stage.session.wants;
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.wants, wants);		/* the question has not changed */
	stage_press(&stage, 'w');
	assert_int_equal(stage.session.wanted.window_ns, 60 * NS_PER_SECOND);
	stage_press(&stage, KEYS_F(7));
	assert_int_equal(stage.session.wanted.window_ns, 0);
	stage_holds(&stage, "all window", true);
	stage_press(&stage, 'j');
	assert_int_equal(stage.session.wanted.selected, hand_functions[6]);
	stage_strike(&stage);
}

static void test_zero_and_freeze(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, 'z');
	assert_int_equal(stage.session.wanted.zero_ns, 192 * NS_PER_SECOND);
	stage_holds(&stage, "since 00:03:12", true);
	stage_press(&stage, 'Z');
	assert_int_equal(stage.session.wanted.until_ns, 192 * NS_PER_SECOND);
	stage_holds(&stage, "FROZEN at 00:03:12", true);
	stage_press(&stage, 'Z');
	assert_int_equal(stage.session.wanted.until_ns, 0);
	stage_holds(&stage, "FROZEN", false);
	stage_press(&stage, KEYS_ESCAPE);
	assert_int_equal(stage.session.wanted.zero_ns, 0);
	stage_holds(&stage, "since", false);

	stage_press(&stage, 'Z');
	answers_free(stage.session.next);
	stage.session.next = hand_answers(hand_names, hand_functions);
	stage.session.next->vitals->now = 5 * NS_PER_SECOND;			/* the guest has booted anew */
	screen_step(stage.screen, stage.now);
	stage_holds(&stage, "FROZEN", false);
	stage_strike(&stage);
}

/* The window goes back, on, and to the end again; the zero does not count there, but stays. */
static void test_the_window_moves(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_type(&stage, "z[");
	assert_int_equal(stage.session.wanted.until_ns, 192 * NS_PER_SECOND);
	assert_int_equal(stage.session.wanted.back_ns, 5 * NS_PER_SECOND);
	assert_true(stage.session.wanted.moved);
	stage_holds(&stage, "10s at 00:02:57, live: .", true);
	stage_holds(&stage, "since", false);
	stage_type(&stage, "}");
	stage_holds(&stage, "5s at 00:02:59.50, live: .", true);
	stage_type(&stage, "{");
	stage_type(&stage, "]");
	stage_holds(&stage, "live: .", false);
	stage_holds(&stage, "since 00:03:12", true);
	assert_int_equal(stage.session.wanted.until_ns, 0);
	stage_type(&stage, "Z[[");
	stage_holds(&stage, "10s at 00:02:52, live: .", true);
	stage_holds(&stage, "FROZEN", false);
	stage_type(&stage, ".");
	stage_holds(&stage, "live again", true);
	assert_int_equal(stage.session.wanted.until_ns, 0);
	assert_false(stage.session.wanted.moved);
	stage_type(&stage, "ww[");
	stage_holds(&stage, "not moved: the window is all there is; } takes a narrower one", true);
	stage_type(&stage, "ww");
	answers_free(stage.session.next);
	stage.session.next = hand_answers(hand_names, hand_functions);
	stage.session.next->vitals->oldest = 180 * NS_PER_SECOND;
	screen_step(stage.screen, stage.now);
	stage_type(&stage, "[[[");
	stage_holds(&stage, "10s at 00:03:00, live: .", true);
	stage_holds(&stage, "nothing is kept before this window", true);
	stage_strike(&stage);

	stage_raise(&stage, NULL);
	stage_type(&stage, "[");
	stage_holds(&stage, "not moved: nothing has come from the guest yet", true);
	stage_strike(&stage);
}

static void test_start_and_stop(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_holds(&stage, "● REC", true);
	stage_press(&stage, ' ');
	assert_int_equal(stage.session.runs, 1);
	assert_false(stage.session.ran_on);
	stage_holds(&stage, "● REC", true);			/* until the guest's status says otherwise */
	answers_free(stage.session.next);
	stage.session.next = hand_answers(hand_names, hand_functions);
	stage.session.next->vitals->running = false;
	screen_step(stage.screen, stage.now);
	stage_holds(&stage, "○ off", true);
	stage_press(&stage, ' ');
	assert_true(stage.session.ran_on);
	stage_strike(&stage);
}

static void test_filter(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, '\\');
	stage_type(&stage, "alloc cpu:");
	stage_holds(&stage, "is not a CPU", true);
	assert_filter(&stage.session.wanted.filter, "alloc cpu");
	stage_type(&stage, "2");
	assert_filter(&stage.session.wanted.filter, "alloc cpu:2");
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "filter: alloc cpu:2", true);

	stage_press(&stage, KEYS_F(4));
	stage_press(&stage, KEYS_BACKSPACE);
	stage_type(&stage, "x");
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "the filter stays as it was: cpu:x", true);
	assert_filter(&stage.session.wanted.filter, "alloc cpu:2");
	stage.now += 100 * NS_PER_SECOND;
	screen_step(stage.screen, stage.now);
	stage_holds(&stage, "the filter stays as it was", true);		/* until a key is pressed */
	stage_press(&stage, 'j');
	stage_holds(&stage, "the filter stays as it was", false);

	stage_press(&stage, '\\');
	stage_press(&stage, KEYS_CTRL('U'));
	stage_holds(&stage, "filter: ", false);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "filter: alloc cpu:2", true);
	stage_press(&stage, '\\');
	stage_press(&stage, KEYS_CTRL('U'));
	stage_press(&stage, KEYS_ENTER);
	assert_filter(&stage.session.wanted.filter, "");
	stage_strike(&stage);
}

static void test_search(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, '/');
	stage_type(&stage, "l");
	stage_type(&stage, "oc");
	assert_int_equal(stage.session.wanted.selected, hand_functions[1]);		/* spin_lock */
	stage_press(&stage, KEYS_F(3));
	assert_int_equal(stage.session.wanted.selected, hand_functions[2]);		/* page_alloc */
	stage_type(&stage, "zzz");
	stage_holds(&stage, "not found", true);
	for (int i = 0; i < 3; i++)
		stage_press(&stage, KEYS_BACKSPACE);
	stage_press(&stage, KEYS_ENTER);
	stage_press(&stage, 'n');
	assert_int_equal(stage.session.wanted.selected, hand_functions[1]);
	stage_press(&stage, 'N');
	assert_int_equal(stage.session.wanted.selected, hand_functions[2]);
	stage_strike(&stage);
}

/* Where nothing of a search is marked, Esc takes back a step at once, and the search when there is no step. */
static void test_a_mark_that_is_not_seen(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_type(&stage, "/loc\r4");
	stage_press(&stage, KEYS_ESCAPE);			/* the map is of all CPUs again */
	stage_type(&stage, "1z");
	stage_show(&stage, hand_answers(hand_names, hand_functions));
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "no search: nothing is marked", true);
	stage_type(&stage, "/loc\r4");
	stage_press(&stage, KEYS_ESCAPE);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "counting all again", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "no search: nothing is marked", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "nothing to take back", true);
	stage_strike(&stage);
}

static void test_messages(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage.session.message =
		(struct session_message) { .text = "x.folded: 12 samples in 3 stacks" };
	assert_true(screen_step(stage.screen, stage.now));
	stage_holds(&stage, "x.folded: 12 samples", true);
	stage.now += 3 * NS_PER_SECOND;
	assert_true(screen_step(stage.screen, stage.now));
	stage_holds(&stage, "x.folded", false);
	assert_false(screen_step(stage.screen, stage.now));
	stage_strike(&stage);
}

/* "Profiling not turned on" goes when profiling is on. */
static void test_a_failure_that_is_over(void **state)
{
	struct answers *off = hand_answers(hand_names, hand_functions);
	struct stage stage;

	(void)state;
	off->vitals->running = false;
	stage_raise(&stage, off);
	stage.session.message = (struct session_message) { .failed = true, .profiler = true,
		.text = "profiling not turned on" };
	screen_step(stage.screen, stage.now);
	stage_holds(&stage, "not turned on", true);
	stage_show(&stage, hand_answers(hand_names, hand_functions));
	stage_holds(&stage, "not turned on", false);
	stage_strike(&stage);
}

/* A remark tells of a kept wish, and the next SPACE takes the wish back. */
static void test_kept_wish(void **state)
{
	struct answers *kept = hand_answers(hand_names, hand_functions);
	struct stage stage;

	(void)state;
	kept->vitals->running = false;
	kept->vitals->kept = KEPT_ON;
	stage_raise(&stage, kept);
	stage_holds(&stage, "Profiling starts when the guest answers; SPACE cancels that.", true);
	stage_press(&stage, ' ');
	assert_int_equal(stage.session.runs, 1);
	assert_false(stage.session.ran_on);
	stage_strike(&stage);
}

static void test_nothing_to_hold(void **state)
{
	struct vitals *vitals = util_alloc(sizeof(*vitals));
	struct function_table *functions_unknown = util_alloc(sizeof(*functions_unknown));
	struct stage stage;

	(void)state;
	vitals->answer.kind = &vitals_kind;
	functions_unknown->answer.kind = &function_table_kind;
	stage_raise(&stage, answers_new(&vitals->answer, &functions_unknown->answer));
	stage_press(&stage, 'Z');
	stage_holds(&stage, "not frozen", true);
	stage_holds(&stage, "FROZEN", false);
	stage_press(&stage, 'z');
	stage_holds(&stage, "not zeroed", true);
	stage_holds(&stage, "since", false);
	assert_int_equal(stage.session.wanted.zero_ns + stage.session.wanted.until_ns, 0);
	stage_strike(&stage);

	stage_raise(&stage, NULL);
	stage_press(&stage, 'Z');
	stage_holds(&stage, "nothing is known of the VM", true);
	stage_strike(&stage);
}

static void test_idle_is_hidden(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	assert_int_equal(stage.session.wanted.selected, hand_functions[7]);	/* [idle] */
	stage_press(&stage, 'i');
	stage_holds(&stage, "[idle]", false);
	stage_holds(&stage, "idle hidden", true);
	stage_holds(&stage, ">   22.61", true);			/* shares do not change */
	stage_show(&stage, hand_answers(hand_names, hand_functions));
	stage_holds(&stage, "[idle]", false);
	stage_press(&stage, '>');
	stage_press(&stage, '<');
	stage_holds(&stage, "[idle]", false);
	stage_press(&stage, 'i');
	stage_holds(&stage, "34.93   34.93    1390", true);
	stage_holds(&stage, "idle hidden", false);
	stage_strike(&stage);
}

/* With the cursor far down, the rows of a new filter are shown from the top. In a new boot it follows its function. */
static void test_the_list_opens_at_its_beginning(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, 'G');
	answers->functions->filter = filter_of("c");
	answers->functions->table->count = 4;			/* memcpy, spin_lock, page_alloc, a_function... */
	stage_show(&stage, answers);
	assert_int_equal(stage.session.wanted.selected, hand_functions[0]);

	/* Even if the cursor's own row is among them, further down. */
	stage_press(&stage, 'G');
	answers = hand_answers(hand_names, hand_functions);
	answers->functions->filter = filter_of("cc");
	stage_show(&stage, answers);
	assert_int_equal(stage.session.wanted.selected, hand_functions[7]);

	stage_type(&stage, "jj");
	assert_int_equal(stage.session.wanted.selected, hand_functions[0]);
	answers = hand_answers(hand_names, hand_functions);
	answers->functions->answer.boot = 2;
	stage_show(&stage, answers);
	assert_int_equal(stage.session.wanted.selected, hand_functions[0]);
	stage_strike(&stage);
}

static struct answers *of_boot(uint64_t boot, bool sampled)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	answers->vitals->answer.boot = answers->functions->answer.boot = boot;
	answers->vitals->unsampled = !sampled;
	answers->functions->answer.begun = sampled;
	if (!sampled) {
		answers->vitals->now = 2 * NS_PER_SECOND;
		answers->functions->table->count = 0;
	}
	return answers;
}

/* A machine that resets again and again can be read; it is said whose rows they are, and why there are no others. */
static void test_rows_stay_until_the_next_boot_has_some(void **state)
{
	static const char of_before[] = "The rows are of the boot before. This one: No sample since the guest booted.";
	struct answers *answers;
	struct stage stage;

	(void)state;
	stage_raise(&stage, of_boot(1, true));
	stage_type(&stage, "jj");
	for (uint64_t boot = 2; boot < 5; boot++) {
		stage_show(&stage, of_boot(boot, false));
		stage_holds(&stage, "page_alloc", true);
		stage_holds(&stage, of_before, true);
		assert_int_equal(stage.session.wanted.selected, hand_functions[0]);
	}
	stage_resize(&stage, 12, 120, true);		/* too few rows for the other remarks */
	stage_holds(&stage, of_before, true);
	stage_resize(&stage, 24, 80, true);
	stage_show(&stage, of_boot(5, true));
	stage_holds(&stage, "page_alloc", true);
	stage_holds(&stage, "boot before", false);
	assert_int_equal(stage.session.wanted.selected, hand_functions[0]);

	/* Another question, and a recording's next boot, have no rows of before. */
	stage_type(&stage, "\\cpu:1\r");
	stage_show(&stage, of_boot(6, false));
	stage_holds(&stage, "page_alloc", false);
	stage_show(&stage, of_boot(7, true));
	answers = of_boot(8, false);
	answers->vitals->play.there = true;
	stage_show(&stage, answers);
	answers = of_boot(8, false);
	answers->vitals->play.there = true;
	stage_show(&stage, answers);
	stage_holds(&stage, "page_alloc", false);
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_says_what_it_needs),
		cmocka_unit_test(test_few_rows),
		cmocka_unit_test(test_before_the_first_answers),
		cmocka_unit_test(test_never_breaks_at_any_size),
		cmocka_unit_test(test_wishes),
		cmocka_unit_test(test_zero_and_freeze),
		cmocka_unit_test(test_the_window_moves),
		cmocka_unit_test(test_start_and_stop),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_a_mark_that_is_not_seen),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_a_failure_that_is_over),
		cmocka_unit_test(test_kept_wish),
		cmocka_unit_test(test_nothing_to_hold),
		cmocka_unit_test(test_idle_is_hidden),
		cmocka_unit_test(test_the_list_opens_at_its_beginning),
		cmocka_unit_test(test_rows_stay_until_the_next_boot_has_some),
	};

	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
