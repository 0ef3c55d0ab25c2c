/* SPDX-License-Identifier: MIT */
/* What a query tells of CPUs, and the order of the rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/table.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/query_world.h"
#include "asked.h"
#include "fake_symbols.h"

/* A CPU that comes late, and a CPU beyond those that a row distinguishes. */
static void cpus_may_be_many(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(NS_PER_SECOND, 5, 1, (const uint64_t[]) { 3 });
	struct table *table;

	(void)state;
	world_take(&world, &taken);
	store_advance(world.inputs.store, 70 * NS_PER_SECOND);
	table_free(ask(&world, 0, UINT64_MAX));
	taken.cpu = 70;
	taken.time = 3 * NS_PER_SECOND;
	world_take(&world, &taken);
	store_advance(world.inputs.store, 80 * NS_PER_SECOND);
	table_free(ask(&world, 0, UINT64_MAX));
	taken.time = 30 * NS_PER_SECOND;
	taken.cpu = 4000;
	world_take(&world, &taken);
	taken.time = 79 * NS_PER_SECOND;
	world_take(&world, &taken);
	for (uint64_t now = 80 * NS_PER_SECOND; now < 200 * NS_PER_SECOND; now += 30 * NS_PER_SECOND) {
		store_advance(world.inputs.store, now);
		table = ask(&world, 0, UINT64_MAX);
		assert_int_equal(table->weight, 20);
		assert_int_equal(row_of(&world, table, "k3")->cpus[0], 1);
		assert_int_equal(row_of(&world, table, "k3")->cpus[1], 1 << 6);
		table_free(table);
	}
	world_free(&world);
}

/* Few CPUs are summed up, of many there are bits: a caller that turns out to be none has those of its calls no more. */
static void a_caller_that_is_cut_off_loses_cpus(void **state)
{
	(void)state;
	for (uint32_t cpu = 2; cpu <= 20; cpu += 18) {
		struct world world = world_new();
		struct taken taken = kernel_sample(NS_PER_SECOND, 5, 4, (const uint64_t[]) { 3, 1, 2, 4 });
		struct taken other = kernel_sample(NS_PER_SECOND, 5, 2, (const uint64_t[]) { 2, 4 });
		struct table *table;

		taken.cpu = cpu;
		world_take(&world, &taken);
		other.cpu = 1;
		world_take(&world, &other);
		table = ask(&world, 0, UINT64_MAX);
		assert_int_equal(row_of(&world, table, "k4")->cpus[0], 1 << cpu | 1 << 1);
		table_free(table);
		fake_symbols_return_never(world.inputs.symbols, taken.kernel[2]);
		table = ask(&world, 0, UINT64_MAX);
		assert_int_equal(row_of(&world, table, "k4")->cpus[0], 1 << 1);
		table_free(table);
		world_free(&world);
	}
}

static void cpus_are_told_by_mode_and_second(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(5 * NS_PER_SECOND, 5, 1, (const uint64_t[]) { 3 });
	const struct taken gap = { .time = 70 * NS_PER_SECOND, .weight = 9, .missed = true, .cpu = 2 };
	const struct question question = { .from = 60 * NS_PER_SECOND, .to = UINT64_MAX,
		.filter = filter_of("cpu:0") };
	uint64_t trend[TABLE_TREND][MODES] = { 0 };
	struct cpu_series cpus[4] = { [1].trend = trend };

	(void)state;
	world_take(&world, &taken);
	for (int i = 0; i < 8; i++) {
		taken.time = 61 * NS_PER_SECOND + (uint64_t)i * 500 * NS_PER_MS;
		taken.mode = MODE_USER;
		taken.cpu = 1;
		world_take(&world, &taken);
	}
	world_take(&world, &gap);
	store_advance(world.inputs.store, 70 * NS_PER_SECOND + 500 * NS_PER_MS);
	assert_int_equal(query_cpus(world.query, &question, cpus, 4), 3);
	assert_int_equal(cpus[0].mode[MODE_KERNEL], 0);		/* before the range */
	assert_int_equal(cpus[1].mode[MODE_USER], 40);		/* the filter does not apply */
	assert_int_equal(cpus[2].missed, 9);
	assert_int_equal(cpus[1].trend[TABLE_TREND - 9][MODE_USER], 10);	/* second 61 */
	assert_int_equal(cpus[1].trend[TABLE_TREND - 6][MODE_USER], 10);
	assert_int_equal(cpus[1].trend[TABLE_TREND - 5][MODE_USER], 0);
	assert_int_equal(query_cpus(world.query, &question, cpus, 1), 1);
	world_free(&world);
}

/* ---- order ---- */

static const char *names_in_order(const struct table *table, const struct world *world, char *text)
{
	for (size_t i = 0; i < table->count; i++) {
		strcat(text, symbols_get(world->inputs.symbols, table->rows[i].function)->name);
		strcat(text, " ");
	}
	return text;
}

static void check_order(struct table *table, const struct world *world, enum table_column column,
	bool invert, const char *wanted)
{
	char got[64] = "";

	table_sort(table, world->inputs.symbols, column, invert);
	assert_string_equal(names_in_order(table, world, got), wanted);
}

static void rows_stand_in_the_order_of_a_column(void **state)
{
	struct world world = world_new();
	struct taken taken = kernel_sample(NS_PER_SECOND, 9, 2, (const uint64_t[]) { 5, 1 });
	struct taken other = kernel_sample(NS_PER_SECOND, 4, 2, (const uint64_t[]) { 2, 1 });
	struct taken user = { .time = NS_PER_SECOND, .weight = 9, .mode = MODE_USER, .process = 2,
		.user_count = 1, .user = { 0x308 }, .cpu = 2 };
	struct table *table;

	(void)state;
	world_take(&world, &taken);
	world_take(&world, &other);
	other.cpu = 1;
	world_take(&world, &other);
	world_take(&world, &user);
	table = ask(&world, 0, UINT64_MAX);
	check_order(table, &world, COLUMN_SELF, false, "k5 p2_3 k2 k1 ");
	check_order(table, &world, COLUMN_SELF, true, "k1 k2 k5 p2_3 ");
	check_order(table, &world, COLUMN_TOTAL, false, "k1 k5 p2_3 k2 ");
	check_order(table, &world, COLUMN_HITS, false, "k2 k5 p2_3 k1 ");
	check_order(table, &world, COLUMN_CPU, false, "k5 k2 k1 p2_3 ");
	check_order(table, &world, COLUMN_FUNCTION, false, "k1 k2 k5 p2_3 ");
	check_order(table, &world, COLUMN_OBJECT, true, "p2_3 k5 k2 k1 ");
	check_order(table, &world, COLUMN_SOURCE, false, "k1 k2 k5 p2_3 ");
	table_free(table);
	world_free(&world);
}

/* As two processes that meet the functions in another order. */
static void equal_rows_are_in_the_order_of_their_names(void **state)
{
	static const uint64_t met[][3] = { { 7, 3, 5 }, { 3, 5, 7 }, { 5, 7, 3 } };

	(void)state;
	for (int turn = 0; turn < 3; turn++) {
		struct world world = world_new();
		struct table *table;
		char got[64] = "";

		for (int i = 0; i < 3; i++) {
			struct taken taken = kernel_sample(NS_PER_SECOND, 4, 1, &met[turn][i]);

			world_take(&world, &taken);
		}
		world_take(&world, &(struct taken) { .time = NS_PER_SECOND, .weight = 9, .mode = MODE_USER,
			.process = 2, .user_count = 1, .user = { 0x308 } });
		table = ask(&world, 0, UINT64_MAX);
		table_sort_named(table, world.inputs.symbols, COLUMN_SELF);
		assert_string_equal(names_in_order(table, &world, got), "p2_3 k3 k5 k7 ");
		table_free(table);
		world_free(&world);
	}
}

static const char *cpus_text(uint64_t low, uint64_t second, size_t size)
{
	static char text[64];
	const struct table table = { .words = 2 };
	const struct row row = { .cpus = (uint64_t[]) { low, second } };

	return table_cpus(&table, &row, text, size);
}

static void cpus_are_told_as_ranges(void **state)
{
	(void)state;
	assert_string_equal(cpus_text(0, 0, 12), "");
	assert_string_equal(cpus_text(1, 0, 12), "0");
	assert_string_equal(cpus_text(0x27, 0, 12), "0-2,5");
	assert_string_equal(cpus_text(0x3, 0, 12), "0,1");
	assert_string_equal(cpus_text(~0ull, 1, 12), "0-64");
	assert_string_equal(cpus_text(0x5555, 0, 12), "0,2,4,6,8+");
	assert_string_equal(cpus_text(0x5, 0, 2), "+");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_may_be_many), cmocka_unit_test(a_caller_that_is_cut_off_loses_cpus),
		cmocka_unit_test(cpus_are_told_by_mode_and_second),
		cmocka_unit_test(rows_stand_in_the_order_of_a_column),
		cmocka_unit_test(equal_rows_are_in_the_order_of_their_names),
		cmocka_unit_test(cpus_are_told_as_ranges),
	};

	query_free(NULL);
	table_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
