/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/ansi.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/fake_session.h"
#include "tests/unit/fakes/golden.h"
#include "tests/unit/fakes/hand_picture.h"
#include "tests/unit/fakes/picture.h"
#include "tui/frame/tab_row.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/input.h"
#include "tui/terminal/theme.h"
#include "tui/views/config.h"

enum { MACHINES = 3 };

/* Three machines in tabs. Answers over all are due when the clock has moved. */
struct theatre {
	struct session sessions[MACHINES];
	struct symbols *symbols[MACHINES];
	uint32_t functions[MACHINES][HAND_FUNCTIONS];
	struct config config;
	struct tabs *tabs;
	struct canvas *canvas;
	uint64_t now;
};

static void draw(struct theatre *theatre)
{
	theatre->now += 1000000000;
	tabs_step(theatre->tabs, theatre->now);
	tabs_draw(theatre->tabs, theatre->canvas);
}

static void resize(struct theatre *theatre, int rows, int columns, bool unicode)
{
	canvas_free(theatre->canvas);
	theatre->canvas = canvas_new(rows, columns, unicode);
	tabs_draw(theatre->tabs, theatre->canvas);
}

static void open_theatre(struct theatre *theatre, size_t count)
{
	static const char *const labels[MACHINES] = { "web", "db", "mail" };
	struct tabs_machine machines[MACHINES];

	*theatre = (struct theatre) { .now = util_now() };
	config_init(&theatre->config);
	theatre->config.keys.tabs = count > 1;
	for (size_t i = 0; i < count; i++) {
		theatre->symbols[i] = hand_symbols(theatre->functions[i]);
		machines[i] = (struct tabs_machine) { &theatre->sessions[i], labels[i] };
	}
	theatre->tabs = tabs_new(machines, count, NULL, &theatre->config);
	resize(theatre, 24, 80, true);
}

static void close_theatre(struct theatre *theatre)
{
	tabs_free(theatre->tabs);
	canvas_free(theatre->canvas);
	for (int i = 0; i < MACHINES; i++) {
		picture_free(theatre->sessions[i].next);
		symbols_free(theatre->symbols[i]);
	}
}

/* What this machine's session answers next, to the reader that asks. */
static struct picture *give(struct theatre *theatre, int machine)
{
	struct session *session = &theatre->sessions[machine];
	struct picture *picture =
		hand_picture(theatre->symbols[machine], theatre->functions[machine]);

	picture->vitals->now += (uint64_t)machine * 1000000000000;
	snprintf(picture->vitals->kernel, sizeof(picture->vitals->kernel), "kernel-%d", machine);
	strcpy(picture->functions->kernel, picture->vitals->kernel);
	picture_free(session->next);
	session->next = picture;
	return picture;
}

static void give_all(struct theatre *theatre)
{
	for (int i = 0; i < MACHINES; i++)
		give(theatre, i);
	draw(theatre);
}

static void press(struct theatre *theatre, uint32_t code)
{
	struct input input = { .kind = INPUT_KEY, .code = code };

	assert_int_equal(tabs_input(theatre->tabs, &input, theatre->now), SCREEN_NOTHING);
	draw(theatre);
}

static void click(struct theatre *theatre, int row, int column)
{
	struct input input = { .kind = INPUT_CLICK, .row = row, .column = column };

	tabs_input(theatre->tabs, &input, theatre->now);
	draw(theatre);
}

static void holds(struct theatre *theatre, const char *wanted, bool there)
{
	char *text;

	tabs_draw(theatre->tabs, theatre->canvas);
	text = canvas_dump(theatre->canvas);
	if (!strstr(text, wanted) == there)
		fail_msg("\"%s\" is %s in\n%s", wanted, there ? "not" : "there", text);
	free(text);
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

static void test_each_keeps_its_own(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	press(&theatre, KEYS_TAB);
	give_all(&theatre);
	press(&theatre, 'w');
	assert_int_equal(theatre.sessions[0].wanted.window_ns, 60000000000);
	press(&theatre, 'z');
	assert_int_equal(theatre.sessions[0].wanted.zero_ns, 192000000000);
	press(&theatre, KEYS_TAB);
	assert_int_equal(theatre.sessions[1].wanted.window_ns, 10000000000);
	assert_int_equal(theatre.sessions[1].wanted.zero_ns, 0);
	press(&theatre, KEYS_BACK_TAB);
	press(&theatre, KEYS_BACK_TAB);
	assert_int_equal(theatre.sessions[0].wanted.window_ns, 10000000000);
	assert_int_equal(theatre.sessions[0].wanted.zero_ns, 0);
	press(&theatre, KEYS_TAB);
	assert_int_equal(theatre.sessions[0].wanted.window_ns, 60000000000);
	assert_int_equal(theatre.sessions[0].wanted.zero_ns, 192000000000);
	close_theatre(&theatre);
}

/* A zero on the screen over all is set by each machine's own clock. */
static void test_zero_over_all(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	press(&theatre, 'z');
	assert_int_equal(theatre.sessions[0].wanted.zero_ns, 192000000000);
	assert_int_equal(theatre.sessions[1].wanted.zero_ns, 1192000000000);
	press(&theatre, KEYS_ESCAPE);
	assert_int_equal(theatre.sessions[1].wanted.zero_ns, 0);
	close_theatre(&theatre);
}

static void test_orders_to_one_and_to_all(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give(&theatre, 2)->vitals->running = false;
	give(&theatre, 0);
	give(&theatre, 1);
	draw(&theatre);
	holds(&theatre, "2/3 REC", true);
	press(&theatre, ' ');
	for (int i = 0; i < MACHINES; i++)
		assert_true(theatre.sessions[i].runs == 1 && theatre.sessions[i].ran_on);
	press(&theatre, 's');
	for (int i = 0; i < MACHINES; i++)
		assert_int_equal(theatre.sessions[i].snapshots, 1);
	assert_string_equal(theatre.sessions[1].root, "2 db");
	assert_non_null(strstr(theatre.sessions[1].path, "ktop-all-2-db-"));
	press(&theatre, KEYS_TAB);
	give_all(&theatre);
	press(&theatre, ' ');
	press(&theatre, 's');
	assert_int_equal(theatre.sessions[0].runs, 2);
	assert_false(theatre.sessions[0].ran_on);
	assert_int_equal(theatre.sessions[1].runs, 1);
	assert_int_equal(theatre.sessions[0].snapshots, 2);
	assert_int_equal(theatre.sessions[1].snapshots, 1);
	assert_non_null(strstr(theatre.sessions[0].path, "ktop-kernel-0-"));
	assert_string_equal(theatre.sessions[0].root, "");
	close_theatre(&theatre);
}

/* A machine's name is the root of its stacks. A long name is cut between two characters. */
static void test_stacks_of_a_machine_with_a_long_name(void **state)
{
	struct theatre theatre;
	struct picture *picture;
	const char *root = theatre.sessions[1].root;
	size_t whole = 0, next;
	uint32_t point;

	(void)state;
	open_theatre(&theatre, MACHINES);
	picture = give(&theatre, 1);
	picture->vitals->name[0] = 'a';
	for (size_t i = 1; i + 3 < sizeof(picture->vitals->name); i += 3)
		memcpy(picture->vitals->name + i, "\xe5\x90\x8d", 4);
	draw(&theatre);
	press(&theatre, 's');
	while ((next = util_utf8(root + whole, strlen(root) - whole, &point)))
		whole += next;
	assert_int_equal(whole, strlen(root));
	assert_true(whole + 4 > sizeof(theatre.sessions[1].root));
	close_theatre(&theatre);
}

/* Orders go by the marks, which are new: the last answer of a tab that was not shown is old. */
static void test_orders_do_not_rest_on_old_pictures(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	press(&theatre, KEYS_TAB);
	for (int i = 0; i < MACHINES; i++)
		give(&theatre, i)->vitals->running = i != 2;
	draw(&theatre);
	press(&theatre, KEYS_BACK_TAB);
	press(&theatre, ' ');
	assert_true(theatre.sessions[0].runs == 1 && theatre.sessions[0].ran_on);
	close_theatre(&theatre);
}

/* A second SPACE takes the first one back, even if its outcome is not known yet; and so on. */
static void test_asking_twice_is_off_again(void **state)
{
	static const struct session_message kept = { .profiler = true, .kept = true, .text = "later" };
	static const struct session_message done = { .profiler = true, .text = "profiling off" };
	struct theatre theatre;
	struct session *first = &theatre.sessions[0];

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	press(&theatre, KEYS_TAB);
	give(&theatre, 0)->vitals->running = false;
	draw(&theatre);
	for (int i = 1; i < 5; i++) {
		press(&theatre, ' ');
		assert_int_equal(first->runs, i);
		assert_int_equal(first->ran_on, i % 2);
	}
	press(&theatre, ' ');
	first->message = kept;
	draw(&theatre);
	press(&theatre, ' ');
	assert_int_equal(first->runs, 6);
	assert_false(first->ran_on);
	first->message = done;
	draw(&theatre);
	press(&theatre, ' ');
	assert_true(first->ran_on);
	press(&theatre, KEYS_BACK_TAB);			/* over all: what is to be on counts as on */
	press(&theatre, ' ');
	assert_false(first->ran_on);
	press(&theatre, ' ');
	for (int i = 0; i < MACHINES; i++)
		assert_true(theatre.sessions[i].ran_on);
	close_theatre(&theatre);
}

/* A machine whose link is down is not ordered anything, and does not keep the others from being stopped. */
static void test_who_is_not_there_is_not_ordered(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give(&theatre, 0);
	give(&theatre, 1)->vitals->link = LINK_CONNECTING;
	theatre.sessions[1].next->vitals->running = false;
	draw(&theatre);
	press(&theatre, ' ');
	assert_int_equal(theatre.sessions[0].runs, 1);
	assert_false(theatre.sessions[0].ran_on);
	assert_int_equal(theatre.sessions[1].runs, 0);
	assert_int_equal(theatre.sessions[2].runs, 0);
	close_theatre(&theatre);
}

static void test_messages_name_the_machine(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	press(&theatre, ' ');
	strcpy(theatre.sessions[1].message.text, "profiling off");
	draw(&theatre);
	strcpy(theatre.sessions[0].message.text, "profiling off, too");
	draw(&theatre);
	holds(&theatre, "2 db: profiling off; 1 web: profiling off, too", true);
	press(&theatre, ' ');
	theatre.sessions[0].message.profiler = theatre.sessions[0].message.kept = true;
	strcpy(theatre.sessions[0].message.text, "profiling stops when the guest answers");
	draw(&theatre);
	theatre.sessions[0].message.profiler = true;
	theatre.sessions[0].message.kept = false;
	strcpy(theatre.sessions[0].message.text, "profiling off (by key)");
	draw(&theatre);
	holds(&theatre, "1 web: profiling off (by key)", true);
	holds(&theatre, "when the guest answers", false);
	press(&theatre, KEYS_TAB);
	give_all(&theatre);
	strcpy(theatre.sessions[0].message.text, "its own");
	draw(&theatre);
	holds(&theatre, "\n its own", true);
	strcpy(theatre.sessions[2].message.text, "another's");
	draw(&theatre);
	holds(&theatre, "\n 3 mail: another's", true);
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
	click(&theatre, 9, 20);		/* the third row of the table, below the row of tabs */
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

	(void)state;
	open_theatre(&theatre, MACHINES);
	give(&theatre, 0);
	give(&theatre, 1)->vitals->lost_guest = 1234;
	give(&theatre, 2)->vitals->running = false;
	draw(&theatre);
	draw(&theatre);
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
		cmocka_unit_test(test_each_keeps_its_own),
		cmocka_unit_test(test_zero_over_all),
		cmocka_unit_test(test_orders_to_one_and_to_all),
		cmocka_unit_test(test_stacks_of_a_machine_with_a_long_name),
		cmocka_unit_test(test_orders_do_not_rest_on_old_pictures),
		cmocka_unit_test(test_asking_twice_is_off_again),
		cmocka_unit_test(test_who_is_not_there_is_not_ordered),
		cmocka_unit_test(test_messages_name_the_machine),
		cmocka_unit_test(test_clicks),
		cmocka_unit_test(test_never_breaks_at_any_size),
		cmocka_unit_test(test_golden_screens),
		cmocka_unit_test(test_golden_rows),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
