/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/names/function.h"
#include "agent/names/running_kernel.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/scratch.h"

static struct kernel_names *read_names(const char *path, struct budget *budget)
{
	struct kernel_names *names = kernel_names_new(path, true, budget);

	while (!kernel_names_step(names))
		poll(NULL, 0, 1);
	assert_false(kernel_names_reading(names));
	return names;
}

/* Gives the names to a new boot, which must know a function of this name. */
static struct symbols *give(struct kernel_names *names, struct budget *budget, const char *name)
{
	struct symbols *symbols = symbols_new(budget);

	assert_true(kernel_names_give(names, symbols));
	assert_string_equal(symbols_get(symbols,
		symbols_function(symbols, EVENT_KERNEL, 0xffffffff81000004))->name, name);
	return symbols;
}

static void each_boot_has_what_was_read(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	const char *path = scratch_text("names", "ffffffff81000000 T one\n");
	struct kernel_names *names = read_names(path, budget);
	struct symbols *last;

	(void)state;
	assert_string_equal(kernel_names_path(names), path);
	symbols_free(give(names, budget, "one"));
	last = give(names, budget, "one");
	kernel_names_free(names);
	assert_string_equal(symbols_get(last,
		symbols_function(last, EVENT_KERNEL, 0xffffffff81000004))->name, "one");
	symbols_free(last);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

static void a_file_that_is_another_by_then_is_read_again(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	const char *path = scratch_text("names", "ffffffff81000000 T one\n");
	struct kernel_names *names = read_names(path, budget);
	struct symbols *boot = symbols_new(budget);

	(void)state;
	scratch_text("names", "ffffffff81000000 T another\n");
	kernel_names_check(names);
	assert_true(kernel_names_reading(names));
	symbols_free(give(names, budget, "one"));		/* the old names, until the file is read again */
	while (!kernel_names_step(names))
		poll(NULL, 0, 1);
	symbols_free(give(names, budget, "another"));
	kernel_names_check(names);
	while (kernel_names_reading(names)) {
		assert_false(kernel_names_step(names));		/* the file has not changed */
		poll(NULL, 0, 1);
	}
	symbols_free(give(names, budget, "another"));
	assert_int_equal(remove(path), 0);
	kernel_names_check(names);
	while (!kernel_names_step(names))
		poll(NULL, 0, 1);
	assert_non_null(strstr(kernel_names_error(names), "names"));
	kernel_names_free(names);
	symbols_free(boot);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

/* kernel_names_free does not wait for a pipe into which nobody writes. */
static void a_pipe_without_a_writer_holds_up_nobody(void **state)
{
	const char *path = scratch_path("pipe");
	struct kernel_names *names;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	names = kernel_names_new(path, true, NULL);
	assert_false(kernel_names_step(names));
	assert_true(kernel_names_reading(names));
	kernel_names_free(names);
	names = kernel_names_new(path, true, NULL);
	assert_int_equal(write(fd, "ffffffff81000000 T one\n", 23), 23);
	close(fd);
	kernel_names_free(names);
}

/* The writer is silent for a while: that it still may write is told, until it has closed the pipe. */
static void a_pipe_is_copied_until_its_writer_ends(void **state)
{
	const char *path = scratch_path("slow");
	struct kernel_names *names;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(write(fd, "ffffffff81000000 T one\n", 23), 23);
	names = kernel_names_new(path, true, NULL);
	while (!kernel_names_copying(names))
		poll(NULL, 0, 0);
	assert_false(kernel_names_step(names));
	close(fd);
	while (!kernel_names_step(names))
		poll(NULL, 0, 1);
	assert_false(kernel_names_copying(names));
	symbols_free(give(names, NULL, "one"));
	kernel_names_free(names);
}

/* What came of a list that did not fit is gone: the rest of it is not taken for the whole. */
static void a_pipe_is_not_read_from_its_middle(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	const char *path = scratch_path("long");
	size_t left = budget_left(budget);
	struct kernel_names *names;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR);		/* so that it has a writer from the beginning */
	if (fork() == 0) {
		static char text[1 << 20];
		int to = open(path, O_WRONLY);

		close(fd);
		memset(text, '\n', sizeof(text));
		while (write(to, text, sizeof(text)) > 0)
			;
		_exit(0);
	}
	names = read_names(path, budget);
	assert_non_null(strstr(kernel_names_error(names), "there is no memory for it"));
	assert_int_equal(budget_left(budget), left);
	assert_false(kernel_names_starved(names));
	kernel_names_check(names);
	kernel_names_again(names);
	assert_false(kernel_names_reading(names));
	close(fd);
	kernel_names_free(names);
	budget_release(budget);
}

/* A recording, or QEMU, may name anything: its pipe has a writer who is silent. */
static void only_the_user_may_name_a_pipe(void **state)
{
	const char *path = scratch_path("named");
	struct kernel_names *names;
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	names = kernel_names_new(path, false, NULL);
	while (!kernel_names_step(names))
		poll(NULL, 0, 1);
	assert_non_null(strstr(kernel_names_error(names), "not a regular file"));
	kernel_names_free(names);
	close(fd);
}

/* No descriptor is left for the boot's own: that is said, and the file is not read again and again. */
static void too_few_descriptors_are_said(void **state)
{
	struct kernel_names *names = read_names("/proc/self/exe", NULL);
	struct symbols *boot = symbols_new(NULL);
	struct rlimit before, few;
	int next = dup(0);

	(void)state;
	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit) { .rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_false(kernel_names_give(names, boot));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_false(kernel_names_reading(names));
	assert_non_null(strstr(kernel_names_error(names), "too many files are open"));
	symbols_free(boot);
	kernel_names_free(names);
}

static void what_is_wrong_is_said(void **state)
{
	struct kernel_names *names = read_names(scratch_path("nowhere"), NULL);

	(void)state;
	assert_non_null(strstr(kernel_names_error(names), "nowhere"));
	assert_false(kernel_names_starved(names));
	kernel_names_free(names);
	kernel_names_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_boot_has_what_was_read),
		cmocka_unit_test(a_file_that_is_another_by_then_is_read_again),
		cmocka_unit_test(a_pipe_without_a_writer_holds_up_nobody),
		cmocka_unit_test(a_pipe_is_copied_until_its_writer_ends),
		cmocka_unit_test(a_pipe_is_not_read_from_its_middle),
		cmocka_unit_test(only_the_user_may_name_a_pipe), cmocka_unit_test(too_few_descriptors_are_said),
		cmocka_unit_test(what_is_wrong_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
