/* SPDX-License-Identifier: MIT */
/* Orders on a screen of several machines: whom they go to, and what comes back. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "agent/formats/set_format.h"
#include "tests/unit/fakes/hand_answers.h"
#include "tests/unit/tui/fake_session.h"
#include "tui/screen/tabs.h"
#include "tui/terminal/keys.h"
#include "tui/views/config.h"
#include "theatre.h"

/* A zero on the screen over all is set by each machine's own clock. */
static void test_zero_over_all(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give_all(&theatre);
	press(&theatre, 'z');
	assert_int_equal(theatre.sessions[0].wanted.zero_ns, 192 * NS_PER_SECOND);
	assert_int_equal(theatre.sessions[1].wanted.zero_ns, 1192 * NS_PER_SECOND);
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

/* A mark goes to the machine that is shown, on the screen over all to all that are up. */
static void test_marks_of_one_and_of_all(void **state)
{
	struct theatre theatre;

	(void)state;
	open_theatre(&theatre, MACHINES);
	give(&theatre, 2)->vitals->link = LINK_LOST;
	give(&theatre, 0);
	give(&theatre, 1);
	draw(&theatre);
	for (const char *key = "Mslow"; *key; key++)
		press(&theatre, (uint32_t)*key);
	holds(&theatre, "Mark: slow", true);
	assert_int_equal(theatre.sessions[0].marks, 0);
	press(&theatre, KEYS_ENTER);
	holds(&theatre, "asking all guests to mark this moment", true);
	assert_true(theatre.sessions[0].marks == 1 && theatre.sessions[1].marks == 1 && !theatre.sessions[2].marks);
	assert_string_equal(theatre.sessions[1].mark, "slow");
	press(&theatre, KEYS_TAB);
	give_all(&theatre);
	press(&theatre, 'M');
	press(&theatre, KEYS_ESCAPE);
	press(&theatre, 'M');
	press(&theatre, ' ');
	press(&theatre, KEYS_ENTER);
	assert_true(theatre.sessions[0].marks == 2 && theatre.sessions[1].marks == 1);
	assert_string_equal(theatre.sessions[0].mark, "here");
	close_theatre(&theatre);
}

/* The format of snapshots is that of the settings at first. What is chosen on one screen counts on all. */
static void test_one_format_for_all(void **state)
{
	static const char *const labels[MACHINES] = { "web", "db", "mail" };
	struct tabs_machine machines[MACHINES];
	struct theatre theatre;
	size_t first;

	(void)state;
	open_theatre(&theatre, MACHINES);
	assert_true(save_format_named("html", &theatre.config.format));
	first = theatre.config.format;
	for (int i = 0; i < MACHINES; i++)
		machines[i] = (struct tabs_machine) { .session = &theatre.sessions[i], .label = labels[i] };
	tabs_free(theatre.tabs);
	theatre.tabs = tabs_new(machines, MACHINES, NULL, &theatre.config);
	draw(&theatre);
	give_all(&theatre);
	press(&theatre, 's');
	for (int i = 0; i < MACHINES; i++)
		assert_ptr_equal(theatre.sessions[i].set, set_format_named("html"));
	assert_string_equal(theatre.sessions[1].root, "2 db");
	assert_non_null(strstr(theatre.sessions[1].path, ".html"));
	assert_int_equal(tabs_format(theatre.tabs), first);
	press(&theatre, KEYS_TAB);
	give_all(&theatre);
	press(&theatre, 'S');
	press(&theatre, 'j');
	press(&theatre, KEYS_ENTER);
	assert_int_equal(tabs_format(theatre.tabs), first + 1);
	press(&theatre, KEYS_BACK_TAB);
	give_all(&theatre);
	press(&theatre, 's');
	assert_string_equal(theatre.sessions[2].set->name, save_format_at(first + 1).name);
	close_theatre(&theatre);
}

/* A machine's name is the root of its stacks. A long name is cut between two characters. */
static void test_stacks_of_a_machine_with_a_long_name(void **state)
{
	struct theatre theatre;
	struct answers *answers;
	const char *root = theatre.sessions[1].root;
	size_t whole = 0, next;
	uint32_t point;

	(void)state;
	open_theatre(&theatre, MACHINES);
	answers = give(&theatre, 1);
	answers->vitals->name[0] = 'a';
	for (size_t i = 1; i + 3 < sizeof(answers->vitals->name); i += 3)
		memcpy(answers->vitals->name + i, "\xe5\x90\x8d", 4);
	draw(&theatre);
	press(&theatre, 's');
	while ((next = util_utf8(root + whole, strlen(root) - whole, &point)))
		whole += next;
	assert_int_equal(whole, strlen(root));
	assert_true(whole + 4 > sizeof(theatre.sessions[1].root));
	close_theatre(&theatre);
}

/* Orders go by the marks, which are new: the last answer of a tab that was not shown is old. */
static void test_orders_do_not_rest_on_old_answers(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zero_over_all),
		cmocka_unit_test(test_orders_to_one_and_to_all),
		cmocka_unit_test(test_marks_of_one_and_of_all),
		cmocka_unit_test(test_one_format_for_all),
		cmocka_unit_test(test_stacks_of_a_machine_with_a_long_name),
		cmocka_unit_test(test_orders_do_not_rest_on_old_answers),
		cmocka_unit_test(test_asking_twice_is_off_again),
		cmocka_unit_test(test_who_is_not_there_is_not_ordered),
		cmocka_unit_test(test_messages_name_the_machine),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
