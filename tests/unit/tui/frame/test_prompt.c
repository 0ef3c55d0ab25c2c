/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/canvas_dump.h"
#include "tests/unit/fakes/filter_of.h"
#include "tui/frame/key_bar.h"
#include "tui/frame/scope.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"

static void type(struct prompt *prompt, const char *text)
{
	for (; *text != '\0'; text++)
		assert_int_equal(prompt_key(prompt, (unsigned char)*text), PROMPT_CHANGED);
}

static void test_typing(void **state)
{
	struct prompt prompt;

	(void)state;
	prompt_open(&prompt, "Search:", "", "");
	type(&prompt, "spin q");		/* these keys have other meanings outside a prompt */
	assert_int_equal(prompt_key(&prompt, 0xf6), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "spin qö");
	assert_int_equal(prompt_key(&prompt, KEYS_BACKSPACE), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "spin q");
	assert_int_equal(prompt_key(&prompt, KEYS_UP), PROMPT_SAME);
	assert_int_equal(prompt_key(&prompt, KEYS_CTRL('A')), PROMPT_SAME);
	assert_int_equal(prompt_key(&prompt, KEYS_ENTER), PROMPT_DONE);
	assert_null(prompt.label);
	assert_string_equal(prompt.text, "spin q");
}

static void test_leaving(void **state)
{
	struct prompt prompt;

	(void)state;
	prompt_open(&prompt, "Filter:", "", "a");
	assert_int_equal(prompt_key(&prompt, KEYS_BACKSPACE), PROMPT_CHANGED);
	assert_int_equal(prompt_key(&prompt, KEYS_BACKSPACE), PROMPT_LEFT);
	prompt_open(&prompt, "Filter:", "", "abc");
	assert_int_equal(prompt_key(&prompt, KEYS_CTRL('U')), PROMPT_CHANGED);
	assert_string_equal(prompt.text, "");
	assert_int_equal(prompt_key(&prompt, KEYS_ESCAPE), PROMPT_LEFT);
}

static void test_is_bounded(void **state)
{
	struct canvas *canvas = canvas_new(1, 40, true);
	struct prompt prompt;
	char *text;

	(void)state;
	prompt_open(&prompt, "Search:", "hint", "");
	for (int i = 0; i < 1000; i++)
		prompt_key(&prompt, i == 999 ? 0x540d : 'a' + (uint32_t)i % 26);
	assert_int_equal(strlen(prompt.text), sizeof(prompt.text) - 1);
	prompt_draw(&prompt, canvas, (struct place) { 0, 0, 40 }, NULL);
	text = canvas_dump(canvas);
	assert_non_null(strstr(text, "Search: "));
	/* the text's end can be seen */
	assert_non_null(strstr(text, prompt.text + strlen(prompt.text) - 20));
	free(text);
	canvas_free(canvas);
}

static void refuse(const char *text, const char *why)
{
	struct scope scope, before;
	char *error = NULL;

	scope_init(&scope);
	before = scope;
	assert_false(scope_filter(&scope, text, &error));
	assert_non_null(strstr(error, why));
	assert_memory_equal(&scope, &before, sizeof(scope));
	free(error);
}

static void test_filter_words(void **state)
{
	struct scope scope;

	(void)state;
	scope_init(&scope);
	assert_true(scope_filter(&scope, "  cpu:2 alloc thread:init mode:kernel|user ", NULL));
	assert_filter(&scope.filter, "cpu:2 alloc thread:init mode:user|kernel");
	assert_string_equal(scope.filter_text, "cpu:2 alloc thread:init mode:kernel|user");
	assert_true(scope_filter(&scope, "operator new", NULL));
	assert_filter(&scope.filter, "operator new");
	assert_true(scope_filter(&scope, "", NULL));
	assert_string_equal(scope.filter_text, "");
	refuse("cpu:", "cpu:0");
	refuse("cpu:x", "is not a CPU");
	refuse("cpu:-1", "is not a CPU");
	refuse("cpu:99999999999999999999", "is not a CPU");
	refuse("mode:", "kernel, user, idle, irq or softirq");
	refuse("mode:ring0", "kernel, user, idle, irq or softirq");
	refuse("thread:", "names nothing");
	refuse("a b c d e f g h i", "at most 8");
}

static void test_windows(void **state)
{
	static const char *const names[] = { "60s", "all", "1s", "10s" };
	struct scope scope;
	char text[SCOPE_TIME];

	(void)state;
	scope_init(&scope);
	assert_string_equal(scope_window(&scope, text), "10s");
	for (size_t i = 0; i < 4; i++) {
		scope_next_window(&scope);
		assert_string_equal(scope_window(&scope, text), names[i]);
	}
	assert_string_equal(scope_time(192999999999, text), "00:03:12");
	assert_string_equal(scope_time(26 * (3600 * NS_PER_SECOND), text), "26:00:00");	/* a guest that is up so long */
	assert_string_equal(scope_time((FLEET_HOURS + 25) * (3600 * NS_PER_SECOND), text), "01:00:00");
	assert_string_equal(scope_time(UINT64_MAX, text), "23:34:33");
}

static void test_status_line(void **state)
{
	struct status_line line = { .failed = false };

	(void)state;
	status_say(&line, false, "done", 0);
	assert_false(status_expire(&line, 3 * NS_PER_SECOND - 1));
	assert_true(status_expire(&line, 3 * NS_PER_SECOND));
	assert_string_equal(line.text, "");

	status_say(&line, true, "failed", 0);
	assert_false(status_expire(&line, 100 * NS_PER_SECOND));
	status_say(&line, false, "done", 0);
	assert_string_equal(line.text, "failed");
	status_seen(&line);
	assert_string_equal(line.text, "");
	status_say(&line, false, "done", 0);
	status_seen(&line);
	assert_string_equal(line.text, "done");
}

static void test_long_failures_take_more_rows(void **state)
{
	struct canvas *canvas = canvas_new(4, 22, true);
	struct status_line line = { .failed = false };
	char *text;

	(void)state;
	canvas_text(canvas, (struct place) { 2, 0, 22 }, 0, "what was there before!");
	status_say(&line, true, "no snapshot: the disk is full; free some", 0);
	status_draw(&line, canvas, (struct place) { 3, 0, 22 }, "remark");
	text = canvas_dump(canvas);
	assert_string_equal(text, "\n no snapshot: the\n disk is full; free\n some\n");
	free(text);
	canvas_free(canvas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typing),
		cmocka_unit_test(test_leaving),
		cmocka_unit_test(test_is_bounded),
		cmocka_unit_test(test_filter_words),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_status_line),
		cmocka_unit_test(test_long_failures_take_more_rows),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
