/* SPDX-License-Identifier: MIT */
/* The barriers of a table of names, between the writer and the drainer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/base/name_table.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/weak/scenario.h"

enum { ROWS = 2 };

static struct {
	struct ktop_table table;
	_Alignas(8) uint8_t memory[ROWS * (sizeof(struct ktop_row) + 4)];
} names;
static uint64_t version, told;

/* Version N of a row has N words, each of them N. */
static void put_version(void)
{
	uint64_t words[KTOP_ROW_WORDS];

	version++;
	for (int i = 0; i < KTOP_ROW_WORDS; i++)
		words[i] = version;
	ktop_table_put(&names.table, (struct ktop_key) { .id = 7 }, words, (uint32_t)(8 * version));
}

static void name_set_up(void)
{
	ktop_table_init(&names.table, names.memory, ROWS, KTOP_EVENT_thread);
	version = told = 0;
	put_version();
}

static void put_versions(void)
{
	put_version();
	put_version();
}

static bool take_row(void)
{
	uint64_t words[KTOP_ROW_WORDS];
	uint32_t bytes = ktop_table_next(&names.table, words);

	for (uint32_t i = 0; i < bytes / 8; i++)
		if (words[i] != words[0] || words[i] != bytes / 8)
			scenario_wrong("a row is torn");
	if (bytes)
		told = words[0];
	return bytes;
}

static void take_rows(void)
{
	for (int i = 0; i < 4; i++)
		take_row();
}

static void the_last_version_is_told(void)
{
	while (take_row())
		;
	if (told != version)
		scenario_wrong("the last version is never told");
}

#define NAMES .set_up = name_set_up, .look = the_last_version_is_told, .memory = &names, \
	.size = sizeof(names), .threads = { { .run = put_versions }, { .run = take_rows } }

static void pair_5_a_row_is_read_whole_or_not_at_all(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { NAMES });
}

static void pair_8_a_change_is_never_passed_over(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { NAMES });
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_5_a_row_is_read_whole_or_not_at_all),
		cmocka_unit_test(pair_8_a_change_is_never_passed_over),
	};

	(void)count;
	scenario_filter(arguments);
	return cmocka_run_group_tests_name("table_barriers", tests, NULL, NULL);
}
