/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/query/filter_words.h"
#include "agent/query/query.h"

static void take(const char *text, const struct filter *wanted)
{
	struct filter filter = { .cpu = 77 };
	char *error = NULL;

	if (!filter_parse(text, &filter, &error))
		fail_msg("\"%s\" was refused: %s", text, error);
	assert_string_equal(filter.pattern, wanted->pattern);
	assert_string_equal(filter.thread, wanted->thread);
	assert_int_equal(filter.cpu, wanted->cpu);
	assert_int_equal(filter.modes, wanted->modes);
}

/* The filter is refused: the message names the word, says why and what to do. The filter is unchanged. */
static void refuse(const char *text, const char *why, const char *what_to_do)
{
	struct filter filter = { .cpu = 3, .pattern = "before" }, before = filter;
	char *error = NULL, *end;

	if (filter_parse(text, &filter, &error))
		fail_msg("\"%s\" was taken", text);
	end = strchr(error, ';');
	if (!end || !strstr(error, why) || strstr(error, why) > end || !strstr(end, what_to_do))
		fail_msg("\"%s\": %s", text, error);
	assert_memory_equal(&filter, &before, sizeof(filter));
	free(error);
}

static void test_what_is_taken(void **state)
{
	const unsigned kernel = 1u << MODE_KERNEL, user = 1u << MODE_USER, idle = 1u << MODE_IDLE;
	const struct {
		const char *text;
		struct filter filter;
	} rows[] = {
		{ "", { .cpu = EVENT_NONE } },
		{ "  \t ", { .cpu = EVENT_NONE } },
		{ "alloc", { .cpu = EVENT_NONE, .pattern = "alloc" } },
		{ " operator  new ", { .cpu = EVENT_NONE, .pattern = "operator new" } },
		{ "cpu:0", { .cpu = 0 } },
		{ "cpu:4095 alloc", { .cpu = 4095, .pattern = "alloc" } },
		{ "a cpu:1 b", { .cpu = 1, .pattern = "a b" } },
		{ "thread:init", { .cpu = EVENT_NONE, .thread = "init" } },
		{ "thread:kworker/0:1", { .cpu = EVENT_NONE, .thread = "kworker/0:1" } },
		{ "thread:12 mode:user", { .cpu = EVENT_NONE, .thread = "12", .modes = user } },
		{ "mode:kernel", { .cpu = EVENT_NONE, .modes = kernel } },
		{ "mode:kernel|user", { .cpu = EVENT_NONE, .modes = kernel | user } },
		{ "mode:idle,kernel", { .cpu = EVENT_NONE, .modes = kernel | idle } },
		{ "std::vector::push_back", { .cpu = EVENT_NONE,
			.pattern = "std::vector::push_back" } },
		{ "<T as core::fmt>", { .cpu = EVENT_NONE, .pattern = "<T as core::fmt>" } },
		{ "cpu", { .cpu = EVENT_NONE, .pattern = "cpu" } },
		{ ":", { .cpu = EVENT_NONE, .pattern = ":" } },
		{ "größe", { .cpu = EVENT_NONE, .pattern = "größe" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		take(rows[i].text, &rows[i].filter);
}

static void test_what_is_refused(void **state)
{
	static const char *const unknown[] = { "pid:5", "comm:dd", "foo:bar", "foo:", "CPU:0",
		"modes:user", "cp:0", "alloc pid:5", "not-known:x" };

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		refuse(unknown[i], "is not a word of a filter", "cpu:N");
		refuse(unknown[i], "is not a word of a filter", "thread:NAME");
		refuse(unknown[i], "is not a word of a filter", "mode:kernel|user|idle");
	}
	refuse("pid:5", "pid:", "");
	refuse("cpu:", "cpu:", "cpu:0");
	refuse("cpu:x", "cpu:x is not a CPU", "cpu:0");
	refuse("cpu:-1", "cpu:-1", "cpu:0");
	refuse("cpu:0x1", "cpu:0x1", "cpu:0");
	refuse("cpu:0-3", "cpu:0-3", "cpu:0");
	refuse("cpu:4294967295", "cpu:4294967295", "cpu:0");
	refuse("cpu:99999999999999999999", "is not a CPU", "cpu:0");
	refuse("mode:", "mode: is not a mode", "kernel, user or idle");
	refuse("mode:|", "mode: is not a mode", "kernel, user or idle");
	refuse("mode:kernel|", "mode: is not a mode", "kernel, user or idle");
	refuse("mode:ring0", "mode:ring0 is not a mode", "kernel, user or idle");
	refuse("mode:user|kern", "mode:kern is not a mode", "kernel, user or idle");
	refuse("mode:kernelx", "mode:kernelx", "kernel");
	refuse("thread:", "thread: needs a name", "give a part");
}

/* A second one is refused, instead of winning over the first, or of meaning "or" where all other words mean "and". */
static void test_each_is_given_once(void **state)
{
	(void)state;
	refuse("cpu:0 cpu:1", "cpu: is given twice", "one CPU");
	refuse("cpu:0 x cpu:0", "cpu: is given twice", "one CPU");
	refuse("thread:a thread:b", "thread: is given twice", "one name");
	refuse("mode:kernel mode:user", "mode: is given twice", "mode:kernel|user");
}

static void test_what_is_too_long(void **state)
{
	char text[400];

	(void)state;
	snprintf(text, sizeof(text), "thread:%064d", 0);
	refuse(text, "too long", "63 bytes");
	snprintf(text, sizeof(text), "thread:%063d", 0);
	take(text, &(struct filter) { .cpu = EVENT_NONE,
		.thread = "000000000000000000000000000000000000000000000000000000000000000" });
	snprintf(text, sizeof(text), "%0130d", 0);
	refuse(text, "too long", "126 bytes");
	snprintf(text, sizeof(text), "%060d %060d %060d", 0, 0, 0);
	refuse(text, "too long", "126 bytes");
	snprintf(text, sizeof(text), "%0300d", 0);
	refuse(text, "too long", "159 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_taken),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_each_is_given_once),
		cmocka_unit_test(test_what_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
