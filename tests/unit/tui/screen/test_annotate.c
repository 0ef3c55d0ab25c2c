/* SPDX-License-Identifier: MIT */
/* The view Annotate, of the function under the cursor of the view before. Golden files: state_annotate*. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "tests/unit/fakes/hand_annotation.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tui/terminal/keys.h"
#include "sheet.h"
#include "stage.h"

static struct answers *annotated(bool bare, uint64_t more)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	hand_annotation(answers, hand_names, hand_functions[2], bare, more);
	return answers;
}

/* The cursor is put on page_alloc in the table; then the view is opened. */
static void open_view(struct stage *stage, bool bare)
{
	struct answers *answers = annotated(bare, 0);

	stage_raise(stage, hand_answers(hand_names, hand_functions));
	stage_type(stage, "/page_alloc\r6");
	assert_int_equal(stage->session.annotation.function, answers->annotation->of);
	stage_show(stage, answers);
	stage_press(stage, KEYS_ESCAPE);		/* the search is over */
	stage->now += 4 * NS_PER_SECOND;		/* the message has gone */
	screen_step(stage->screen, stage->now);
}

static void test_forms(void **state)
{
	struct stage stage;

	(void)state;
	open_view(&stage, false);
	sheet_check(&stage, "state_annotate");
	sheet_check_view(&stage, "view_annotate");
	stage_type(&stage, "a");
	sheet_check(&stage, "state_annotate_instructions");
	stage_type(&stage, "a");
	sheet_check(&stage, "state_annotate_source");
	stage_strike(&stage);
	open_view(&stage, true);
	sheet_check(&stage, "state_annotate_bare");
	stage_strike(&stage);
}

static void test_baseline(void **state)
{
	struct answers *answers = annotated(false, 0);
	struct stage stage;

	(void)state;
	open_view(&stage, false);
	stage_type(&stage, "\b");
	hand_baseline(answers);
	stage_show(&stage, answers);
	stage.now += 4 * NS_PER_SECOND;			/* the message has gone */
	screen_step(stage.screen, stage.now);
	sheet_check(&stage, "state_baseline_annotate");
	stage_strike(&stage);
}

/* It begins on the hottest line; H goes to the next one, and behind the last to the first. */
static void test_hottest(void **state)
{
	static const char *const marks[] = {
		">   80.67    125", ">   17.14    126", ">    1.21    124", ">    0.54    120",
	};
	struct stage stage;

	(void)state;
	open_view(&stage, false);
	for (int i = 0; i < 4; i++) {
		stage_holds(&stage, marks[i], true);
		stage_press(&stage, 'H');
	}
	stage_holds(&stage, ">    0.40    124", true);		/* the same line goes on behind */
	for (int i = 0; i < 2; i++)
		stage_press(&stage, 'H');
	stage_holds(&stage, marks[0], true);
	stage_strike(&stage);
}

/* The cursor stays on its line while the numbers move, and when the form changes. */
static void test_cursor_stays(void **state)
{
	struct stage stage;

	(void)state;
	open_view(&stage, false);
	stage_press(&stage, KEYS_DOWN);
	stage_holds(&stage, ">   80.67         ", true);
	stage_show(&stage, annotated(false, 9000));
	stage_holds(&stage, ">   20.04         ", true);
	stage_press(&stage, 'a');
	stage_holds(&stage, "4011a4: pause", true);
	stage_holds(&stage, ">   20.04         ", true);
	stage_press(&stage, 'a');
	stage_holds(&stage, ">   20.04    125", true);
	stage_strike(&stage);
}

/* The page of the annotated function, whose own lines are these. */
static void open_page(struct stage *stage, const char *const lines[2])
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	hand_page(answers, hand_names, hand_functions);
	for (int i = 0; i < 2; i++)
		answers->page->tables[PAGE_LINES]->table->rows[i].function =
			symbols_group(hand_names, lines[i], "kernel");
	stage_raise(stage, hand_answers(hand_names, hand_functions));
	stage_resize(stage, 36, 120, true);
	stage_type(stage, "jjj\r");
	stage_show(stage, answers);
}

/* Enter on a line of a function's page goes to this line, and not to the hottest. Moving the cursor calls it off. */
static void test_line_of_a_page(void **state)
{
	static const struct {
		const char *line, *form, *cursor;
	} rows[] = {
		{ "kernel/mm/page.c:128", "", ">    0.03    128" },
		{ "mm/page.c:124", "", ">    1.21    124" },		/* its hotter piece */
		{ "include/list.h:40", "", ">   17.14    126" },	/* inlined there */
		{ "mm/page.c:128", "aa", ">    0.03    128" },		/* in each form */
		{ "mm/page.c:124", "a", ">    1.21         " },
		{ "mm/page.c:777", "", ">   80.67    125" },
		{ "[no source]", "", ">   80.67    125" },
	};
	struct stage stage;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *lines[] = { "kern/lock.c:24", rows[i].line };

		for (int late = 0; late < 2; late++) {
			struct answers *answers = hand_answers(hand_names, hand_functions);

			hand_annotation(answers, hand_names, hand_functions[1], false, 0);
			open_page(&stage, lines);
			stage_type(&stage, "/");
			stage_type(&stage, rows[i].line);
			stage_type(&stage, "\r");
			stage_press(&stage, KEYS_ESCAPE);
			stage_press(&stage, KEYS_ENTER);
			if (late)			/* the code comes after the keys */
				stage_type(&stage, rows[i].form);
			stage_show(&stage, answers);
			if (!late)
				stage_type(&stage, rows[i].form);
			stage_resize(&stage, 24, 80, true);
			stage_holds(&stage, rows[i].cursor, true);
			stage_strike(&stage);
		}
	}
}

/* Enter follows a jump, Esc goes back to it; the way is that of one function. */
static void test_enter_follows_a_jump(void **state)
{
	struct stage stage;

	(void)state;
	open_view(&stage, true);
	stage_type(&stage, "/jne\r");
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, ">    1.21", true);
	stage_holds(&stage, "page_alloc > page_alloc", false);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "no search: nothing is marked", true);
	stage_holds(&stage, ">    1.21", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, ">    1.21", false);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "nothing to take back", true);
	stage_strike(&stage);
}

/* The code of page_alloc, whose instruction `pause` is a call of spin_lock. */
static struct answers *calling(void)
{
	struct answers *answers = annotated(false, 0);
	struct listing_instruction *call = &answers->annotation->listing->instructions[2];

	call->callee = "spin_lock";
	call->called = hand_functions[1];
	call->goes = 0x409000;
	return answers;
}

/* Enter on a call goes to the code of that function; Esc goes back to the call. Elsewhere Enter says what it does. */
static void test_enter_follows_a_call(void **state)
{
	uint64_t page_alloc = tree_name(symbols_get(hand_names, hand_functions[2]), "demo-kernel");
	uint64_t spin_lock = tree_name(symbols_get(hand_names, hand_functions[1]), "demo-kernel");
	struct stage stage;

	(void)state;
	open_view(&stage, false);
	stage_show(&stage, calling());
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "source line; Enter follows the jumps and calls below it", true);
	stage_press(&stage, KEYS_DOWN);
	stage_holds(&stage, "pause <spin_lock>", true);
	stage_press(&stage, KEYS_ENTER);
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.annotation.function, spin_lock);
	stage_resize(&stage, 36, 120, true);
	stage_holds(&stage, "page_alloc > spin_lock", true);
	stage_press(&stage, KEYS_ESCAPE);
	screen_draw(stage.screen, stage.canvas);
	assert_int_equal(stage.session.annotation.function, page_alloc);
	stage_show(&stage, calling());
	stage_holds(&stage, ">   80.67     2400         ", true);
	stage_press(&stage, KEYS_DOWN);
	stage_press(&stage, KEYS_DOWN);
	stage_press(&stage, KEYS_ENTER);
	stage_type(&stage, "aa");
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "this is a source line; a shows its jumps and calls", true);
	stage_strike(&stage);
}

/* What is no jump or call says so. */
static void test_enter_says_what_it_does(void **state)
{
	struct stage stage;

	(void)state;
	open_view(&stage, true);
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "no jump or call with a known target; Enter follows those", true);
	stage_strike(&stage);
	stage_raise(&stage, NULL);
	stage_press(&stage, '6');
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "there is no code here", true);
	stage_strike(&stage);
}

/* The rows by line. `late`: it is not known yet in which function the line is. */
static struct answers *by_line(bool late)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct function_table *table = answers->functions;

	table->by = GROUP_LINE;
	table->table->rows[0].function = symbols_group(hand_names, "mm/page.c:124", "kernel");
	table->visible[0].function = table->table->rows[0].function;
	table->visible[0].ran = (struct caller) { hand_functions[2], late ? 0 : 77 };
	return answers;
}

/* Enter on a line goes to the code of its function, with the cursor on that line; Esc goes back to the row. */
static void test_line_of_the_table(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_resize(&stage, 36, 120, true);
	stage_press(&stage, 'B');
	stage_show(&stage, by_line(true));
	stage_type(&stage, "/page.c:124\r");
	stage_press(&stage, KEYS_ESCAPE);
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "the function of this line is not known yet", true);
	stage_show(&stage, by_line(false));
	stage_holds(&stage, "in: page_alloc", true);
	stage_press(&stage, KEYS_ENTER);
	stage_show(&stage, annotated(false, 0));
	stage_holds(&stage, "Functions > page_alloc", true);
	stage_holds(&stage, ">    1.21       36    124", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_show(&stage, by_line(false));
	stage_holds(&stage, "by line", true);
	stage_holds(&stage, ">   18.44", true);
	stage_strike(&stage);
}

/* Without a function, the view says what to do. */
static void test_chosen(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, NULL);
	stage_press(&stage, '6');
	stage_holds(&stage, "No function was chosen.", true);
	assert_int_equal(stage.session.annotation.function, 0);
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_hottest),
		cmocka_unit_test(test_cursor_stays),
		cmocka_unit_test(test_line_of_a_page),
		cmocka_unit_test(test_enter_follows_a_jump),
		cmocka_unit_test(test_enter_follows_a_call),
		cmocka_unit_test(test_enter_says_what_it_does),
		cmocka_unit_test(test_line_of_the_table),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
