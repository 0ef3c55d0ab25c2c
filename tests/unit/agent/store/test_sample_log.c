/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/store/run.h"
#include "agent/store/sample_log.h"

enum { RUN = 1 << 20 };

/* Adds rows whose times are 0 to count - 1, in another order. */
static void fill(struct sample_log *log, uint32_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct who who = { .thread = (uint32_t)(i % 7), .cpu = (uint16_t)(i % 3) };

		sample_log_add(log, i * 7919 % count, (uint32_t)i, &who, 1 + i % 2, 1, 1000);
	}
	sample_log_settle(log);
}

/* Reads all of the log: each row is there once, in order of time. */
static void check(struct sample_log *log, uint32_t count)
{
	struct sample_log_reader *reader = sample_log_open(log);
	struct log_row row;

	for (uint64_t i = 0; i < count; i++) {
		struct who who;

		assert_true(sample_log_next(reader, &row));
		assert_int_equal(row.time, i);
		assert_int_equal((uint64_t)row.stack * 7919 % count, i);
		assert_int_equal(row.weight, 1 + row.stack % 2);
		who = who_table_list(sample_log_whos(log))[row.who];
		assert_int_equal(who.thread, row.stack % 7);
		assert_int_equal(who.cpu, row.stack % 3);
	}
	assert_false(sample_log_next(reader, &row));
	assert_false(sample_log_failed(reader));
	sample_log_close(reader);
}

static void an_empty_log_has_no_rows(void **state)
{
	struct sample_log *log = sample_log_new(NULL, NULL);

	(void)state;
	check(log, 0);
	sample_log_release(log);
}

static void rows_are_read_in_order_of_time(void **state)
{
	struct sample_log *log = sample_log_new(NULL, NULL);

	(void)state;
	fill(log, 100001);
	check(log, 100001);
	assert_int_equal(who_table_count(sample_log_whos(log)) - WHO_FORGOTTEN, 21);
	sample_log_release(log);
}

/* A guest tells its period a while after the first samples. */
static void rows_before_the_first_known_period_have_it(void **state)
{
	static const uint64_t told[] = { 0, 0, 1000, 500, 0 }, read[] = { 1000, 1000, 1000, 500, 1000 };
	const struct who who = { .cpu = 1 };
	struct sample_log *log = sample_log_new(NULL, NULL);
	struct sample_log_reader *reader;
	struct log_row row;

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		sample_log_add(log, i, 0, &who, 1, 1, told[i]);
	sample_log_settle(log);
	reader = sample_log_open(log);
	for (uint64_t i = 0; i < 5; i++) {
		assert_true(sample_log_next(reader, &row));
		assert_int_equal(row.period, read[i]);
	}
	sample_log_close(reader);
	sample_log_release(log);
}

static void runs_in_memory_are_merged(void **state)
{
	struct sample_log *log = sample_log_new(NULL, NULL);

	(void)state;
	fill(log, 2 * RUN + 1001);
	check(log, 2 * RUN + 1001);
	sample_log_release(log);
}

static void runs_in_a_file_take_the_memory_of_one(void **state)
{
	struct budget *budget = budget_new(28 + 50);
	size_t left = budget_left(budget);
	struct sample_log *log = sample_log_new(budget, ".");

	(void)state;
	fill(log, 3 * RUN + 1001);
	assert_int_equal(sample_log_refused(log), 0);
	assert_true(left - budget_left(budget) <= 33 << 20);
	check(log, 3 * RUN + 1001);
	assert_string_equal(sample_log_trouble(log), "");
	sample_log_release(log);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

static void a_reader_holds_its_log(void **state)
{
	struct sample_log *log = sample_log_new(NULL, NULL);
	struct sample_log_reader *reader;
	struct log_row row;

	(void)state;
	fill(log, 10);
	reader = sample_log_open(log);
	sample_log_release(log);
	for (int i = 0; i < 10; i++)
		assert_true(sample_log_next(reader, &row));
	assert_false(sample_log_next(reader, &row));
	sample_log_close(reader);
}

static void what_finds_no_room_is_counted(void **state)
{
	struct budget *budget = budget_new(30);
	struct sample_log *log = sample_log_new(budget, NULL);
	struct sample_log_reader *reader;
	struct log_row row;
	uint64_t weight = 0, count = 200000;

	(void)state;
	fill(log, (uint32_t)count);
	assert_true(sample_log_refused(log) > 0);
	reader = sample_log_open(log);
	while (sample_log_next(reader, &row))
		weight += row.weight;
	assert_int_equal(weight + sample_log_refused(log), count * 3 / 2);
	sample_log_close(reader);
	sample_log_release(log);
	budget_release(budget);
}

static void without_a_folder_for_the_file_rows_are_refused_and_the_cause_is_told(void **state)
{
	struct sample_log *log = sample_log_new(NULL, "./no such folder");
	const struct who who = { .thread = 1 };

	(void)state;
	for (uint32_t i = 0; i < RUN + 10; i++)
		sample_log_add(log, i, i, &who, 1, 1, 0);
	sample_log_settle(log);
	assert_int_equal(sample_log_refused(log), RUN);
	assert_string_equal(sample_log_trouble(log), "./no such folder: No such file or directory");
	sample_log_release(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_log_has_no_rows),
		cmocka_unit_test(rows_are_read_in_order_of_time),
		cmocka_unit_test(rows_before_the_first_known_period_have_it),
		cmocka_unit_test(runs_in_memory_are_merged),
		cmocka_unit_test(runs_in_a_file_take_the_memory_of_one),
		cmocka_unit_test(a_reader_holds_its_log),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(without_a_folder_for_the_file_rows_are_refused_and_the_cause_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
