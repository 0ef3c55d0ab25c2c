/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tui/frame/list.h"

struct names {
	const char *text[20];
};

static uint64_t key(const void *context, size_t row)
{
	const struct names *names = context;

	return (unsigned char)names->text[row][0];
}

static const char *name(const void *context, size_t row)
{
	const struct names *names = context;

	return names->text[row];
}

static struct list_rows rows_of(const struct names *names)
{
	struct list_rows rows = { .context = names, .key = key, .name = name };

	while (rows.count < 20 && names->text[rows.count])
		rows.count++;
	return rows;
}

static const struct names abc = { { "alpha", "Beta", "gamma", "delta", "epsilon" } };
static const struct names cba = { { "epsilon", "delta", "gamma", "Beta", "alpha" } };

static void test_cursor_follows_its_row(void **state)
{
	struct list_rows before = rows_of(&abc), after = rows_of(&cba);
	struct list list = { 0 };

	(void)state;
	list_update(&list, &before, 3);
	list_act(&list, &before, ACTION_DOWN);
	assert_string_equal(abc.text[list.cursor], "Beta");
	list_update(&list, &after, 3);
	assert_string_equal(cba.text[list.cursor], "Beta");
	assert_int_equal(list.top, 1);		/* it scrolls no further than the cursor needs */
	list_update(&list, &before, 3);
	assert_string_equal(abc.text[list.cursor], "Beta");
	assert_int_equal(list.top, 0);		/* back where the user left it */
}

static void test_cursor_stays_at_the_top_until_moved(void **state)
{
	struct list_rows before = rows_of(&abc), after = rows_of(&cba);
	struct list list = { 0 };

	(void)state;
	list_update(&list, &before, 3);
	list_update(&list, &after, 3);
	assert_int_equal(list.cursor, 0);
	list_act(&list, &after, ACTION_DOWN);
	list_act(&list, &after, ACTION_TOP);
	list_update(&list, &before, 3);
	assert_int_equal(list.cursor, 0);
}

static void test_a_row_that_goes_and_comes_back(void **state)
{
	const struct names fewer = { { "alpha", "gamma", "delta" } };
	struct list_rows all = rows_of(&abc), some = rows_of(&fewer), none = { .count = 0 };
	struct list list = { 0 };

	(void)state;
	list_update(&list, &all, 3);
	list_select(&list, &all, 4);
	list_update(&list, &some, 3);
	assert_int_equal(list.cursor, 0);	/* its place is gone, too: the cursor is at the top, not at the end */
	assert_int_equal(list.top, 0);
	list_update(&list, &none, 3);
	assert_int_equal(list.cursor, 0);
	list_act(&list, &none, ACTION_DOWN);
	list_act(&list, &none, ACTION_BOTTOM);
	assert_int_equal(list.cursor, 0);
	assert_false(list_search(&list, &none, "alpha", LIST_NEXT));
	list_update(&list, &all, 3);
	assert_string_equal(abc.text[list.cursor], "epsilon");
}

/* Rows of something else are shown from the top, even if the cursor's row is among them. */
static void test_rewind(void **state)
{
	struct list_rows all = rows_of(&abc);
	struct list list = { 0 };

	(void)state;
	list_update(&list, &all, 2);
	list_select(&list, &all, 4);
	assert_int_equal(list.top, 3);
	list_rewind(&list);
	list_update(&list, &all, 2);
	assert_int_equal(list.cursor, 0);
	assert_int_equal(list.top, 0);
	list_update(&list, &all, 2);
	assert_int_equal(list.cursor, 0);		/* it follows no row */
}

static void test_moves_stay_inside(void **state)
{
	struct list_rows rows = rows_of(&abc);
	struct list list = { 0 };
	uint32_t random = 1;

	(void)state;
	list_update(&list, &rows, 2);
	for (int i = 0; i < 1000; i++) {
		random = random * 1664525 + 1013904223;
		list_act(&list, &rows, (enum action)(ACTION_UP + (random >> 16) % 8));
		list_update(&list, &rows, random >> 24 & 7);
		assert_in_range(list.cursor, 0, rows.count - 1);
		assert_in_range(list.cursor, list.top,
			list.top + (list.height ? list.height - 1 : 0));
	}
	assert_false(list_act(&list, &rows, ACTION_SORT));
}

static void test_pages(void **state)
{
	struct list_rows rows = rows_of(&abc);
	struct list list = { 0 };

	(void)state;
	list_update(&list, &rows, 3);
	list_act(&list, &rows, ACTION_PAGE_DOWN);
	assert_int_equal(list.cursor, 2);
	list_act(&list, &rows, ACTION_PAGE_DOWN);
	assert_int_equal(list.cursor, 4);
	assert_int_equal(list.top, 2);
	list_act(&list, &rows, ACTION_PAGE_UP);
	assert_int_equal(list.cursor, 2);
}

static void test_search(void **state)
{
	struct list_rows rows = rows_of(&abc);
	struct list list = { 0 };

	(void)state;
	list_update(&list, &rows, 3);
	assert_true(list_search(&list, &rows, "al", LIST_HERE));
	assert_int_equal(list.cursor, 0);
	assert_true(list_search(&list, &rows, "ta", LIST_NEXT));
	assert_int_equal(list.cursor, 1);
	assert_true(list_search(&list, &rows, "ta", LIST_HERE));
	assert_int_equal(list.cursor, 1);
	assert_true(list_search(&list, &rows, "ta", LIST_NEXT));
	assert_int_equal(list.cursor, 3);
	assert_true(list_search(&list, &rows, "ta", LIST_NEXT));	/* around the end */
	assert_int_equal(list.cursor, 1);
	assert_true(list_search(&list, &rows, "ta", LIST_PREVIOUS));
	assert_int_equal(list.cursor, 3);
	assert_false(list_search(&list, &rows, "zeta", LIST_NEXT));
	assert_int_equal(list.cursor, 3);
	assert_true(list_search(&list, &rows, "beta", LIST_HERE));	/* a pattern in lower case matches any case */
	assert_false(list_search(&list, &rows, "BETA", LIST_HERE));
	assert_null(list_match("alpha", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cursor_follows_its_row),
		cmocka_unit_test(test_cursor_stays_at_the_top_until_moved),
		cmocka_unit_test(test_a_row_that_goes_and_comes_back),
		cmocka_unit_test(test_rewind),
		cmocka_unit_test(test_moves_stay_inside),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
