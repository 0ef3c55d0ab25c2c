/* SPDX-License-Identifier: MIT */
/* Memory over all machines: rows of the same allocator and place are one, whatever numbers the machines give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/fleet/fleet.h"

enum { MACHINES = 2 };

static const char *const names[MACHINES] = { "1 web", "2 db" };

static void give_kernel(struct fleet *fleet, size_t machine, const char *kernel)
{
	struct vitals *vitals = util_alloc(sizeof(*vitals));

	vitals->answer.kind = &vitals_kind;
	vitals->now = 100 * NS_PER_SECOND;
	strcpy(vitals->kernel, kernel);
	fleet_take(fleet, machine, &vitals->answer, util_now());
}

struct given {
	uint32_t allocator;
	uint64_t site, objects, bytes;
	const char *called, *title;
};

/* Two rows, with their totals, and the stacks of the first. */
static void give(struct fleet *fleet, size_t machine, const struct given rows[2], bool stacks)
{
	struct memory_table *table = util_alloc(sizeof(*table) + 2 * sizeof(struct memory_row));

	table->answer.kind = &memory_table_kind;
	table->now = table->to = 100 * NS_PER_SECOND;
	table->from = 90 * NS_PER_SECOND;
	table->traced = table->ages = true;
	table->counts.unmatched = 5;
	table->count = 2;
	table->rows = (struct memory_row *)(table + 1);
	for (int i = 0; i < 2; i++) {
		struct memory_total total = { .allocator = rows[i].allocator,
			.is = { rows[i].objects, rows[i].bytes } };

		table->rows[i] = (struct memory_row) { .allocator = rows[i].allocator, .site = rows[i].site,
			.is = total.is, .peak = 2 * rows[i].bytes, .oldest = 50 * NS_PER_SECOND };
		strcpy(table->rows[i].called, rows[i].called);
		strcpy(table->rows[i].title, rows[i].title);
		strcpy(total.called, rows[i].called);
		memory_total_add(table, &total);
	}
	if (stacks) {
		table->stacks_told = true;
		table->stacks_allocator = rows[0].allocator;
		table->stacks_site = rows[0].site;
		table->stack_count = 1;
		table->stacks = util_alloc(sizeof(*table->stacks));
		table->stacks[0].is = table->rows[0].is;
	}
	fleet_take(fleet, machine, &table->answer, util_now());
}

static const struct given web[] = { { 0, 7, 10, 1000, "slab", "node_new" }, { 1, 8, 2, 8192, "pages", "[unknown]" } },
	db[] = { { 5, 7, 1, 500, "slab", "node_new" }, { 6, 8, 1, 4096, "pages", "[unknown]" } };

static struct fleet *new_fleet(const char *kernel, const char *other, const struct memory_row *of)
{
	struct fleet *fleet = fleet_new(names, MACHINES, NULL);
	struct memory_request request;

	memset(&request, 0, sizeof(request));
	request.request.kind = &memory_table_kind;
	request.stacks = of != NULL;
	request.allocator = of ? of->allocator : 0;
	request.site = of ? of->site : 0;
	give_kernel(fleet, 0, kernel);
	give_kernel(fleet, 1, other);
	fleet_request(fleet, &request.request);
	assert_true(fleet_is_asked(fleet, &request.request));
	give(fleet, 0, web, of);
	give(fleet, 1, db, of);
	return fleet;
}

static void test_same_places(void **state)
{
	struct fleet *fleet = new_fleet("demo", "demo", NULL);
	struct memory_table *table = fleet_memory(fleet, util_now());
	struct memory_row slab;

	(void)state;
	assert_int_equal(table->count, 3);
	assert_string_equal(table->rows[0].title, "(1 web) [unknown]");
	assert_string_equal(table->rows[1].title, "(2 db) [unknown]");
	slab = table->rows[2];
	assert_string_equal(slab.title, "node_new");
	assert_int_equal(slab.is.objects, 11);
	assert_int_equal(slab.is.bytes, 1500);
	assert_int_equal(slab.peak, 3000);
	assert_true(slab.oldest && table->to > slab.oldest);
	assert_int_equal(table->counts.unmatched, 10);
	assert_int_equal(table->total_count, 2);
	assert_int_equal(table->totals[0].is.bytes + table->totals[1].is.bytes, 1500 + 8192 + 4096);
	answer_free(&table->answer);
	fleet_free(fleet);

	fleet = new_fleet("demo", "demo", &slab);
	assert_int_equal(fleet_own_request(fleet, 0, &memory_table_kind).memory.allocator, 0);
	assert_int_equal(fleet_own_request(fleet, 1, &memory_table_kind).memory.allocator, 5);
	assert_int_equal(fleet_own_request(fleet, 1, &memory_table_kind).memory.site, 7);
	table = fleet_memory(fleet, util_now());
	assert_int_equal(table->stack_count, 2);
	assert_int_equal(table->stacks[0].is.bytes, 1000);
	answer_free(&table->answer);
	fleet_free(fleet);
}

static void test_other_kernels(void **state)
{
	struct fleet *fleet = new_fleet("demo", "Linux", NULL);
	struct memory_table *table = fleet_memory(fleet, util_now());

	(void)state;
	assert_int_equal(table->count, 4);
	for (uint32_t i = 0; i < table->count; i++)
		assert_non_null(strchr(table->rows[i].title, '('));
	answer_free(&table->answer);
	fleet_free(fleet);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_places), cmocka_unit_test(test_other_kernels) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
