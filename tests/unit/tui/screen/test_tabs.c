/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/ansi.h"
#include "tests/unit/fakes/golden.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tests/unit/tui/fake_session.h"
#include "tui/frame/tab_row.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/config.h"
#include "theatre.h"

static void click(struct theatre *theatre, int row, int column)
{
	struct input input = { .kind = INPUT_CLICK, .row = row, .column = column };

	tabs_input(theatre->tabs, &input, theatre->now);
	draw(theatre);
}

static void test_one_machine_has_no_tabs(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, 1);
	give(&theatre, 0);
	draw(&theatre);
	holds(&theatre, "All", false);
	holds(&theatre, " ktop  kernel-0", true);
	press(&theatre, KEYS_TAB);
	holds(&theatre, " ktop  kernel-0", true);
	close_theatre(&theatre);
}

/* True: this machine is asked for all that a screen shows, and each other one only for its mark. */
static bool is_alone_in_view(const struct theatre *theatre, int machine)
{
	bool alone = true;

	for (int i = 0; i < MACHINES; i++) {
		const struct session *session = &theatre->sessions[i];

		assert_int_equal(session->asking_vitals, 1);
		alone = alone && session->asking_functions == (i == machine) &&
			(session->wanted.cpus == VITALS_NO_CPUS) == (i != machine);
	}
	return alone;
}

static bool are_all_in_view(const struct theatre *theatre)
{
	bool all = true;

	for (int i = 0; i < MACHINES; i++) {
		assert_int_equal(theatre->sessions[i].asking_vitals, 1);
		all = all && theatre->sessions[i].asking_functions == 1 &&
			theatre->sessions[i].wanted.cpus == VITALS_TRENDS;
	}
	return all;
}

/* Each machine is asked for what its screen shows. A machine that is not shown is asked for little. */
static void test_who_is_asked_for_what(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	assert_true(are_all_in_view(&theatre));
	press(&theatre, KEYS_TAB);
	assert_true(is_alone_in_view(&theatre, 0));
	press(&theatre, KEYS_TAB);
	assert_true(is_alone_in_view(&theatre, 1));
	press(&theatre, KEYS_BACK_TAB);
	press(&theatre, KEYS_BACK_TAB);
	press(&theatre, KEYS_BACK_TAB);
	assert_true(is_alone_in_view(&theatre, 2));
	for (int i = 0; i < 2; i++)
		assert_int_equal(theatre.sessions[i].subscriptions, 1);
	press(&theatre, KEYS_TAB);
	assert_true(are_all_in_view(&theatre));
	close_theatre(&theatre);
}

/* What cannot be seen is not asked for: a table behind the help, and all of a screen that is too small. */
static void test_what_is_not_seen_is_not_asked(void **state)
{
	struct theatre theatre;
	const struct session *session = &theatre.sessions[0];

	(void)state;
	open_theatre(&theatre, 1);
	give(&theatre, 0);
	draw(&theatre);
	assert_int_equal(session->asking_functions, 1);
	assert_int_equal(session->wanted.cpus, VITALS_TRENDS);
	assert_int_equal(session->wanted.selected, theatre.functions[0][7]);
	assert_true(session->wanted.callers);
	assert_int_equal(session->wanted.visible_count, HAND_FUNCTIONS);
	press(&theatre, '?');
	assert_int_equal(session->asking_functions, 0);
	assert_int_equal(session->asking_vitals, 1);
	press(&theatre, KEYS_ESCAPE);
	assert_int_equal(session->asking_functions, 1);

	resize(&theatre, 5, 80, true);			/* no room for CPUs and for the detail line */
	assert_int_equal(session->wanted.cpus, VITALS_CPUS);
	assert_false(session->wanted.callers);
	resize(&theatre, 3, 80, true);
	assert_int_equal(session->asking_functions, 0);
	assert_int_equal(session->asking_vitals, 1);
	assert_int_equal(session->wanted.cpus, VITALS_NO_CPUS);	/* the marks */
	close_theatre(&theatre);
}

/* A screen takes only answers to its own question. Marks are taken from every answer. */
static void test_answers_go_to_their_reader(void **state)
{
	struct theatre theatre;
	struct answers *answers;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	give(&theatre, 0);
	press(&theatre, KEYS_TAB);
	holds(&theatre, "waiting for the machine", true);
	give(&theatre, 0)->vitals->lost_guest = 12;
	draw(&theatre);
	holds(&theatre, "1 web ● REC lost 12", true);
	holds(&theatre, " ktop  kernel-0 0.1", true);
	holds(&theatre, "up 00:03:12", true);
	answers = give(&theatre, 0);
	answers->vitals->sampler = SAMPLER_STUB;
	answers->vitals->up.by = UPTIME_UNKNOWN;	/* its time is the host's */
	draw(&theatre);
	holds(&theatre, "gdb stub", true);
	holds(&theatre, "up 00:", false);
	press(&theatre, KEYS_TAB);
	give(&theatre, 1);
	draw(&theatre);
	holds(&theatre, " ktop  kernel-1 0.1", true);
	holds(&theatre, "up 00:19:52", true);
	give(&theatre, 2)->vitals->running = false;
	draw(&theatre);
	holds(&theatre, "3 mail ○ off", true);
	close_theatre(&theatre);
}

static void pass(struct theatre *theatre, uint64_t ns)
{
	theatre->now += ns;
	tabs_step(theatre->tabs, theatre->now);
	tabs_draw(theatre->tabs, theatre->canvas);
}

/* Its answer is a tree, as the screen over all asks now. */
static void give_tree(struct theatre *theatre, int machine)
{
	hand_tree(give(theatre, machine), theatre->symbols[machine], theatre->functions[machine], false, 0);
}

/* Asks for the tree over all, which two of the three machines answer. */
static void ask_of_all(struct theatre *theatre)
{
	struct input input = { .kind = INPUT_KEY, .code = '2' };

	open_theatre(theatre, MACHINES);
	give_all(theatre);
	give_all(theatre);
	tabs_input(theatre->tabs, &input, theatre->now);
	pass(theatre, 0);
	give_tree(theatre, 0);
	give_tree(theatre, 1);
	pass(theatre, 100 * NS_PER_MS);
	pass(theatre, 100 * NS_PER_MS);
	holds(theatre, "syscall_entry", false);
}

/* The first answer over all to a new question has each machine. */
static void test_none_is_left_out(void **state)
{
	struct theatre theatre;

	(void)state;
	ask_of_all(&theatre);
	give_tree(&theatre, 2);
	pass(&theatre, 1);
	holds(&theatre, "syscall_entry", true);
	close_theatre(&theatre);
}

/* A machine that is stuck holds it up for half a second at most. */
static void test_late_machine(void **state)
{
	struct theatre theatre;

	(void)state;
	ask_of_all(&theatre);
	pass(&theatre, 200 * NS_PER_MS);
	holds(&theatre, "syscall_entry", false);
	pass(&theatre, 200 * NS_PER_MS);
	holds(&theatre, "syscall_entry", true);
	close_theatre(&theatre);
}

static void test_each_keeps_its_own(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	press(&theatre, KEYS_TAB);
	give_all(&theatre);
	press(&theatre, 'w');
	assert_int_equal(theatre.sessions[0].wanted.window_ns, 60 * NS_PER_SECOND);
	press(&theatre, 'z');
	assert_int_equal(theatre.sessions[0].wanted.zero_ns, 192 * NS_PER_SECOND);
	press(&theatre, KEYS_TAB);
	assert_int_equal(theatre.sessions[1].wanted.window_ns, 10 * NS_PER_SECOND);
	assert_int_equal(theatre.sessions[1].wanted.zero_ns, 0);
	press(&theatre, KEYS_BACK_TAB);
	press(&theatre, KEYS_BACK_TAB);
	assert_int_equal(theatre.sessions[0].wanted.window_ns, 10 * NS_PER_SECOND);
	assert_int_equal(theatre.sessions[0].wanted.zero_ns, 0);
	press(&theatre, KEYS_TAB);
	assert_int_equal(theatre.sessions[0].wanted.window_ns, 60 * NS_PER_SECOND);
	assert_int_equal(theatre.sessions[0].wanted.zero_ns, 192 * NS_PER_SECOND);
	close_theatre(&theatre);
}

static void test_clicks(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	holds(&theatre, "3 mail ● REC", true);
	holds(&theatre, "Tab next\n", true);
	click(&theatre, 0, 20);
	assert_true(is_alone_in_view(&theatre, 0));
	click(&theatre, 0, 79);
	assert_true(is_alone_in_view(&theatre, 0));
	give_all(&theatre);
	click(&theatre, 10, 20);	/* the third row of the table, below the rows of tabs and views */
	assert_int_equal(theatre.sessions[0].wanted.selected, theatre.functions[0][6]);
	click(&theatre, 0, 1);
	assert_true(are_all_in_view(&theatre));
	resize(&theatre, 7, 80, true);
	holds(&theatre, "3 mail ●", false);
	close_theatre(&theatre);
}

static void test_never_breaks_at_any_size(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	for (int rows = 0; rows < 30; rows += 3)
		for (int columns = 0; columns < 130; columns += 9) {
			resize(&theatre, rows, columns, columns % 2);
			press(&theatre, KEYS_TAB);
			click(&theatre, 0, columns / 2);
			press(&theatre, 'j');
		}
	close_theatre(&theatre);
}

static void test_golden_screens(void **state)
{
	struct theatre theatre;
	char line[81];

	(void)state;
	open_theatre(&theatre, MACHINES);
	give(&theatre, 0);
	give(&theatre, 1)->vitals->lost_guest = 1234;
	give(&theatre, 2)->vitals->running = false;
	draw(&theatre);
	draw(&theatre);
	/* The fleet has the time of the day, and its slots lie on whole seconds of that: test_fleet looks at these. */
	snprintf(line, sizeof(line), "%-80s", "the time line");
	canvas_text(theatre.canvas, (struct place) { 21, 0, 80 }, STYLE_DIM, line);
	golden_check("tabs-80x24", theatre.canvas);
	resize(&theatre, 16, 50, false);
	golden_check("tabs-50x16", theatre.canvas);
	resize(&theatre, 10, 20, true);
	golden_check("tabs-20x10", theatre.canvas);
	close_theatre(&theatre);
}

/* The tab row alone, without colours: three and sixteen tabs, at all widths that matter. */
static void test_golden_rows(void **state)
{
	static const int widths[] = { 160, 80, 60, 45, 30, 20 };
	static const char *const names[] = { "All", "1 web", "2 größe_名前", "3 a-very-long-name-of-a-vm",
		"4 x", "5 x", "6 x", "7 x", "8 x", "9 x", "10 ten", "11 x", "12 x", "13 x", "14 x",
		"15 x", "16 x" };
	struct tab tabs[17];
	char *all = util_copy("", 0);

	(void)state;
	for (int i = 0; i < 17; i++)
		tabs[i] = (struct tab) { .name = names[i], .mark = i % 5 == 3 ? GLYPH_OFF : GLYPH_ON,
			.state = i % 5 == 3 ? "connecting" : "REC", .style = STYLE_GOOD,
			.lost = i == 2 ? 12 : 0 };
	for (size_t i = 0; i < 2 * sizeof(widths) / sizeof(*widths); i++) {
		struct canvas *canvas = canvas_new(1, widths[i / 2], i != 5);
		struct place place = { 0, 0, widths[i / 2] };
		char *row, *more;

		tab_row_draw(canvas, place, tabs, i % 2 ? 17 : 4, i % 2 ? 12 : 2);
		row = ansi_text(canvas, DEPTH_NONE);
		more = util_format("%s%d\n%s\n", all, widths[i / 2], row);
		free(row);
		free(all);
		all = more;
		canvas_free(canvas);
	}
	golden_check_text("tab-rows", all);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_machine_has_no_tabs),
		cmocka_unit_test(test_who_is_asked_for_what),
		cmocka_unit_test(test_what_is_not_seen_is_not_asked),
		cmocka_unit_test(test_answers_go_to_their_reader),
		cmocka_unit_test(test_none_is_left_out),
		cmocka_unit_test(test_late_machine),
		cmocka_unit_test(test_each_keeps_its_own),
		cmocka_unit_test(test_clicks),
		cmocka_unit_test(test_never_breaks_at_any_size),
		cmocka_unit_test(test_golden_screens),
		cmocka_unit_test(test_golden_rows),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
