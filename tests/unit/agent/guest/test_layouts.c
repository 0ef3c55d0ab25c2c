/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/names/function.h"
#include "agent/names/objects/layouts.h"
#include "agent/names/objects/objects.h"
#include "agent/names/symbols.h"
#include "agent/store/stacks.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/intern.h"
#include "tests/unit/fakes/settle.h"

struct world {
	struct objects *objects;
	struct layouts *layouts;
};

static struct world world_new(void)
{
	struct objects *objects = objects_new(NULL);

	return (struct world) { .objects = objects, .layouts = layouts_new(objects, NULL) };
}

static void world_free(struct world *world)
{
	layouts_free(world->layouts);
	objects_free(world->objects);
}

static struct object object_of(uint32_t process, const char *name, uint64_t start, uint64_t end)
{
	return (struct object) {
		.process = process, .start = start, .end = end,
		.name = { .bytes = name, .size = strlen(name) },
	};
}

static bool map(struct world *world, uint32_t process, const char *name, uint64_t start,
	uint64_t end)
{
	struct object object = object_of(process, name, start, end);
	bool found;
	uint32_t mapping = objects_map(world->objects, &object, NULL, &found);

	assert_int_not_equal(mapping, OBJECTS_NONE);
	assert_false(found);
	return layouts_map(world->layouts, process, mapping);
}

static uint32_t space(struct world *world, uint32_t process)
{
	return layouts_space(world->layouts, process);
}

/* The name of the mapping at an address; "": nothing. */
static const char *at(struct world *world, uint32_t in, uint64_t address)
{
	const struct mapping *mapping = layouts_find(world->layouts, in, address);

	return mapping ? mapping->name : "";
}

static void the_same_program_is_one_space(void **state)
{
	struct world world = world_new();

	(void)state;
	map(&world, 1, "/bin/sort", 0x1000, 0x2000);
	map(&world, 2, "sort", 0x1000, 0x2000);
	map(&world, 3, "sort", 0x1000, 0x3000);
	map(&world, 4, "hash", 0x1000, 0x2000);
	assert_int_equal(space(&world, 1), space(&world, 2));
	assert_int_not_equal(space(&world, 1), space(&world, 3));
	assert_int_not_equal(space(&world, 1), space(&world, 4));
	assert_string_equal(at(&world, space(&world, 1), 0xfff), "");
	assert_string_equal(at(&world, space(&world, 1), 0x1000), "sort");
	assert_string_equal(at(&world, space(&world, 1), 0x1fff), "sort");
	assert_string_equal(at(&world, space(&world, 1), 0x2000), "");
	assert_string_equal(at(&world, space(&world, 4), 0x1000), "hash");
	assert_string_equal(layouts_note(world.layouts), "");
	world_free(&world);
}

/* The order in which a process's objects are told does not matter. */
static void libraries_make_a_space_too(void **state)
{
	struct world world = world_new();

	(void)state;
	map(&world, 1, "sort", 0x1000, 0x2000);
	map(&world, 1, "libc", 0x8000, 0x9000);
	map(&world, 1, "libm", 0x4000, 0x5000);
	map(&world, 2, "libm", 0x4000, 0x5000);
	map(&world, 2, "sort", 0x1000, 0x2000);
	assert_int_not_equal(space(&world, 1), space(&world, 2));
	map(&world, 2, "libc", 0x8000, 0x9000);
	assert_int_equal(space(&world, 1), space(&world, 2));
	assert_false(map(&world, 2, "libc", 0x8000, 0x9000));
	assert_int_equal(space(&world, 1), space(&world, 2));
	assert_string_equal(at(&world, space(&world, 1), 0x1000), "sort");
	assert_string_equal(at(&world, space(&world, 1), 0x4fff), "libm");
	assert_string_equal(at(&world, space(&world, 1), 0x8000), "libc");
	assert_string_equal(at(&world, space(&world, 1), 0x5000), "");
	world_free(&world);
}

static void a_mapping_takes_the_place_of_what_it_overlaps(void **state)
{
	struct world world = world_new();
	uint32_t before;

	(void)state;
	map(&world, 1, "a", 0x1000, 0x2000);
	map(&world, 1, "b", 0x2000, 0x3000);
	map(&world, 1, "c", 0x3000, 0x4000);
	map(&world, 1, "d", 0x4000, 0x5000);
	before = space(&world, 1);
	assert_false(map(&world, 1, "x", 0x2fff, 0x3001));
	assert_string_equal(at(&world, space(&world, 1), 0x1fff), "a");
	assert_string_equal(at(&world, space(&world, 1), 0x2ffe), "");
	assert_string_equal(at(&world, space(&world, 1), 0x3000), "x");
	assert_string_equal(at(&world, space(&world, 1), 0x3001), "");
	assert_string_equal(at(&world, space(&world, 1), 0x4000), "d");
	assert_string_equal(at(&world, before, 0x2ffe), "b");
	map(&world, 1, "all", 0, UINT64_MAX);
	assert_string_equal(at(&world, space(&world, 1), 0x1000), "all");
	assert_string_equal(at(&world, space(&world, 1), UINT64_MAX - 1), "all");
	world_free(&world);
}

/* A process id is used again by other programs: there are as many spaces as programs, and none grows. */
static void a_process_id_comes_again(void **state)
{
	static const char *const names[] = { "sort", "hash", "primes" };
	struct world world = world_new();
	uint32_t spaces[3];

	(void)state;
	for (uint32_t i = 0; i < 30000; i++) {
		map(&world, 7, names[i % 3], 0x1000, 0x2000 + i % 3);
		if (i < 3)
			spaces[i] = space(&world, 7);
		assert_int_equal(space(&world, 7), spaces[i % 3]);
	}
	assert_string_equal(at(&world, spaces[0], 0x1800), "sort");
	assert_string_equal(at(&world, spaces[1], 0x1800), "hash");
	for (uint32_t i = 0; i < 3 * LAYOUTS_ENTRIES_EACH; i++)
		map(&world, 7, "random", 0x10000 + 0x1000 * i, 0x11000 + 0x1000 * i);
	assert_string_equal(at(&world, space(&world, 7), 0x1800), "");
	assert_string_equal(at(&world, space(&world, 7), 0xf000 + 0x1000 *
		(uint64_t)(3 * LAYOUTS_ENTRIES_EACH)), "random");
	world_free(&world);
}

static void what_comes_late_names_what_came_early(void **state)
{
	struct world world = world_new();
	uint32_t one = space(&world, 1), two = space(&world, 2), sort;

	(void)state;
	assert_int_not_equal(one, two);
	assert_int_equal(space(&world, 1), one);
	assert_true(map(&world, 1, "sort", 0x1000, 0x2000));
	assert_true(map(&world, 2, "hash", 0x1000, 0x2000));
	assert_string_equal(at(&world, one, 0x1000), "sort");
	assert_string_equal(at(&world, two, 0x1000), "hash");
	sort = space(&world, 1);
	assert_int_not_equal(sort, one);
	assert_true(map(&world, 1, "libc", 0x8000, 0x9000));
	assert_string_equal(at(&world, one, 0x8000), "libc");
	assert_string_equal(at(&world, sort, 0x8000), "libc");
	map(&world, 3, "sort", 0x1000, 0x2000);
	assert_int_equal(space(&world, 3), sort);
	assert_false(map(&world, 3, "libc", 0x8000, 0x9000));
	map(&world, 1, "hash", 0x1000, 0x2000);
	assert_string_equal(at(&world, one, 0x1000), "sort");
	world_free(&world);
}

/* Processes of one program load different libraries at the same place: samples taken there before get no name. */
static void a_doubtful_name_is_none(void **state)
{
	struct world world = world_new();
	uint32_t sort;

	(void)state;
	map(&world, 1, "sort", 0x1000, 0x2000);
	map(&world, 2, "sort", 0x1000, 0x2000);
	map(&world, 3, "sort", 0x1000, 0x2000);
	sort = space(&world, 1);
	assert_true(map(&world, 1, "libc", 0x8000, 0x9000));
	assert_true(map(&world, 2, "libm", 0x8000, 0x9000));
	assert_false(map(&world, 3, "libz", 0x8000, 0x9000));
	assert_string_equal(at(&world, sort, 0x8000), "");
	assert_string_equal(at(&world, sort, 0x1000), "sort");
	assert_string_equal(at(&world, space(&world, 2), 0x8000), "libm");
	world_free(&world);
}

static void the_kernel_is_one_space(void **state)
{
	struct world world = world_new();

	(void)state;
	assert_int_equal(space(&world, EVENT_KERNEL), EVENT_KERNEL);
	assert_string_equal(at(&world, EVENT_KERNEL, 0x1000), "");
	assert_true(map(&world, EVENT_KERNEL, "net", 0x1000, 0x2000));
	assert_true(map(&world, EVENT_KERNEL, "disk", 0x3000, 0x4000));
	assert_false(map(&world, EVENT_KERNEL, "disk", 0x3000, 0x4000));
	assert_string_equal(at(&world, EVENT_KERNEL, 0x1000), "net");
	assert_string_equal(at(&world, EVENT_KERNEL, 0x3000), "disk");
	assert_true(map(&world, EVENT_KERNEL, "usb", 0x3000, 0x4000));
	assert_string_equal(at(&world, EVENT_KERNEL, 0x3000), "usb");
	assert_int_equal(space(&world, EVENT_KERNEL), EVENT_KERNEL);
	world_free(&world);
}

/* A process that is told late costs a space each time, but LAYOUTS_PRIVATE_MAX counts only those still untold. */
static void any_number_may_be_late(void **state)
{
	struct world world = world_new();
	uint32_t process, in = 0;

	(void)state;
	for (process = 0; process < 10 * LAYOUTS_PRIVATE_MAX; process++) {
		in = space(&world, process);
		map(&world, process, "sort", 0x1000, 0x2000);
		assert_string_equal(at(&world, in, 0x1000), "sort");
	}
	for (; in != LAYOUTS_UNKNOWN && process < LAYOUTS_MAX; process++) {
		in = space(&world, process);
		map(&world, process, "sort", 0x1000, 0x2000);
	}
	assert_true(process < LAYOUTS_MAX);
	assert_string_equal(at(&world, space(&world, process - 1), 0x1000), "sort");
	world_free(&world);
}

/* Whatever a guest makes up, the number of spaces is bounded, and what was known stays known. */
static void memory_is_bounded(void **state)
{
	struct world world = world_new();
	uint32_t first, i;

	(void)state;
	for (i = 0; i < LAYOUTS_PRIVATE_MAX; i++)
		assert_int_not_equal(space(&world, i), LAYOUTS_UNKNOWN);
	assert_int_equal(space(&world, i), LAYOUTS_UNKNOWN);
	assert_int_equal(space(&world, i + 1), LAYOUTS_UNKNOWN);
	map(&world, i, "sort", 0x1000, 0x2000);
	first = space(&world, i);
	assert_string_equal(at(&world, first, 0x1000), "sort");
	assert_string_equal(at(&world, LAYOUTS_UNKNOWN, 0x1000), "");
	assert_string_equal(layouts_note(world.layouts), "");
	for (i = 1; i < LAYOUTS_MAX + 10; i++) {
		map(&world, 1u << 20, "low", i & 0xff, 0x10000);
		map(&world, 1u << 20, "high", 0x10000 + (i >> 8), 0x20000);
		assert_true(space(&world, 1u << 20) < LAYOUTS_MAX);
	}
	assert_string_not_equal(layouts_note(world.layouts), "");
	map(&world, 2u << 20, "new", 0x1000, 0x2000);
	assert_int_equal(space(&world, 2u << 20), LAYOUTS_UNKNOWN);
	map(&world, 2u << 20, "sort", 0x1000, 0x2000);
	assert_int_equal(space(&world, 2u << 20), first);
	world_free(&world);
}

/* ---- what spaces are for ---- */

static void a_program_run_100000_times_is_one_set_of_stacks(void **state)
{
	const uint64_t kernel[] = { 0xffffffff81000000 }, user[] = { 0x1010, 0x1020 };
	const struct sample sample = {
		.kernel = kernel, .kernel_count = 1, .user = user, .user_count = 2,
	};
	struct symbols *symbols = symbols_new(NULL);
	struct stacks *stacks = stacks_new(NULL);
	uint64_t generation = 0;

	(void)state;
	for (uint32_t process = 1; process <= 100000; process++) {
		struct object object = object_of(process, "sort", 0x1000, 0x2000);
		uint32_t in;

		symbols_map(symbols, &object, NULL);
		in = symbols_space(symbols, process);
		assert_int_equal(intern(stacks, &sample, in), 2);
		assert_int_equal(symbols_function(symbols, in, 0x1010), 0);
		if (process == 1)
			generation = symbols_generation(symbols);
	}
	assert_int_equal(stacks_nodes(stacks), 3);
	assert_string_equal(symbols_get(symbols, 0)->object, "sort");
	assert_int_equal(symbols_generation(symbols), generation);
	assert_string_equal(note_of(symbols), "");
	stacks_free(stacks);
	symbols_free(symbols);
}

/* A boot may begin while the one before has all the memory. A sample without a space is counted. */
static void there_is_a_space_without_memory(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct objects *objects;
	struct layouts *layouts;
	size_t left = budget_left(budget);
	uint32_t process = 1;

	(void)state;
	assert_true(budget_take(budget, left));
	objects = objects_new(budget);
	layouts = layouts_new(objects, budget);
	assert_null(layouts_find(layouts, LAYOUTS_UNKNOWN, 0x1000));
	assert_null(layouts_find(layouts, EVENT_KERNEL, 0x1000));
	while (layouts_space(layouts, process) != LAYOUTS_UNKNOWN)
		process++;
	assert_int_equal(layouts_space(layouts, process), LAYOUTS_UNKNOWN);
	assert_int_equal(layouts_refused(layouts), 2);
	assert_string_equal(layouts_note(layouts), "");
	budget_give(budget, left);
	assert_int_not_equal(layouts_space(layouts, process), LAYOUTS_UNKNOWN);
	assert_int_equal(layouts_refused(layouts), 2);
	layouts_free(layouts);
	objects_free(objects);
	assert_int_equal(budget_left(budget), left);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_program_is_one_space),
		cmocka_unit_test(libraries_make_a_space_too),
		cmocka_unit_test(a_mapping_takes_the_place_of_what_it_overlaps),
		cmocka_unit_test(a_process_id_comes_again),
		cmocka_unit_test(what_comes_late_names_what_came_early),
		cmocka_unit_test(a_doubtful_name_is_none),
		cmocka_unit_test(the_kernel_is_one_space),
		cmocka_unit_test(any_number_may_be_late),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_program_run_100000_times_is_one_set_of_stacks),
		cmocka_unit_test(there_is_a_space_without_memory),
	};

	layouts_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
