#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "budget.h"
#include "event.h"
#include "kernel_names.h"
#include "scratch.h"
#include "symbols.h"

static void check_name(struct symbols *symbols, const char *name)
{
	assert_non_null(symbols);
	assert_string_equal(symbols_get(symbols,
		symbols_function(symbols, EVENT_KERNEL, 0xffffffff81000004))->name, name);
	symbols_free(symbols);
}

static void each_boot_has_what_was_read(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	const char *path = scratch_text("names", "ffffffff81000000 T one\n");
	struct kernel_names *names = kernel_names_open(path, budget, NULL);
	struct symbols *last;

	(void)state;
	assert_non_null(names);
	assert_string_equal(kernel_names_path(names), path);
	check_name(kernel_names_take(names), "one");
	last = kernel_names_take(names);
	kernel_names_free(names);
	check_name(last, "one");
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

static void a_file_that_is_another_by_then_is_read_again(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	const char *path = scratch_text("names", "ffffffff81000000 T one\n");
	struct kernel_names *changed = kernel_names_open(path, budget, NULL);
	struct kernel_names *gone = kernel_names_open(path, budget, NULL);

	(void)state;
	scratch_text("names", "ffffffff81000000 T another\n");
	assert_null(kernel_names_take(changed));
	assert_int_equal(remove(path), 0);
	assert_null(kernel_names_take(gone));
	kernel_names_free(changed);
	kernel_names_free(gone);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

static void what_is_wrong_is_said_at_the_start(void **state)
{
	char *error = NULL;

	(void)state;
	assert_null(kernel_names_open(scratch_path("nowhere"), NULL, &error));
	assert_non_null(strstr(error, "nowhere"));
	free(error);
	kernel_names_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_boot_has_what_was_read),
		cmocka_unit_test(a_file_that_is_another_by_then_is_read_again),
		cmocka_unit_test(what_is_wrong_is_said_at_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
