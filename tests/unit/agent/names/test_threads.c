/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/names/threads.h"
#include "agent/wire/event.h"

static struct text text(const char *bytes)
{
	return (struct text) { .bytes = bytes, .size = strlen(bytes) };
}

static void numbers_stand_in_for_names(void **state)
{
	struct threads *threads = threads_new(NULL);
	const char *twelve = threads_name(threads, 12);

	(void)state;
	assert_string_equal(twelve, "thread 12");
	assert_ptr_equal(threads_name(threads, 12), twelve);
	assert_true(threads_match(threads, EVENT_NONE, 3, "process 3"));
	assert_true(threads_match(threads, EVENT_NONE, EVENT_KERNEL, "kernel"));
	assert_string_equal(threads_name(threads, EVENT_NONE), "[no thread]");
	assert_int_equal(threads_generation(threads), 0);
	threads_free(threads);
}

static void a_name_told_again_replaces_the_old_which_stays_readable(void **state)
{
	struct threads *threads = threads_new(NULL);
	const char *number = threads_name(threads, 12), *old;

	(void)state;
	threads_thread(threads, 12, 3, text("boot"));
	assert_int_equal(threads_generation(threads), 1);
	old = threads_name(threads, 12);
	threads_thread(threads, 12, 3, text("boot"));
	threads_thread(threads, 12, 3, text(""));
	assert_int_equal(threads_generation(threads), 1);
	threads_thread(threads, 12, 3, text("init"));
	assert_int_equal(threads_generation(threads), 2);
	threads_process(threads, 12, text("shell"));
	assert_string_equal(threads_name(threads, 12), "init");
	assert_true(threads_match(threads, EVENT_NONE, 12, "shell"));
	assert_false(threads_match(threads, EVENT_NONE, 12, "process"));
	assert_string_equal(number, "thread 12");
	assert_string_equal(old, "boot");
	threads_free(threads);
}

/* Until the guest tells it, a process has the name of its first thread, or of another one. */
static void a_process_has_the_name_of_its_thread(void **state)
{
	struct threads *threads = threads_new(NULL);
	uint64_t generation;

	(void)state;
	threads_thread(threads, 98, 97, text("pool-1"));
	threads_thread(threads, 99, 97, text("pool-2"));
	assert_string_equal(threads_process_name(threads, 97), "pool-1");
	threads_thread(threads, 97, 97, text("sh"));
	threads_thread(threads, 97, 97, text("make"));
	threads_thread(threads, 99, 97, text("pool-3"));
	assert_string_equal(threads_process_name(threads, 97), "make");
	assert_true(threads_match_process(threads, 98, 97, "make"));
	assert_string_equal(threads_told_process(threads, 97), "make");
	threads_process(threads, 97, text("Build"));
	generation = threads_generation(threads);
	threads_thread(threads, 97, 97, text("make"));
	assert_int_equal(threads_generation(threads), generation);
	assert_string_equal(threads_process_name(threads, 97), "Build");
	threads_thread(threads, 5, EVENT_KERNEL, text("kthreadd"));
	assert_string_equal(threads_process_name(threads, EVENT_KERNEL), "kernel");
	assert_string_equal(threads_process_name(threads, 5), "process 5");
	threads_free(threads);
}

/* Linux has one idle task for each CPU, all of number 0; the hook gives it no number. */
static void the_idle_task_has_one_name(void **state)
{
	struct threads *threads = threads_new(NULL);
	uint64_t generation;
	char title[64];

	(void)state;
	threads_thread(threads, 0, EVENT_KERNEL, text("swapper/1"));
	generation = threads_generation(threads);
	threads_thread(threads, 0, EVENT_KERNEL, text("swapper/3"));
	assert_int_equal(threads_generation(threads), generation);
	threads_title(threads, 0, title, sizeof(title));
	assert_string_equal(title, "swapper");
	threads_thread(threads, 1, 1, text("swapper/0"));
	threads_title(threads, 1, title, sizeof(title));
	assert_string_equal(title, "swapper/0/1");
	threads_title(threads, EVENT_NONE, title, sizeof(title));
	assert_string_equal(title, "[no thread]");
	generation = threads_generation(threads);
	threads_idle(threads, "swapper");
	threads_idle(threads, "swapper");
	assert_int_equal(threads_generation(threads), generation + 1);
	threads_title(threads, EVENT_NONE, title, sizeof(title));
	assert_string_equal(title, "swapper");
	threads_comm(threads, EVENT_NONE, EVENT_KERNEL, title, sizeof(title));
	assert_string_equal(title, "swapper");
	assert_true(threads_match(threads, EVENT_NONE, EVENT_KERNEL, "swapper"));
	assert_true(threads_is(threads, EVENT_NONE, EVENT_KERNEL, "swapper"));
	assert_false(threads_is(threads, EVENT_NONE, EVENT_KERNEL, "swap"));
	threads_idle(threads, NULL);
	assert_string_equal(threads_name(threads, EVENT_NONE), "[no thread]");
	threads_free(threads);
}

/* As of a sample that came before its guest told threads: its page tables have told the process. */
static void a_thread_that_is_not_known_has_the_name_of_its_process(void **state)
{
	struct threads *threads = threads_new(NULL);
	char name[64];

	(void)state;
	threads_thread(threads, 148, 148, text("gzip"));
	threads_comm(threads, EVENT_NONE, 148, name, sizeof(name));
	assert_string_equal(name, "gzip");
	assert_true(threads_is(threads, EVENT_NONE, 148, "gzip"));
	assert_false(threads_is(threads, EVENT_NONE, 148, "[no thread]"));
	threads_comm(threads, 149, 148, name, sizeof(name));
	assert_string_equal(name, "thread 149");
	threads_comm(threads, EVENT_NONE, 150, name, sizeof(name));
	assert_string_equal(name, "[no thread]");
	threads_free(threads);
}

static void names_obey_no_terminal(void **state)
{
	struct threads *threads = threads_new(NULL);

	(void)state;
	threads_thread(threads, 1, 1, text("a\033[2Jb\n"));
	assert_null(strpbrk(threads_name(threads, 1), "\033\n"));
	assert_int_equal(strlen(threads_name(threads, 1)), 7);
	threads_free(threads);
}

static void patterns_name_threads(void **state)
{
	struct threads *threads = threads_new(NULL);

	(void)state;
	threads_process(threads, 7, text("Shell"));
	threads_thread(threads, 12, 7, text("worker-3"));
	assert_true(threads_match(threads, 12, 7, ""));
	assert_true(threads_match(threads, 12, 7, "12"));
	assert_false(threads_match(threads, 12, 7, "1"));
	assert_false(threads_match(threads, 12, 7, "3"));
	assert_false(threads_match(threads, EVENT_NONE, 7, "4294967295"));
	assert_true(threads_match(threads, 12, 7, "ker-3"));
	assert_true(threads_match(threads, 12, 7, "shell"));
	assert_true(threads_match(threads, 12, 7, "Shell"));
	assert_false(threads_match(threads, 12, 7, "SHELL"));
	assert_false(threads_match(threads, 12, 8, "shell"));
	assert_true(threads_match(threads, 12, EVENT_KERNEL, "shell"));
	assert_true(threads_match(threads, 13, EVENT_KERNEL, "kernel"));
	assert_true(threads_match(threads, 13, 7, "thread"));
	threads_free(threads);
}

/* A guest that makes up endless names must not make ktop grow without end. */
static void memory_is_bounded(void **state)
{
	struct threads *threads = threads_new(NULL);
	char name[1024];

	(void)state;
	memset(name, 'x', sizeof(name));
	for (uint32_t i = 0; i < 40000; i++) {
		int size = snprintf(name, sizeof(name), "%u", i);

		name[size] = 'x';
		threads_thread(threads, 5, 1, (struct text) { .bytes = name, .size = sizeof(name) });
	}
	assert_true(threads_generation(threads) < (16 << 20) / sizeof(name) + 1);
	for (uint32_t i = 0; i < 300000; i++)
		assert_non_null(threads_name(threads, i));
	assert_string_equal(threads_name(threads, 299999), "thread");
	threads_free(threads);
}

/* The newest names are there, and so are those of threads that still run. The texts of the others stay. */
static void the_oldest_is_forgotten(void **state)
{
	struct threads *threads = threads_new(NULL);
	const char *boot, *old;

	(void)state;
	threads_thread(threads, 1, 2, text("boot"));
	threads_process(threads, 2, text("init"));
	threads_thread(threads, 3, 4, text("old"));
	boot = threads_name(threads, 1);
	old = threads_name(threads, 3);
	for (uint32_t i = 0; i < 400000; i++) {
		threads_thread(threads, 1000 + i, 1000 + i, text("main"));
		threads_process(threads, 1000 + i, text("sort"));
		if (i % 1000 == 0)
			threads_seen(threads, 1, 2);
	}
	assert_ptr_equal(threads_name(threads, 1), boot);
	assert_true(threads_match(threads, EVENT_NONE, 2, "init"));
	assert_string_equal(threads_name(threads, 400999), "main");
	assert_true(threads_match(threads, EVENT_NONE, 300000, "sort"));
	assert_string_equal(threads_name(threads, 3), "thread 3");
	assert_string_equal(old, "old");
	threads_free(threads);
}

/* A number is not kept for a match, so there is room for names after any number of threads. */
static void matching_keeps_nothing(void **state)
{
	struct threads *threads = threads_new(NULL);

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++)
		assert_false(threads_match(threads, i, i, "boot"));
	threads_thread(threads, 1, 2, text("boot"));
	assert_string_equal(threads_name(threads, 1), "boot");
	threads_free(threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stand_in_for_names),
		cmocka_unit_test(a_name_told_again_replaces_the_old_which_stays_readable),
		cmocka_unit_test(a_process_has_the_name_of_its_thread),
		cmocka_unit_test(the_idle_task_has_one_name),
		cmocka_unit_test(a_thread_that_is_not_known_has_the_name_of_its_process),
		cmocka_unit_test(names_obey_no_terminal),
		cmocka_unit_test(patterns_name_threads),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(the_oldest_is_forgotten),
		cmocka_unit_test(matching_keeps_nothing),
	};

	threads_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
