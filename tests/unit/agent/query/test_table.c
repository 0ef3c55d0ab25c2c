/* SPDX-License-Identifier: MIT */
/* The order of a table's rows, compared with its definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/query/query.h"
#include "agent/query/table.h"
#include "tests/unit/fakes/random.h"

enum { ROWS = 3000 };

/* Of any size, including 0 and the largest; many are equal. */
static uint64_t number(struct random *random)
{
	uint64_t width = random_below(random, 9) * 8;

	if (random_below(random, 2))
		return random_below(random, 3);
	return width ? random_next(random) >> (64 - width) : UINT64_MAX;
}

/* Each function once, in random order. */
static struct table *random_table(struct random *random)
{
	struct table *table = table_new(NULL, ROWS, 1);

	for (uint32_t i = 0; i < ROWS; i++) {
		struct row *row = table_add(table, i * 7 % ROWS << 10);

		row->self = number(random);
		row->total = number(random);
		row->samples = number(random);
		row->cpus[0] = row->function;
	}
	return table;
}

static uint64_t value_of(const struct row *row, enum table_column column)
{
	return column == COLUMN_SELF ? row->self : column == COLUMN_TOTAL ? row->total :
		row->samples;
}

/* May `a` stand before `b`? */
static bool precedes(const struct row *a, const struct row *b, enum table_column column,
	bool invert)
{
	uint64_t first = value_of(a, column), second = value_of(b, column);

	if (first != second)
		return invert ? first < second : first > second;
	if (a->self != b->self)
		return a->self > b->self;
	if (a->total != b->total)
		return a->total > b->total;
	return a->function < b->function;
}

static void numbers_of_any_size_are_in_order(void **state)
{
	static const enum table_column columns[] = { COLUMN_SELF, COLUMN_TOTAL, COLUMN_HITS };
	struct random random = { .state = 7 };

	(void)state;
	for (int turn = 0; turn < 6; turn++) {
		struct table *table = random_table(&random);
		enum table_column column = columns[turn / 2];
		bool invert = turn % 2;

		table_sort(table, NULL, column, invert);
		assert_int_equal(table->count, ROWS);
		for (size_t i = 0; i < ROWS; i++) {
			const struct row *row = &table->rows[i];

			assert_int_equal(row->cpus[0], row->function);
			assert_true(i == 0 || precedes(row - 1, row, column, invert));
		}
		table_free(table);
	}
}

/* However many are asked for: they are those that come first of all, and no row is lost. */
static void the_first_rows_are_those_of_the_whole_order(void **state)
{
	static const enum table_column columns[] = { COLUMN_SELF, COLUMN_TOTAL, COLUMN_HITS };
	struct random random = { .state = 8 };

	(void)state;
	for (int turn = 0; turn < 60; turn++) {
		struct table *table = random_table(&random);
		enum table_column column = columns[turn % 3];
		bool invert = random_below(&random, 2);
		size_t wanted = random_below(&random, turn % 2 ? ROWS + 2 : 100);
		size_t count = table_sort_first(table, NULL, column, invert, wanted);
		bool *seen = util_alloc(ROWS * sizeof(*seen));

		assert_int_equal(table->count, ROWS);
		assert_in_range(count, wanted < ROWS ? wanted : ROWS, ROWS);
		for (size_t i = 0; i < ROWS; i++) {
			const struct row *row = &table->rows[i], *last = &table->rows[i < count ? i - 1 : count - 1];

			assert_int_equal(row->cpus[0], row->function);
			assert_false(seen[row->function >> 10]);
			seen[row->function >> 10] = true;
			assert_true(i == 0 || count == 0 || precedes(last, row, column, invert));
		}
		free(seen);
		table_free(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_any_size_are_in_order),
		cmocka_unit_test(the_first_rows_are_those_of_the_whole_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
