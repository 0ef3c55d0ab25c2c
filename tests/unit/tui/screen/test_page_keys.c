/* SPDX-License-Identifier: MIT */
/* What keys do on the page of a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/table.h"
#include "agent/query/tree/tree.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tui/screen/screen.h"
#include "tui/terminal/keys.h"
#include "sheet.h"
#include "stage.h"

/* What explains a view goes with it. What else is said stays: here, about the row of idle time. */
static void test_message_of_a_view(void **state)
{
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "jjj\r");
	stage_holds(&stage, "who runs the function", true);
	stage_type(&stage, "3");
	stage_holds(&stage, "who runs the function", false);
	stage_type(&stage, "1i");
	stage_holds(&stage, "the row of idle time", true);
	stage_type(&stage, "5");
	stage_holds(&stage, "the row of idle time", true);
	stage_strike(&stage);
}

/* Enter on a function shows its page, on which keys move a cursor; Esc goes back to the row. */
static void test_page(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	uint64_t name = tree_name(symbols_get(hand_names, hand_functions[1]), "demo-kernel");
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "jjj");
	assert_int_equal(stage.session.wanted.selected, hand_functions[1]);
	stage_press(&stage, KEYS_ENTER);
	assert_int_equal(stage.session.page.tree.of, name);
	hand_page(answers, hand_names, hand_functions);
	stage_show(&stage, answers);
	stage_holds(&stage, "spin_lock  kern/lock.c:18  kernel", true);
	stage.now += 4 * NS_PER_SECOND;			/* the message has gone */
	screen_step(stage.screen, stage.now);
	sheet_check(&stage, "state_page");
	sheet_check_view(&stage, "view_page");
	stage_resize(&stage, 24, 80, true);
	stage_holds(&stage, "ON CPU", true);
	stage_press(&stage, KEYS_PAGE_DOWN);
	stage_holds(&stage, "ON CPU", false);
	stage_holds(&stage, "spin_lock  kern/lock.c:18  kernel", true);
	stage_type(&stage, "/memcpy\r");
	stage_holds(&stage, "43.15  memcpy", true);
	stage_type(&stage, "/primes\r");
	stage_holds(&stage, "17.19  primes/17", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_press(&stage, KEYS_END);
	stage_holds(&stage, "CALLS", true);
	stage_press(&stage, 'B');
	stage_holds(&stage, "not grouped", true);
	stage_press(&stage, 'x');
	assert_int_equal(stage.session.tree.tree.of, name);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, "spin_lock  kern/lock.c:18  kernel", true);
	answers = hand_answers(hand_names, hand_functions);
	hand_page(answers, hand_names, hand_functions);
	answers->page->tree->tree->lists[TREE_DOWN].count = answers->page->tree->tree->lists[TREE_UP].count = 0;
	stage_show(&stage, answers);
	stage_holds(&stage, "F7 chooses a longer window", true);
	stage_type(&stage, "\\cpu:1\r");
	answers = hand_answers(hand_names, hand_functions);
	hand_page(answers, hand_names, hand_functions);
	answers->page->tree->tree->lists[TREE_DOWN].count = answers->page->tree->tree->lists[TREE_UP].count = 0;
	stage_show(&stage, answers);
	stage_holds(&stage, "Nothing that passes the filter has run this function.", true);
	stage_holds(&stage, "F4 changes the filter", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_holds(&stage, ">   11.06", true);
	stage_strike(&stage);
}

static void show_page(struct stage *stage)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);

	hand_page(answers, hand_names, hand_functions);
	stage_show(stage, answers);
}

/* Searches a row of the page, and opens it; the mark of the search is off. */
static void open_row_of(struct stage *stage, const char *name)
{
	stage_type(stage, "/");
	stage_type(stage, name);
	stage_type(stage, "\r");
	stage_press(stage, KEYS_ESCAPE);
	stage_press(stage, KEYS_ENTER);
}

/* Enter on a row of the page goes one step deeper, Esc back to that row. */
/* Of many threads and processes the heaviest have rows; the page tells how many more there are, and their share. */
static void test_many_processes(void **state)
{
	enum { PROCESSES = 100, EACH = 2 };
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct function_table *threads;
	struct stage stage;

	(void)state;
	hand_page(answers, hand_names, hand_functions);
	threads = answers->page->tables[PAGE_THREADS];
	table_free(threads->table);
	threads->table = table_new(NULL, PROCESSES * EACH, 1);
	for (int i = 0; i < PROCESSES * EACH; i++) {
		char *thread = util_format("worker/%d", 1000 + i), *process = util_format("job/%d", i / EACH);
		struct row *row = table_add(threads->table, symbols_group(hand_names, thread, process));

		row->self = row->total = row->samples = i / EACH < 5 ? 300 - (uint64_t)i : 100;
		threads->table->weight += row->self;
		free(thread);
		free(process);
	}
	threads->table->samples = threads->table->weight;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_resize(&stage, 60, 80, true);
	stage_type(&stage, "jjj\r");
	stage_show(&stage, answers);
	stage_holds(&stage, "   86.54  95 more", true);
	stage_holds(&stage, "   93.21  195 more", true);
	stage_strike(&stage);
}

static void test_steps_from_a_page(void **state)
{
	uint64_t spin_lock = tree_name(symbols_get(hand_names, hand_functions[1]), "demo-kernel");
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_resize(&stage, 36, 140, true);
	stage_type(&stage, "jjj\r");
	show_page(&stage);

	open_row_of(&stage, "memcpy");			/* it calls this */
	assert_int_not_equal(stage.session.page.tree.of, spin_lock);
	stage_holds(&stage, "Functions > spin_lock > memcpy", true);
	stage_press(&stage, KEYS_ESCAPE);
	assert_int_equal(stage.session.page.tree.of, spin_lock);
	show_page(&stage);
	stage_holds(&stage, ">  43.15  memcpy", true);

	open_row_of(&stage, "syscall_entry");		/* this calls it */
	stage_holds(&stage, "Functions > spin_lock < syscall_entry", true);
	stage_press(&stage, KEYS_ESCAPE);
	show_page(&stage);
	stage_holds(&stage, ">  85.96  syscall_entry", true);

	open_row_of(&stage, "primes/17");
	stage_holds(&stage, "the functions of thread:17", true);
	stage_holds(&stage, "  Functions > spin_lock > thread:17", true);
	stage_show(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "k\r");			/* another page, within the step */
	assert_int_not_equal(stage.session.page.tree.of, spin_lock);
	stage_holds(&stage, "  Functions > spin_lock > thread:17 > memcpy", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_press(&stage, KEYS_ESCAPE);
	assert_int_equal(stage.session.page.tree.of, spin_lock);
	show_page(&stage);
	stage_holds(&stage, ">  17.19  primes/17", true);

	open_row_of(&stage, "kern/lock.c:25");
	stage_holds(&stage, "the code of the function", true);
	assert_int_equal(stage.session.annotation.function, spin_lock);
	stage_press(&stage, KEYS_ESCAPE);
	show_page(&stage);
	stage_holds(&stage, ">   8.64  kern/lock.c:25", true);

	stage_press(&stage, KEYS_HOME);
	stage_press(&stage, KEYS_RIGHT);
	stage_press(&stage, KEYS_ENTER);
	stage_holds(&stage, "the functions of cpu:1", true);
	stage_holds(&stage, "  Functions > spin_lock > cpu:1", true);
	stage_press(&stage, KEYS_ESCAPE);
	show_page(&stage);
	stage_holds(&stage, ">CPU 1 ", true);
	stage_press(&stage, KEYS_ESCAPE);
	stage_show(&stage, hand_answers(hand_names, hand_functions));
	stage_holds(&stage, ">   11.06", true);
	stage_strike(&stage);
}

/* With a baseline, each share of the page has its change. */
static void test_page_with_a_baseline(void **state)
{
	struct answers *answers = hand_answers(hand_names, hand_functions);
	struct answers *compared = hand_answers(hand_names, hand_functions);
	struct stage stage;

	(void)state;
	stage_raise(&stage, hand_answers(hand_names, hand_functions));
	stage_type(&stage, "jjj\r");
	hand_page(answers, hand_names, hand_functions);
	stage_show(&stage, answers);
	stage_type(&stage, "\b");
	assert_int_not_equal(stage.session.page.request.excerpt.base.until_ns, 0);
	hand_page(compared, hand_names, hand_functions);
	hand_baseline(compared);
	stage_show(&stage, compared);
	stage.now += 4 * NS_PER_SECOND;			/* the message has gone */
	screen_step(stage.screen, stage.now);
	sheet_check(&stage, "state_baseline_page");
	stage_strike(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message_of_a_view),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_steps_from_a_page),
		cmocka_unit_test(test_page_with_a_baseline),
	};

	return cmocka_run_group_tests(tests, hand_begin, hand_end);
}
