/* SPDX-License-Identifier: MIT */
/* What goes along from view to view: the function under the cursor, the row to go back to, the way there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tui/screen/screen.h"
#include "tui/terminal/keys.h"
#include "stage.h"

static struct answers *with_tree(bool around, uint64_t more)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	hand_tree(answers, hand_names, hand_functions, around, more);
	return answers;
}

/*
 * The function under the cursor goes along to a view that has no answer yet: the cursor is on it once that has come,
 * unless a key has moved the cursor meanwhile.
 */
static void test_function_goes_along(void **state)
{
	static const char *const keys[] = { "2", "3", "2g", "3g" };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct answers *answers = with_tree(false, 0);
		struct stage stage;

		util_print(answers->tree->kernel, sizeof(answers->tree->kernel), "%s", answers->functions->kernel);
		stage_raise(&stage, hand_answers(hand_names, hand_functions));
		stage_type(&stage, "jjj");		/* spin_lock */
		stage_type(&stage, keys[i]);
		stage_show(&stage, answers);
		stage_holds(&stage, "spin_lock  43.84% of all", keys[i][1] != 'g');
		stage_strike(&stage);
	}
}

/* What was said has gone, and these answers have come. */
static void show_later(struct stage *stage, struct answers *answers)
{
	stage->now += 4 * NS_PER_SECOND;
	screen_step(stage->screen, stage->now);
	stage_show(stage, answers);
}

/*
 * Esc goes back to the row from which a step was made, even if the cursor was never moved, and another row has come to
 * the top since.
 */
static void test_back_to_the_row(void **state)
{
	static const char *const steps[] = { "\r", "x" };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct answers *answers = hand_answers(hand_names, hand_functions);
		struct stage stage;

		answers->functions->table->rows[0].self *= 10;
		stage_raise(&stage, answers);
		assert_int_equal(stage.session.wanted.selected, hand_functions[0]);
		stage_type(&stage, steps[i]);
		stage_press(&stage, KEYS_ESCAPE);
		answers = hand_answers(hand_names, hand_functions);
		answers->functions->table->rows[3].self *= 10;
		show_later(&stage, answers);
		assert_int_equal(stage.session.wanted.selected, hand_functions[0]);
		stage_strike(&stage);
	}
}

/* Callers and callees begin at the function, and Esc goes back to the row of the tree. */
static void test_back_to_the_row_of_the_tree(void **state)
{
	struct answers *answers = with_tree(false, 0);
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_press(&stage, '2');
	stage_show(&stage, answers);
	stage_type(&stage, "jj");
	stage_holds(&stage, ">   18.92   43.15   18.44", true);
	for (int i = 0; i < 2; i++) {
		stage_press(&stage, 'x');
		stage_show(&stage, with_tree(true, 0));
		stage_press(&stage, KEYS_ESCAPE);
		stage_show(&stage, with_tree(false, 0));
		stage_holds(&stage, ">   18.92   43.15   18.44", true);
	}
	stage_strike(&stage);
}

/* The tree is asked for the way to a function in a folded row. Without a row or cell, it goes along further. */
static void test_hidden_function_goes_along(void **state)
{
	uint64_t name = tree_name(symbols_get(hand_names, hand_functions[1]), "demo-kernel");
	static const char keys[] = { '2', '3' };

	(void)state;
	for (size_t i = 0; i < sizeof(keys); i++) {
		struct stage stage;

		stage_raise(&stage, hand_answers(hand_names, hand_functions));
		stage_type(&stage, "jjj");	/* spin_lock, which is another one in the tree of a nameless kernel */
		stage_press(&stage, keys[i]);
		assert_int_equal(stage.session.tree.tree.find, keys[i] == '2' ? name : 0);
		for (int k = 0; k < 2; k++)	/* the first unfolds the hot path, the second has that */
			stage_show(&stage, with_tree(false, 0));
		stage_holds(&stage, "spin_lock  43.84% of all", false);
		assert_int_equal(stage.session.tree.tree.find, 0);
		stage_press(&stage, '6');
		assert_int_equal(stage.session.annotation.function, name);
		stage_strike(&stage);
	}
}

/* A function that has no row in the table yet gets the cursor once it has one, unless a key moves the cursor before. */
static void test_function_comes_later(void **state)
{
	static const char *const keys[] = { "1", "1k" };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct answers *answers = hand_answers(hand_names, hand_functions);
		struct stage stage;

		hand_rows(answers, hand_names, hand_functions, 1);
		stage_raise(&stage, answers);
		stage_resize(&stage, 24, 100, true);	/* room for the way */
		answers = with_tree(false, 0);
		util_print(answers->tree->kernel, sizeof(answers->tree->kernel), "%s", answers->functions->kernel);
		stage_press(&stage, '2');
		stage_show(&stage, answers);
		stage_type(&stage, "gj");		/* spin_lock */
		stage_holds(&stage, " > spin_lock", true);
		stage_type(&stage, keys[i]);
		stage_show(&stage, hand_answers(hand_names, hand_functions));
		stage_holds(&stage, "\n spin_lock  ", keys[i][1] != 'k');
		stage_strike(&stage);
	}
}

/* A function at which the cursor stays since nobody has moved it is not chosen: Heat shows all that is busy. */
static void test_annotated_function_is_not_chosen(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "64");
	assert_int_equal(stage.session.heat.of, 0);
	stage_type(&stage, "1jjj64");
	assert_int_equal(stage.session.heat.of, tree_name(symbols_get(hand_names, hand_functions[1]), "demo-kernel"));
	stage_strike(&stage);
}

/* The row of names tells the way to where one is; what has no room is left out from its beginning. */
static void test_way(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "jjj\r");
	stage_holds(&stage, " 9Memory   spin_lock", true);
	stage_resize(&stage, 24, 97, true);
	stage_holds(&stage, "  … > spin_lock", true);
	stage_resize(&stage, 24, 140, true);
	stage_holds(&stage, "  Functions > spin_lock", true);
	stage_type(&stage, "x");
	hand_tree(answers, hand_names, hand_functions, true, 0);
	answers->tree->of = stage.session.tree.tree.of;
	stage_show(&stage, answers);
	stage_holds(&stage, "  Functions > spin_lock", true);
	stage_type(&stage, "k");
	stage_holds(&stage, "  Functions > spin_lock < ", true);
	stage_strike(&stage);
}

/* Groups have no function, so the one from before goes along; and the page's is the one that goes on from it. */
static void test_function_goes_past_groups(void **state)
{
	uint64_t name = tree_name(symbols_get(hand_names, hand_functions[1]), "demo-kernel");
	struct answers *answers;
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "jjj");
	stage_type(&stage, "6");
	assert_int_equal(stage.session.annotation.function, name);
	stage_type(&stage, "1Bj6");
	assert_int_equal(stage.session.annotation.function, name);
	stage_type(&stage, "1");
	answers = hand_answers(hand_names, hand_functions);
	answers->functions->by = GROUP_LINE;
	stage_show(&stage, answers);
	stage_type(&stage, "jj\r");
	stage_holds(&stage, "the function of this line is not known yet", true);
	stage_strike(&stage);
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "j6");
	stage_type(&stage, "1jj\r");
	assert_int_equal(stage.session.page.tree.of, name);
	stage_type(&stage, "6");
	assert_int_equal(stage.session.annotation.function, name);
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function_goes_along),
		cmocka_unit_test(test_back_to_the_row),
		cmocka_unit_test(test_back_to_the_row_of_the_tree),
		cmocka_unit_test(test_hidden_function_goes_along),
		cmocka_unit_test(test_function_comes_later),
		cmocka_unit_test(test_annotated_function_is_not_chosen),
		cmocka_unit_test(test_way),
		cmocka_unit_test(test_function_goes_past_groups),
	};

	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
