/* SPDX-License-Identifier: MIT */
/* What keys do in Tree, Flame and Heat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tui/screen/screen.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "sheet.h"
#include "stage.h"

static struct answers *with_tree(bool around, uint64_t more)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	hand_tree(answers, hand_names, hand_functions, around, more);
	return answers;
}

/* The cursor stays on its path while the numbers move; x shows callers and callees, and Esc goes back to the row. */
static void test_tree(void **state)
{
	struct answers *answers = with_tree(false, 0);
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_press(&stage, '2');
	stage_show(&stage, answers);
	assert_int_equal(stage.session.tree.tree.orders, 1 << TREE_DOWN);
	stage_type(&stage, "jj");
	stage_holds(&stage, ">   18.92   43.15   18.44", true);		/* memcpy, below spin_lock */
	assert_int_equal(stage.session.tree.tree.unfolded_count, 0);
	stage_press(&stage, 'L');
	assert_string_equal(stage.session.function, "memcpy");
	stage_press(&stage, '+');
	assert_int_equal(stage.session.tree.tree.unfolded_count, 1);
	stage_press(&stage, '-');				/* no answer has unfolded it yet: to the parent */
	stage_holds(&stage, ">   43.84   87.25", true);
	stage_press(&stage, 'E');
	assert_int_not_equal(stage.session.tree.tree.below, 0);
	stage_show(&stage, with_tree(false, 500));
	stage_holds(&stage, ">   43.84   87.25", true);
	assert_int_equal(stage.session.tree.tree.below, 0);
	assert_int_equal(stage.session.tree.tree.unfolded_count, 3);	/* syscall_entry, spin_lock, memcpy */
	stage_press(&stage, '-');
	assert_int_equal(stage.session.tree.tree.unfolded_count, 2);
	stage_press(&stage, 'x');
	assert_int_equal(stage.session.tree.tree.of, tree_name(symbols_get(hand_names, hand_functions[1]), ""));
	stage_show(&stage, with_tree(true, 0));
	sheet_check(&stage, "state_callers");
	stage.now += 4 * NS_PER_SECOND;			/* the message has gone */
	screen_step(stage.screen, stage.now);
	sheet_check_view(&stage, "view_callers");
	answers = with_tree(true, 0);
	answers->tree->tree->lists[TREE_DOWN].count = answers->tree->tree->lists[TREE_UP].count = 0;
	stage_show(&stage, answers);
	stage_holds(&stage, "Nothing has run this function in the", true);
	stage_press(&stage, KEYS_ESCAPE);
	assert_int_equal(stage.session.tree.tree.of, 0);
	stage_press(&stage, 'b');
	assert_int_equal(stage.session.tree.tree.orders, 1 << TREE_UP);
	stage_strike(&stage);
}

/* The first two rows, which have no parent, change places. */
static void swap_roots(struct tree_row *rows, size_t count)
{
	struct tree_row first = rows[0];

	rows[0] = rows[1];
	rows[1] = first;
	for (size_t i = 2; i < count; i++)
		if (rows[i].parent != TREE_TOP && rows[i].parent < 2)
			rows[i].parent = 1 - rows[i].parent;
}

/* The cursor follows the node that was folded or unfolded, though nobody has moved it from the top. */
static void test_the_node_that_was_unfolded(void **state)
{
	static const uint32_t keys[] = { '+', '-', '\r', 'e', 'E' };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct answers *answers = with_tree(false, 0);
		struct stage stage;

		stage_raise(&stage, NULL);
		stage_press(&stage, '2');
		stage_show(&stage, answers);
		stage_holds(&stage, ">   50.25", true);		/* syscall_entry, at the top */
		stage_press(&stage, keys[i]);
		answers = with_tree(false, 0);
		swap_roots(answers->tree->tree->lists[TREE_DOWN].rows, answers->tree->tree->lists[TREE_DOWN].count);
		stage_show(&stage, answers);
		stage_holds(&stage, ">   50.25", true);
		stage_strike(&stage);
	}
}

/* A key that has nothing to do where it is pressed says so: in its own view, and in others. */
/* Each key says it at its first press alone, whatever is pressed between. */
static void test_a_key_without_meaning_says_so_once(void **state)
{
	static const uint32_t keys[] = { 'y', 'X', '\t', KEYS_F(5), KEYS_F(12), 0x10ffff };
	struct stage stage;

	(void)state;
	stage_raise(&stage, with_tree(false, 0));
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			stage_press(&stage, keys[i]);
			stage_holds(&stage, "nothing done: ", round == 0);
		}
	stage_press(&stage, 0xe9);
	stage_holds(&stage, "nothing done: ", false);		/* keys without a name are one */
	stage_press(&stage, UINT32_MAX);
	stage_press(&stage, 0);
	stage_strike(&stage);
}

static void test_keys_without_effect(void **state)
{
	static const struct {
		const char *place;
		char key;
		const char *says;
	} tries[] = {
		{ "2G", 'e', "not unfolded: this row has none below it, or shows them" },
		{ "2G", 'E', "not unfolded: this row has none" }, { "2G", '+', "not unfolded: this row has none" },
		{ "2G", '-', "not folded: nothing is shown below this row, and it has no parent" },
		{ "jjx", 'b', "not turned: callers and callees have one order" },
		{ "1", '+', "not unfolded: this key is for 2" }, { "3", '-', "not folded: this key is for 2" },
		{ "5", 'b', "not turned: this key is for 2 and 3" }, { "2", 'u', "not turned: this key is for 3" },
		{ "4", 'm', "not merged: this key is for 2 and 3" }, { "1", 'H', "no code is here: this key is for 6" },
		{ "3", 'a', "no code is here: this key is for 6" }, { "2", '<', "not sorted: the rows of this view" },
		{ "3", 'G', "not moved: a flame has no pages; the arrows go from cell to cell" },
		{ "4", 'I', "not sorted: the rows of this view have one order; 1 and 5 show tables" },
		{ "3", 'P', "not sorted: the rows of this view" }, { "2", 'T', "not sorted: the rows of this view" },
		{ "5", 'y', "nothing done: y has no meaning; F1 lists the keys" }, { "?", 'y', "y has no meaning" },
		{ "1", 'f', "nothing done: f is for a recording; `ktop --replay DIR` plays one" },
		{ "1", '\t', "nothing done: Tab is for several machines; this ktop shows one" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct stage stage;

		stage_raise(&stage, with_tree(false, 0));
		stage_type(&stage, tries[i].place);
		stage_show(&stage, with_tree(strchr(tries[i].place, 'x'), 0));
		stage_type(&stage, tries[i].place[1] == 'G' ? "G" : "");	/* once the rows are there */
		stage_press(&stage, (uint32_t)tries[i].key);
		stage_holds(&stage, tries[i].says, true);
		stage_strike(&stage);
	}
}

/* memcpy > spin_lock > spin_lock > page_alloc, in which recursion may be folded. */
static struct answers *recursive(bool folded)
{
	static const uint32_t way[] = { 0, 1, 1, 2 };
	static const uint64_t totals[] = { 20000, 17440, 9000, 8000 };
	struct answers *answers = with_tree(false, 0);
	struct tree *tree = answers->tree->tree;

	answers->tree->recursion = folded;
	tree->lists[TREE_DOWN].count = 0;
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		const struct tree_list *list = &tree->lists[TREE_DOWN];
		uint32_t depth = (uint32_t)list->count;
		struct tree_row *row = folded && i == 2 ? NULL : tree_add(tree, TREE_DOWN);

		if (!row)
			continue;
		row->function = hand_functions[way[i]];
		row->depth = depth;
		row->parent = depth ? depth - 1 : TREE_TOP;
		row->path = tree_path(TREE_DOWN, false, depth ? list->rows[depth - 1].path : 0,
			tree_name(symbols_get(hand_names, row->function), ""));
		row->has_more = row->unfolded = i < 3;
		row->total = row->samples = totals[i];
		row->self = 1000;
	}
	return answers;
}

/* Recursion is folded: the cursor is on the row into which its row went. Unfolded: on the nearest that is there. */
static void test_recursion(void **state)
{
	static const struct {
		const char *view, *keys, *before, *folded, *unfolded;
	} rows[] = {
		{ "2", "jj", ">   22.61   51.61", ">   43.82   87.20", ">   43.82   87.20" },
		{ "2", "jjj", ">   20.10   88.89", ">   20.10   45.87", ">   43.82   87.20" },
		{ "2", "j", ">   43.82   87.20", ">   43.82   87.20", ">   43.82   87.20" },
		{ "3", "jj", "spin_lock  22.61%", "spin_lock  43.82%", "spin_lock  43.82%" },
		{ "3", "jjj", "page_alloc  20.10%", "page_alloc  20.10%", "spin_lock  43.82%" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stage stage;

		stage_raise(&stage, NULL);
		stage_type(&stage, rows[i].view);
		stage_show(&stage, recursive(false));
		stage_type(&stage, rows[i].keys);
		stage_holds(&stage, rows[i].before, true);
		stage_type(&stage, "mm");			/* twice: it has not moved */
		stage_show(&stage, recursive(false));
		stage_holds(&stage, rows[i].before, true);
		stage_type(&stage, "m");
		assert_int_equal(stage.session.tree.tree.recursion, 1);
		stage_show(&stage, recursive(false));		/* it was made before the key */
		stage_holds(&stage, rows[i].before, true);
		stage_show(&stage, recursive(true));
		stage_holds(&stage, rows[i].folded, true);
		stage_type(&stage, "m");
		stage_show(&stage, recursive(false));
		stage_holds(&stage, rows[i].unfolded, true);
		stage_strike(&stage);
	}
}

/* A map of the heat shows no change, and says so. */
static void test_heat_with_a_baseline(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct stage stage;

	(void)state;
	hand_heat(answers, hand_names);
	stage_raise(&stage, NULL);
	stage_type(&stage, "4");
	stage_show(&stage, answers);
	stage_holds(&stage, "shows no change", false);
	stage_type(&stage, "\b");
	stage_holds(&stage, "brightest at 100 %; shows no change", true);
	stage_strike(&stage);
}

/* Enter makes a cell as wide as the flame; each Esc takes one step of that back, and no more than that. */
static void test_flame_zoom(void **state)
{
	struct answers *answers = with_tree(false, 0);
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_press(&stage, '3');
	stage_show(&stage, answers);
	stage_holds(&stage, "syscall_entry  50.25% of all", true);
	stage_press(&stage, KEYS_DOWN);
	stage_press(&stage, KEYS_DOWN);
	stage_holds(&stage, "memcpy  18.92% of all", true);
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "[unknown]", false);
	assert_int_equal(stage.session.tree.tree.unfolded_count, 1);
	stage_press(&stage, KEYS_ESCAPE);		/* spin_lock is the widest now */
	stage_holds(&stage, "[unknown]", false);
	assert_int_equal(stage.session.tree.tree.unfolded_count, 1);
	stage_press(&stage, KEYS_ESCAPE);		/* syscall_entry */
	stage_holds(&stage, "[unknown]", false);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "[unknown]", true);
	stage_holds(&stage, "memcpy  18.92% of all", true);
	assert_int_equal(stage.session.tree.tree.unfolded_count, 0);
	assert_int_equal(stage.session.tree.line_count, 1);
	stage_strike(&stage);
}

/* A click on the flame's cell at the left that begins so: "\nNAME". */
static void click_cell(struct stage *stage, const char *text)
{
	struct input input = { .kind = INPUT_CLICK, .column = 20 };
	char *screen, *cell;

	screen_draw(stage->screen, stage->canvas);
	screen = canvas_dump(stage->canvas);
	cell = strstr(screen, text);
	assert_non_null(cell);
	for (const char *at = screen; at <= cell; at++)
		input.row += *at == '\n';
	free(screen);
	screen_input(stage->screen, &input, stage->now);
}

/* A step out of a zoom is one that is seen: a row above that looks as wide is no step. Clicks step, too. */
static void test_flame_steps_are_seen(void **state)
{
	struct answers *answers = with_tree(false, 17440 - 7530);	/* memcpy is nearly all of spin_lock */
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_press(&stage, '3');
	stage_show(&stage, answers);
	stage_type(&stage, "jj\r");
	stage_holds(&stage, "\n▏memcpy", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "\n▏syscall_entry", true);
	stage_holds(&stage, "\n▏memcpy", false);
	stage_holds(&stage, "\n▏spin_lock", false);
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "\n▏memcpy", true);
	click_cell(&stage, "\n▏memcpy");
	click_cell(&stage, "\n▏syscall_entry");
	click_cell(&stage, "\n▏syscall_entry");
	stage_holds(&stage, "\n▏syscall_entry", false);
	stage_strike(&stage);
}

/* Each view that is made of a call tree says that rows of it are missing. */
static void test_scarce(void **state)
{
	static const char *const keys[] = { "2", "3", "\r" };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct answers *answers = hand_answers(hand_names, hand_functions);
		struct stage stage;

		stage_raise(&stage, hand_answers(hand_names, hand_functions));
		stage_type(&stage, "jjj");		/* the page is spin_lock's */
		stage_type(&stage, keys[i]);
		if (*keys[i] == '\r')
			hand_page(answers, hand_names, hand_functions);
		else
			hand_tree(answers, hand_names, hand_functions, false, 0);
		(answers->page ? answers->page->tree : answers->tree)->tree->scarce = true;
		stage_show(&stage, answers);
		stage_resize(&stage, 60, 80, true);
		stage_holds(&stage, "memory is short", true);
		stage_strike(&stage);
	}
}

/* With 256 colours and Unicode, cells of a flame begin and end in the middle of a column, too. */
static void test_flame_of_half_columns(void **state)
{
	struct answers *answers = with_tree(false, 0);
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage.halves = true;
	stage_press(&stage, '3');
	stage_show(&stage, answers);
	sheet_check(&stage, "state_flame_halves");
	stage_strike(&stage);
}

/* What a search finds in a flame is alone in its colour: no cell has its function's, which may be the same. */
static void test_flame_shows_what_matches(void **state)
{
	struct answers *answers = with_tree(false, 0);
	struct stage stage;
	int matches = 0, functions_own = 0;

	(void)state;
	stage_raise(&stage, NULL);
	stage_type(&stage, "3/lock\n");
	stage_press(&stage, KEYS_UP);			/* off the match, which the cursor would hide */
	stage_show(&stage, answers);
	for (int row = 0; row < stage.canvas->rows; row++)
		for (int column = 0; column < stage.canvas->columns; column++) {
			unsigned style = canvas_cell(stage.canvas, row, column)->style;

			matches += style == STYLE_MATCH;
			functions_own += style >= STYLE_FLAME_KERNEL && style < STYLE_MORE;
		}
	assert_in_range(matches, 8, stage.canvas->columns);
	assert_int_equal(functions_own, 0);
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_the_node_that_was_unfolded),
		cmocka_unit_test(test_keys_without_effect),
		cmocka_unit_test(test_a_key_without_meaning_says_so_once),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_heat_with_a_baseline),
		cmocka_unit_test(test_flame_zoom),
		cmocka_unit_test(test_flame_steps_are_seen),
		cmocka_unit_test(test_scarce),
		cmocka_unit_test(test_flame_of_half_columns),
		cmocka_unit_test(test_flame_shows_what_matches),
	};

	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
