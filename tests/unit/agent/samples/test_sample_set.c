/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/samples/sample_set.h"

static struct set_function function_named(const char *name)
{
	return (struct set_function) { .name = name, .object = "kernel", .file = "" };
}

static uint32_t add_function(struct sample_set *set, const char *name)
{
	const struct set_function function = function_named(name);

	return sample_set_function(set, &function);
}

/* A stack of functions, of which each has a location of its own. */
static uint32_t add_stack(struct sample_set *set, uint32_t parent, const char *name, uint64_t address)
{
	const struct set_line line = { .function = add_function(set, name) };

	return sample_set_stack(set, parent, sample_set_location(set, address, SET_NONE, &line, 1), false);
}

static void equal_functions_are_one(void **state)
{
	struct sample_set *set = sample_set_new(NULL);
	struct set_function function = { .name = "a", .object = "b", .file = "c", .line = 1, .address = 2,
		.kind = SET_USER };
	char copy[] = "a";

	(void)state;
	assert_int_equal(sample_set_function(set, &function), 0);
	function.name = copy;
	assert_int_equal(sample_set_function(set, &function), 0);
	function.name = "aa";
	assert_int_equal(sample_set_function(set, &function), 1);
	function.object = "";
	assert_int_equal(sample_set_function(set, &function), 2);
	function.file = "b";
	assert_int_equal(sample_set_function(set, &function), 3);
	function.line = 2;
	assert_int_equal(sample_set_function(set, &function), 4);
	function.address = 3;
	assert_int_equal(sample_set_function(set, &function), 5);
	function.kind = SET_KERNEL;
	assert_int_equal(sample_set_function(set, &function), 6);
	assert_int_equal(sample_set_function(set, &function), 6);
	assert_int_equal(set->function_count, 7);
	copy[0] = 'x';
	assert_string_equal(set->functions[0].name, "a");
	assert_string_equal(set->functions[0].object, "b");
	assert_string_equal(set->functions[6].object, "");
	assert_string_equal(set->functions[6].file, "b");
	sample_set_free(set);
}

static void equal_objects_and_threads_are_one(void **state)
{
	struct sample_set *set = sample_set_new(NULL);
	struct set_object object = { .name = "libc.so", .path = "/lib/libc.so", .build_id = "ab", .start = 1,
		.end = 9 };
	struct set_thread thread = { .id = 1, .process = 2, .name = "t", .process_name = "p" };

	(void)state;
	assert_int_equal(sample_set_object(set, &object), 0);
	assert_int_equal(sample_set_object(set, &object), 0);
	object.offset = 4096;
	assert_int_equal(sample_set_object(set, &object), 1);
	object.end = 10;
	assert_int_equal(sample_set_object(set, &object), 2);
	object.build_id = "";
	assert_int_equal(sample_set_object(set, &object), 3);
	assert_int_equal(set->object_count, 4);
	assert_int_equal(set->objects[2].end, 10);
	assert_int_equal(sample_set_thread(set, &thread), 0);
	thread.process_name = "q";
	assert_int_equal(sample_set_thread(set, &thread), 1);
	thread.id = SET_NONE;
	assert_int_equal(sample_set_thread(set, &thread), 2);
	assert_int_equal(sample_set_thread(set, &thread), 2);
	assert_string_equal(set->threads[2].process_name, "q");
	sample_set_free(set);
}

static void locations_tell_what_is_inlined_apart(void **state)
{
	struct sample_set *set = sample_set_new(NULL);
	const struct set_line one[] = { { 0, 10 }, { 1, 20 } }, other[] = { { 0, 10 }, { 1, 21 } };

	(void)state;
	add_function(set, "inner");
	add_function(set, "outer");
	assert_int_equal(sample_set_location(set, 5, SET_NONE, one, 2), 0);
	assert_int_equal(sample_set_location(set, 5, SET_NONE, other, 2), 1);
	assert_int_equal(sample_set_location(set, 5, SET_NONE, one, 1), 2);
	assert_int_equal(sample_set_location(set, 6, SET_NONE, one, 2), 3);
	assert_int_equal(sample_set_location(set, 6, 0, one, 2), 4);
	assert_int_equal(sample_set_location(set, 5, SET_NONE, other, 2), 1);
	assert_int_equal(set->location_count, 5);
	assert_int_equal(set->lines[set->locations[1].first + 1].line, 21);
	sample_set_free(set);
}

static void stacks_are_read_from_the_root(void **state)
{
	struct sample_set *set = sample_set_new(NULL);
	uint32_t root = add_stack(set, SET_NONE, "root", 1), path[3], leaf;
	struct set_line lines[2], frames[4];

	(void)state;
	lines[0].function = add_function(set, "inner");
	lines[0].line = 7;
	lines[1].function = add_function(set, "outer");
	lines[1].line = 70;
	leaf = sample_set_stack(set, root, sample_set_location(set, 2, SET_NONE, lines, 2), false);
	assert_int_equal(sample_set_stack(set, root, 1, true), leaf + 1);
	assert_int_equal(sample_set_stack(set, root, 1, false), leaf);
	assert_int_equal(sample_set_path(set, leaf, path, 3), 2);
	assert_int_equal(path[0], 0);
	assert_int_equal(path[1], 1);
	assert_int_equal(sample_set_path(set, leaf, path, 1), 1);
	assert_int_equal(path[0], 1);
	assert_string_equal(sample_set_leaf(set, leaf)->name, "inner");
	assert_int_equal(sample_set_frames(set, leaf, frames, 4), 3);
	assert_string_equal(set->functions[frames[0].function].name, "root");
	assert_string_equal(set->functions[frames[1].function].name, "outer");
	assert_int_equal(frames[1].line, 70);
	assert_string_equal(set->functions[frames[2].function].name, "inner");
	assert_int_equal(sample_set_frames(set, leaf, frames, 2), 2);
	assert_string_equal(set->functions[frames[0].function].name, "outer");
	assert_string_equal(set->functions[frames[1].function].name, "inner");
	sample_set_free(set);
}

static void sums_of_the_same_stack_and_who_are_one(void **state)
{
	struct sample_set *set = sample_set_new(NULL);
	uint32_t stack = add_stack(set, SET_NONE, "root", 1);
	struct set_sum sum = { .stack = stack, .who = { .thread = SET_NONE, .cpu = 3, .mode = 1 }, .samples = 1,
		.weight = 2, .ns = 30 };

	(void)state;
	assert_int_equal(sample_set_add(set, &sum), 0);
	assert_int_equal(sample_set_add(set, &sum), 0);
	sum.who.cpu = SET_NONE;
	assert_int_equal(sample_set_add(set, &sum), 1);
	sum.who.mode = 0;
	assert_int_equal(sample_set_add(set, &sum), 2);
	assert_int_equal(set->sum_count, 3);
	assert_int_equal(set->sums[0].samples, 2);
	assert_int_equal(set->sums[0].weight, 4);
	assert_int_equal(set->sums[0].ns, 60);
	assert_int_equal(set->samples, 4);
	assert_int_equal(set->weight, 8);
	assert_int_equal(set->ns, 120);
	sample_set_free(set);
}

static void texts_may_be_long(void **state)
{
	struct sample_set *set = sample_set_new(NULL);
	char *text = util_alloc(100001);

	(void)state;
	for (uint32_t size = 1; size <= 100000; size *= 10) {
		memset(text, 'x', size);
		add_function(set, text);
	}
	assert_int_equal(set->function_count, 6);
	assert_int_equal(strlen(set->functions[5].name), 100000);
	assert_int_equal(strlen(set->functions[1].name), 10);
	assert_true(sample_set_tell(set, &(struct set_facts) { .machine = text, .kernel = "k", .version = "",
		.arch = "riscv64", .lost = 5 }));
	memset(text, 0, 10);
	assert_int_equal(strlen(set->facts.machine), 100000);
	assert_string_equal(set->facts.arch, "riscv64");
	assert_int_equal(set->facts.lost, 5);
	free(text);
	sample_set_free(set);
}

/* Adds stacks until the set is full. Returns how many there are. */
static uint32_t fill(struct sample_set *set)
{
	uint32_t parent = SET_NONE, count = 0;

	while (!sample_set_is_full(set) && count < 1000000) {
		char *name = util_format("function %u", count++);

		parent = add_stack(set, parent == SET_NONE ? 0 : parent, name, count);
		if (parent != SET_NONE)
			sample_set_add(set, &(struct set_sum) { .stack = parent, .weight = 1 });
		free(name);
	}
	return count;
}

static void memory_that_runs_out_is_told(void **state)
{
	struct budget *budget = budget_new(30);
	size_t left = budget_left(budget);
	struct sample_set *set = sample_set_new(budget);
	uint64_t weight;

	(void)state;
	assert_true(fill(set) < 1000000);
	assert_true(sample_set_is_full(set));
	weight = set->weight;
	assert_true(weight > 1000);
	assert_int_equal(add_stack(set, SET_NONE, "one more", 7), SET_NONE);
	assert_int_equal(set->weight, weight);
	assert_false(sample_set_tell(set, &(struct set_facts) { .machine = "a machine", .kernel = "", .version = "",
		.arch = "" }));
	assert_true(budget_left(budget) < left);
	sample_set_free(set);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

static void rows_come_in_order_of_time(void **state)
{
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);
	struct sample_set *set = sample_set_new(budget);
	struct row_list *list = row_list_new(budget);
	struct set_rows *one, *other;
	struct set_row row, again;

	(void)state;
	assert_null(set->rows);
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(row_list_add(list, &(struct set_row) { .time = i * 7919 % 1000, .sum = i, .samples = 1 }));
	row_list_give(list, set);
	one = set->rows->open(set->rows_context);
	other = set->rows->open(set->rows_context);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(set->rows->next(one, &row));
		assert_int_equal(row.time, i);
		assert_int_equal(row.sum * 7919 % 1000, i);
		assert_true(i % 2 || set->rows->next(other, &again));
	}
	assert_int_equal(again.time, 499);
	assert_false(set->rows->next(one, &row));
	assert_false(set->rows->failed(one));
	set->rows->close(one);
	set->rows->close(other);
	sample_set_free(set);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_functions_are_one),
		cmocka_unit_test(equal_objects_and_threads_are_one),
		cmocka_unit_test(locations_tell_what_is_inlined_apart),
		cmocka_unit_test(stacks_are_read_from_the_root),
		cmocka_unit_test(sums_of_the_same_stack_and_who_are_one),
		cmocka_unit_test(texts_may_be_long),
		cmocka_unit_test(memory_that_runs_out_is_told),
		cmocka_unit_test(rows_come_in_order_of_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
