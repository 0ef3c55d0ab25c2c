/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/golden.h"
#include "tui/frame/key_bar.h"
#include "tui/frame/view.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "tui/views/config.h"
#include "tui/views/views.h"

static struct config config;

static void test_one_key_one_meaning(void **state)
{
	struct keys all = keys_standard;

	(void)state;
	all.replay = true;
	for (size_t i = 0; i < KEYS_ROWS; i++) {
		const struct key *row = &keys_standard.rows[i];

		assert_non_null(row->help);
		assert_int_not_equal(row->codes[0], 0);
		for (int j = 0; j < KEYS_PER_ROW && row->codes[j]; j++)
			assert_int_equal(keys_action(&all, row->codes[j]), row->action);
		for (size_t other = 0; other < i; other++)
			assert_int_not_equal(keys_standard.rows[other].action, row->action);
	}
	assert_int_equal(keys_action(&keys_standard, 0), ACTION_NONE);
	assert_int_equal(keys_action(&keys_standard, '@'), ACTION_NONE);
	assert_int_equal(keys_action(&keys_standard, 'f'), ACTION_NONE);	/* there is no recording to play */
}

static void test_habits(void **state)
{
	(void)state;
	assert_int_equal(keys_action(&keys_standard, '?'), ACTION_HELP);
	assert_int_equal(keys_action(&keys_standard, 'q'), ACTION_QUIT);
	assert_int_equal(keys_action(&keys_standard, KEYS_F(10)), ACTION_QUIT);
	assert_int_equal(keys_action(&keys_standard, KEYS_CTRL('C')), ACTION_QUIT);
	assert_int_equal(keys_action(&keys_standard, 'h'), ACTION_LEFT);
	assert_int_equal(keys_action(&keys_standard, 'j'), ACTION_DOWN);
	assert_int_equal(keys_action(&keys_standard, 'k'), ACTION_UP);
	assert_int_equal(keys_action(&keys_standard, '/'), ACTION_SEARCH);
	assert_int_equal(keys_action(&keys_standard, '\\'), ACTION_FILTER);
	assert_int_equal(keys_action(&keys_standard, 'I'), ACTION_INVERT);
	assert_int_equal(keys_action(&keys_standard, 'P'), ACTION_SORT_CPU);
	assert_int_equal(keys_action(&keys_standard, 'M'), ACTION_MARK);
	assert_int_equal(keys_action(&keys_standard, 'T'), ACTION_SORT_TIME);
	assert_int_equal(keys_action(&keys_standard, 'z'), ACTION_ZERO);
	assert_int_equal(keys_action(&keys_standard, 'Z'), ACTION_FREEZE);
	assert_int_equal(keys_action(&keys_standard, ' '), ACTION_RUN);
	assert_int_equal(keys_action(&keys_standard, 's'), ACTION_SNAPSHOT);
	assert_int_equal(keys_action(&keys_standard, KEYS_F(9)), ACTION_SAVE_AS);
}

static void check_name(uint32_t code, const char *wanted)
{
	char name[KEYS_NAME];

	assert_string_equal(keys_name(code, name), wanted);
}

static void test_names(void **state)
{
	(void)state;
	check_name(KEYS_F(3), "F3");
	check_name(KEYS_F(10), "F10");
	check_name(KEYS_CTRL('L'), "Ctrl-L");
	check_name(' ', "SPACE");
	check_name('/', "/");
	check_name(KEYS_PAGE_UP, "PgUp");
}

static void check_text(const struct keys *keys, const char *text, const char *wanted)
{
	char filled[KEYS_TEXT];

	assert_string_equal(keys_text(keys, text, filled), wanted);
}

static void test_texts_name_the_keys(void **state)
{
	struct keys keys = keys_standard;
	char rambling[2 * KEYS_TEXT], filled[KEYS_TEXT];

	(void)state;
	check_text(&keys, "{profile} starts it; {window}.", "SPACE starts it; F7.");
	check_text(&keys, "", "");
	keys.rows[0].codes[0] = KEYS_CTRL('X');
	keys.rows[1].codes[0] = 0;
	check_text(&keys, "{help}{view}", "Ctrl-X(no key)");
	memset(rambling, 'x', sizeof(rambling));
	memcpy(rambling + KEYS_TEXT - 2, "{help}", 6);
	rambling[sizeof(rambling) - 1] = '\0';
	assert_int_equal(strlen(keys_text(&keys, rambling, filled)), KEYS_TEXT - 1);
}

/* At any width, a click on a label of the key bar does what the label says. */
static void check_bar(const struct keys *keys, int columns, const char *player)
{
	struct canvas *canvas = canvas_new(1, columns, true);
	char *bar;

	key_bar_draw(keys, canvas, (struct place) { 0, 0, columns });
	bar = canvas_dump(canvas);
	for (size_t i = 0; i < KEYS_ROWS; i++) {
		const struct key *row = &keys->rows[i];
		const char *label = row->action == ACTION_RUN ? player : row->bar;
		char *at = label ? strstr(bar, label) : NULL;

		if (at)
			assert_int_equal(key_bar_action(keys, columns, (int)(at - bar)), row->action);
	}
	assert_true(columns < 7 || strstr(bar, "q Quit"));
	assert_true(columns < 16 || strstr(bar, "F1 Help"));
	assert_true(columns < 80 || strstr(bar, player));
	assert_true(columns < 80 || !keys->replay || (strstr(bar, "f Faster") && strstr(bar, "t Time")));
	assert_int_equal(key_bar_action(keys, columns, columns), ACTION_NONE);
	free(bar);
	canvas_free(canvas);
}

/* With a recording, the keys of its player come first, and SPACE has its own label. */
static void test_bar(void **state)
{
	struct keys keys = keys_standard;

	(void)state;
	keys.replay = true;
	for (int columns = 0; columns < 140; columns++) {
		check_bar(&keys_standard, columns, "SPACE On/off");
		check_bar(&keys, columns, "SPACE Pause");
	}
}

static void test_what_has_no_key_is_not_on_the_bar(void **state)
{
	struct canvas *canvas = canvas_new(1, 140, true);
	struct keys keys = keys_standard;
	char *bar;

	(void)state;
	keys.rows[0].codes[0] = 0;
	key_bar_draw(&keys, canvas, (struct place) { 0, 0, 140 });
	bar = canvas_dump(canvas);
	assert_null(strstr(bar, "Help"));
	assert_int_equal(strncmp(bar, " F2 View", 8), 0);
	assert_int_equal(key_bar_action(&keys, 140, 2), ACTION_NEXT_VIEW);
	free(bar);
	canvas_free(canvas);
}

/* Keys for tabs or for a recording are in the help only if there are tabs or a recording. */
static void check_help(const char *golden, bool tabs, bool replay)
{
	struct canvas *canvas = canvas_new(140, 80, true);
	struct config own = config;
	void *help = view_help.new(&own);
	char *text;

	own.keys.tabs = tabs;
	own.keys.replay = replay;
	view_help.draw(help, canvas, (struct area) { 0, 0, 140, 80 });
	text = canvas_dump(canvas);
	for (size_t i = 0; i < KEYS_ROWS; i++) {
		char begin[41];				/* a longer text goes on in the next line */

		snprintf(begin, sizeof(begin), "%s", keys_standard.rows[i].help);
		assert_true(!strstr(text, begin) == !keys_shown(&own.keys, &keys_standard.rows[i]));
	}
	golden_check(golden, canvas);
	free(text);
	canvas_free(canvas);
	view_help.free(help);
}

static void test_help_is_made_from_the_table(void **state)
{
	(void)state;
	check_help("help", false, false);
	check_help("help-tabs", true, false);
	check_help("help-replay", false, true);
}

static void test_help_scrolls(void **state)
{
	struct canvas *canvas = canvas_new(8, 80, true);
	void *help = view_help.new(&config);
	struct area area = { 0, 0, 8, 80 };
	char *text;

	(void)state;
	view_help.draw(help, canvas, area);
	assert_true(view_help.act(help, ACTION_BOTTOM));
	canvas_clear(canvas);
	view_help.draw(help, canvas, area);
	text = canvas_dump(canvas);
	assert_non_null(strstr(text, "FROZEN"));
	assert_false(view_help.act(help, ACTION_SORT));
	free(text);
	canvas_free(canvas);
	view_help.free(help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_key_one_meaning),
		cmocka_unit_test(test_habits),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_texts_name_the_keys),
		cmocka_unit_test(test_bar),
		cmocka_unit_test(test_what_has_no_key_is_not_on_the_bar),
		cmocka_unit_test(test_help_is_made_from_the_table),
		cmocka_unit_test(test_help_scrolls),
	};

	config_init(&config);
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
