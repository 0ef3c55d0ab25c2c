/* SPDX-License-Identifier: MIT */
/* What keys and clicks do on a screen: prompts, the wheel, an emptied search, snapshots. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/names/symbols.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/hand_picture.h"
#include "tests/unit/fakes/picture.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/stage.h"
#include "tui/screen/screen.h"
#include "tui/screen/snapshot.h"
#include "tui/terminal/input.h"
#include "tui/terminal/keys.h"

static const uint64_t second = 1000000000;
static struct symbols *symbols;
static uint32_t functions[HAND_FUNCTIONS];

static void raise_stage(struct stage *stage)
{
	stage_raise(stage, hand_picture(symbols, functions));
}

/* ---- the tests ---- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Random answers, keys and sizes, in random order: nothing breaks, and what is asked stays in bounds. */
static void test_random_input(void **state)
{
	uint32_t seed = 42;
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (int i = 0; i < 4000; i++) {
		struct input input = {
			.kind = next_random(&seed) % 8 ? INPUT_KEY :
				(enum input_kind)(next_random(&seed) % INPUT_SUSPEND),
			.code = next_random(&seed) % 3 ? next_random(&seed) % 128 :
				KEYS_UP + next_random(&seed) % 24,
			.row = (int)(next_random(&seed) % 50) - 5,
			.column = (int)(next_random(&seed) % 150) - 5,
		};

		if (i % 7 == 0)
			stage_resize(&stage, (int)(next_random(&seed) % 45),
				(int)(next_random(&seed) % 140), true);
		if (i % 5 == 0) {
			picture_free(stage.session.next);
			stage.session.next = hand_picture(symbols, functions);
			stage.session.next->functions->table->count =
				next_random(&seed) % (HAND_FUNCTIONS + 1);
			stage.session.next->vitals->vm = (enum vm_state)(next_random(&seed) % 5);
		}
		screen_input(stage.screen, &input, stage.now += second / 10);
		screen_step(stage.screen, stage.now);
		screen_draw(stage.screen, stage.canvas);
		assert_in_range(stage.session.wanted.visible_count, 0, HAND_FUNCTIONS);
	}
	stage_strike(&stage);
}

static void test_help_and_back(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, KEYS_F(1));
	stage_holds(&stage, "Keys, the same", true);
	stage_holds(&stage, "● REC", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "Keys, the same", false);
	stage_press(&stage, '?');
	stage_press(&stage, '?');
	stage_holds(&stage, "SELF%", true);
	assert_int_equal(stage_press(&stage, KEYS_CTRL('L')), SCREEN_REDRAW);
	assert_int_equal(stage_press(&stage, KEYS_CTRL('Z')), SCREEN_SUSPEND);
	assert_int_equal(stage_press(&stage, KEYS_F(10)), SCREEN_QUIT);
	stage_press(&stage, '/');
	assert_int_equal(stage_press(&stage, 'q'), SCREEN_NOTHING);	/* it is a letter of the pattern */
	assert_int_equal(stage_press(&stage, KEYS_CTRL('C')), SCREEN_QUIT);
	stage_strike(&stage);
}

/* A click on a label leaves the prompt as Esc does: what was typed is dropped. */
static void test_clicks_on_labels_in_a_prompt(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, '\\');
	stage_type(&stage, "alloc");
	stage_click(&stage, "Filter");
	stage_holds(&stage, "Filter: alloc", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "filter: ", false);
	assert_filter(&stage.session.wanted.filter, "");

	stage_press(&stage, '\\');
	stage_type(&stage, "alloc");
	stage_click(&stage, "Help");
	stage_holds(&stage, "Keys, the same", true);
	stage_holds(&stage, "Filter:", false);
	stage_holds(&stage, "filter: ", false);
	stage_type(&stage, "?");			/* it is a key again */
	stage_holds(&stage, "Keys, the same", false);

	stage_press(&stage, '\\');
	stage_type(&stage, "alloc");
	stage_click(&stage, "Search");
	stage_holds(&stage, "Search: ", true);
	stage_holds(&stage, "filter: ", false);
	stage_type(&stage, "l");
	stage_type(&stage, "oc");
	assert_int_equal(stage.session.wanted.selected, functions[1]);	/* spin_lock */
	stage_click(&stage, "Search");			/* as F3 in the prompt: the next match */
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.wanted.selected, functions[2]);
	stage_click(&stage, "On/off");
	assert_int_equal(stage.session.runs, 1);
	stage_holds(&stage, "Search: ", false);
	stage_strike(&stage);
}

static void test_quit_by_a_key_that_a_prompt_takes(void **state)
{
	char *words[] = { (char *)"q", (char *)"Esc", (char *)"Ctrl-C", NULL };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	assert_true(keys_set(&stage.config.keys, "quit", words, NULL));
	stage_press(&stage, '/');
	assert_int_equal(stage_press(&stage, KEYS_ESCAPE), SCREEN_NOTHING);
	stage_holds(&stage, "Search:", false);
	stage_press(&stage, '/');
	assert_int_equal(stage_press(&stage, KEYS_CTRL('C')), SCREEN_QUIT);
	assert_int_equal(stage_press(&stage, KEYS_ESCAPE), SCREEN_NOTHING);
	assert_int_equal(stage_press(&stage, KEYS_ESCAPE), SCREEN_QUIT);
	stage_strike(&stage);
}

static void test_emptied_search(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_press(&stage, 'n');
	stage_holds(&stage, "no name was given yet", true);
	stage_press(&stage, '/');
	stage_type(&stage, "alloc");
	stage_press(&stage, KEYS_ENTER);
	stage_press(&stage, '/');
	stage_type(&stage, "spin");
	stage_press(&stage, KEYS_CTRL('U'));
	stage_press(&stage, KEYS_ENTER);
	stage_press(&stage, 'g');
	stage_press(&stage, 'n');
	stage_holds(&stage, "no name was given yet", true);
	assert_int_equal(stage.session.wanted.selected, functions[7]);
	stage_strike(&stage);
}

/* The message of a click is shown, even if a failure was shown before. */
static void test_clicks_are_heard_after_a_failure(void **state)
{
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage.session.message = (struct session_message) { .failed = true, .text = "it failed" };
	screen_step(stage.screen, stage.now);
	stage_holds(&stage, "it failed", true);
	stage_click(&stage, "Window");
	stage_holds(&stage, "it failed", false);
	stage_holds(&stage, "window: 60s", true);
	stage_strike(&stage);
}

/* A snapshot has the filter that was just typed, even if that is not drawn yet. */
static void test_snapshot_right_after_a_filter(void **state)
{
	const uint32_t codes[] = { '\\', 'l', KEYS_ENTER, 's' };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct input key = { .kind = INPUT_KEY, .code = codes[i] };

		screen_input(stage.screen, &key, stage.now);
	}
	assert_int_equal(stage.session.snapshots, 1);
	assert_filter(&stage.session.snapped.filter, "l");
	stage_strike(&stage);
}

/* With other keys in the settings, no text names the standard keys, and these do nothing. */
static void test_other_keys(void **state)
{
	static const char *const settings[][3] = { { "quit", "x" }, { "profile", "F5" },
		{ "back", "b" }, { "zero", "q" }, { "freeze", "none" } };
	struct picture *off = hand_picture(symbols, functions);
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		char *words[] = { (char *)settings[i][1], NULL };

		assert_true(keys_set(&stage.config.keys, settings[i][0], words, NULL));
	}
	off->vitals->running = false;
	stage_show(&stage, off);
	stage_holds(&stage, "F5 starts it", true);
	stage_holds(&stage, "x Quit", true);
	stage_press(&stage, 'q');
	stage_holds(&stage, "b counts all again", true);
	stage_press(&stage, 'Z');
	stage_holds(&stage, "FROZEN", false);
	stage_press(&stage, KEYS_F(1));
	stage_holds(&stage, " SPACE ", false);
	stage_resize(&stage, 3, 20, true);
	stage_holds(&stage, "or x", true);
	assert_int_equal(stage_press(&stage, 'x'), SCREEN_QUIT);
	stage_strike(&stage);
}

static void test_key_bar_and_wheel(void **state)
{
	struct input wheel = { .kind = INPUT_SCROLL_DOWN };
	struct stage stage;

	(void)state;
	raise_stage(&stage);
	stage_click(&stage, "Help");
	stage_holds(&stage, "Keys, the same", true);
	stage_click(&stage, "Help");
	screen_input(stage.screen, &wheel, stage.now);
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.wanted.selected, functions[1]);	/* three rows down */
	stage_click(&stage, "On/off");
	assert_int_equal(stage.session.runs, 1);
	stage_strike(&stage);
}

static void test_snapshot(void **state)
{
	char name[SNAPSHOT_NAME], next[SNAPSHOT_NAME];
	char *folder = getcwd(NULL, 0);
	struct stage stage;

	(void)state;
	assert_int_equal(chdir((scratch_path("."), scratch_folder)), 0);
	setenv("TZ", "UTC", 1);
	assert_string_equal(snapshot_name("demo-kernel", 1767268800, ".folded", name),
		"ktop-demo-kernel-20260101-120000.folded");
	assert_string_equal(snapshot_name("../../e\033[1mtc", 1767268800, ".folded", next),
		"ktop-e1mtc-20260101-120000.folded");
	assert_string_equal(snapshot_name("", 1767268800, ".folded", next),
		"ktop-kernel-20260101-120000.folded");
	assert_int_equal(chdir(folder), 0);
	free(folder);

	raise_stage(&stage);
	stage_press(&stage, 's');
	stage_press(&stage, KEYS_F(9));
	assert_int_equal(stage.session.snapshots, 2);
	assert_true(stage.session.marked);
	assert_non_null(strstr(stage.session.path, "ktop-demo-kernel-"));
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_input),
		cmocka_unit_test(test_help_and_back),
		cmocka_unit_test(test_clicks_on_labels_in_a_prompt),
		cmocka_unit_test(test_quit_by_a_key_that_a_prompt_takes),
		cmocka_unit_test(test_emptied_search),
		cmocka_unit_test(test_clicks_are_heard_after_a_failure),
		cmocka_unit_test(test_snapshot_right_after_a_filter),
		cmocka_unit_test(test_other_keys),
		cmocka_unit_test(test_key_bar_and_wheel),
		cmocka_unit_test(test_snapshot),
	};
	int failed;

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	symbols = hand_symbols(functions);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	symbols_free(symbols);
	return failed;
}
