/* SPDX-License-Identifier: MIT */
/* The symbols of the kernel, and what holds for all: lines, many addresses, two threads, memory that was out. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/mapped.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/settle.h"

static void test_kernel(void **state)
{
	struct symbols *symbols = with_kernel(map_text);

	(void)state;
	check(symbols, EVENT_KERNEL, 0xffffffff81000010, "startup_64", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff81001fff, "do_work", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff81002000, "vm::Cache::find", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff81003000, "evil?[2Jname", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffffc0000010, "probe", "virtio_net");
	check(symbols, EVENT_KERNEL, 0x1000, "[unknown]", "kernel");
	check(symbols, 7, 0xffffffff81001000, "[unknown]", "");
	assert_int_equal(
		at(symbols, EVENT_KERNEL, 0xffffffff81001fff)->address, 0xffffffff81001000);
	assert_ptr_equal(at(symbols, EVENT_KERNEL, 1), at(symbols, EVENT_KERNEL, 2));
	assert_ptr_not_equal(at(symbols, 7, 1), at(symbols, EVENT_KERNEL, 1));
	assert_string_equal(
		symbols_line(symbols, symbols_function(symbols, EVENT_KERNEL, 0xffffffff81001000)),
		"");
	symbols_free(symbols);
	symbols_free(NULL);
}

/* The table may come before or after the anchor; earlier answers change with either. */
static void test_slide(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	const char *path = scratch_text("System.map", map_text);
	uint64_t generation = symbols_generation(symbols);

	(void)state;
	check(symbols, EVENT_KERNEL, 0xffffffff9e001000, "[unknown]", "kernel");
	assert_false(symbols_set_anchor(symbols, "_text", 0xffffffff9e000000));
	assert_true(symbols_load_kernel(symbols, path, NULL));
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, EVENT_KERNEL, 0xffffffff9e001000, "do_work", "kernel");
	generation = symbols_generation(symbols);
	assert_true(symbols_set_anchor(symbols, "_text", 0xffffffff9e000000));
	assert_int_equal(symbols_generation(symbols), generation);
	assert_true(symbols_set_anchor(symbols, "do_work", 0x1000));
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, EVENT_KERNEL, 0x2000, "vm::Cache::find", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff9e001000, "[unknown]", "kernel");
	assert_false(symbols_set_anchor(symbols, "no such", 0x1000));
	check(symbols, EVENT_KERNEL, 0xffffffff81001000, "do_work", "kernel");
	symbols_free(symbols);
}

static void test_kernel_object_gives_bias(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	struct object object = object_of(EVENT_KERNEL, "kernel", 0xffffffff9e000000, 0x1d000000);

	(void)state;
	map(symbols, &object);
	check(symbols, EVENT_KERNEL, 0xffffffff9e001000, "do_work", "kernel");
	check(symbols, EVENT_KERNEL, 0xffffffff9e0ff000, "last", "kernel");
	symbols_free(symbols);
}

static void test_replaced(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	uint32_t before = symbols_function(symbols, EVENT_KERNEL, 0xffffffff81001000), after;

	(void)state;
	assert_true(symbols_load_kernel(
		symbols, scratch_text("other.map", "ffffffff81001000 T other\n"), NULL));
	after = symbols_function(symbols, EVENT_KERNEL, 0xffffffff81001000);
	assert_int_not_equal(before, after);
	assert_string_equal(symbols_get(symbols, before)->name, "do_work");
	assert_string_equal(symbols_get(symbols, after)->name, "other");
	symbols_drop_kernel(symbols);
	symbols_drop_kernel(symbols);
	check(symbols, EVENT_KERNEL, 0xffffffff81001000, "[unknown]", "kernel");
	assert_string_equal(symbols_get(symbols, after)->name, "other");
	symbols_free(symbols);
}

/* What the kernel's file does not have is told, and where it lies; what it has, or firmware, is not. */
static void test_code_outside(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	uint32_t unknown = symbols_function(symbols, EVENT_KERNEL, 0x200010);
	uint32_t user = symbols_function(symbols, 7, 0x5000);
	char text[SYMBOLS_OUTSIDE];

	(void)state;
	assert_string_equal(symbols_outside_note(symbols, NULL, 0, text), "");
	assert_string_equal(symbols_source(symbols, unknown), "");
	for (int i = 0; i < 60; i++)
		symbols_saw(symbols, EVENT_KERNEL, 0xffffffff81001000);
	symbols_saw(symbols, EVENT_KERNEL, 0x200010);
	assert_string_equal(symbols_outside_note(symbols, NULL, 0, text), "");
	assert_string_equal(symbols_source(symbols, unknown), "0x200000-0x200fff");
	for (uint64_t i = 0; i < 939; i++)
		symbols_saw(symbols, EVENT_KERNEL, 0x200100 + 0x10 * i);
	assert_string_equal(symbols_source(symbols, unknown), "0x200000-0x203fff");
	assert_non_null(strstr(symbols_outside_note(symbols, NULL, 0, text),
		"94 % of the kernel's samples lie outside System.map, at 0x200000-0x203fff: is it the file"));
	symbols_saw(symbols, EVENT_KERNEL, UINT64_MAX);
	assert_string_equal(symbols_source(symbols, unknown), "0x200000-0x203fff and others");
	symbols_saw(symbols, 7, 0x5008);
	assert_string_equal(symbols_source(symbols, user), "0x5000-0x5fff");
	assert_string_equal(symbols_source(symbols, symbols_function(symbols, EVENT_KERNEL, 0xffffffff81001000)), "");
	/* Long ago, it still is told: of the share that it has in all. */
	for (int i = 0; i < 2000; i++)
		symbols_saw(symbols, EVENT_KERNEL, 0xffffffff81001000);
	assert_non_null(strstr(symbols_outside_note(symbols, NULL, 0, text), "% of the kernel's samples lie"));
	assert_in_range(strtoul(text, NULL, 10), 28, 34);
	for (int i = 0; i < 17000; i++)
		symbols_saw(symbols, EVENT_KERNEL, 0xffffffff81001000);
	assert_string_equal(symbols_outside_note(symbols, NULL, 0, text), "");
	assert_memory_equal(symbols_source(symbols, unknown), "0x20", 4);
	symbols_free(symbols);
}

/* What ran before the kernel is its loader's; not so where that is most of all. */
static void test_early_code(void **state)
{
	struct symbols *symbols = with_kernel("80001000 T kernel_main\n80002000 T end\n");
	char text[SYMBOLS_OUTSIDE];

	(void)state;
	symbols_early(symbols, 0x200010);
	symbols_early_ends(symbols);
	for (int i = 0; i < 40; i++) {
		symbols_saw(symbols, EVENT_KERNEL, 0x200010);
		symbols_saw(symbols, EVENT_KERNEL, 0x80001000);
	}
	assert_string_equal(symbols_outside_note(symbols, NULL, 0, text), "");
	for (int i = 0; i < 80; i++)
		symbols_saw(symbols, EVENT_KERNEL, 0x200010);
	assert_non_null(strstr(symbols_outside_note(symbols, NULL, 0, text),
		"75 % of the kernel's samples lie outside System.map, at 0x200000-0x200fff: is it the file"));
	symbols_free(symbols);
}

static void check_refused(struct symbols *symbols, const char *path, const char *why)
{
	char *error = NULL;

	assert_false(symbols_load_kernel(symbols, path, &error));
	assert_non_null(strstr(error, path));
	assert_non_null(strstr(error, why));
	assert_non_null(strstr(error, "; "));
	free(error);
	check(symbols, EVENT_KERNEL, 0xffffffff81001000, "do_work", "kernel");
}

static void test_refused(void **state)
{
	struct symbols *symbols = with_kernel(map_text);
	char image[0x300] = { 0 };

	(void)state;
	memcpy(image + 0x202, "HdrS", 4);	/* of a boot protocol that is too old */
	check_refused(symbols, "/nonexistent/kernel", "No such file");
	check_refused(symbols, "/tmp", "Is a directory");
	/* Opening a pipe waits for its writer; only util_file.h does that, and with a bound. */
	assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
	check_refused(symbols, scratch_path("pipe"), "not a regular file");
	check_refused(symbols, scratch_write("bzImage", image, sizeof(image)), "older than Linux 2.6.26, or no Linux");
	check_refused(symbols, scratch_text("prose", "Hello.\n"), "neither ELF nor a list");
	check_refused(symbols, scratch_write("broken", "\177ELF\2\1\1", 7), "not an ELF file");
	build("program", "");
	scratch_run("strip -R .eh_frame -o bare program");
	check_refused(symbols, scratch_path("bare"), "or its code by --object FILE@ADDRESS");
	symbols_free(symbols);
}

static void test_elf_kernel_with_lines(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	uint64_t spin;
	uint32_t function;
	char *error = NULL;

	(void)state;
	build("image",
		"-mcmodel=kernel -fno-pic -no-pie -Wl,-Ttext=0xffffffff81000000 "
		"-Wl,--build-id=0x0123456789abcdef");
	spin = nm_address("image", "spin");
	if (!symbols_load_kernel(symbols, scratch_path("image"), &error))
		fail_msg("%s", error);
	assert_true(
		symbols_set_anchor(symbols, "_start", nm_address("image", "_start") + 0x200000));
	function = symbols_function(symbols, EVENT_KERNEL, spin + 0x200000 + 3);
	assert_string_equal(symbols_get(symbols, function)->name, "spin");
	assert_int_equal(symbols_get(symbols, function)->address, spin);
	assert_string_equal(await_line(symbols, function), "image.c:2");
	assert_string_equal(symbols_line(symbols, symbols_special(symbols, "[idle]")), "");
	assert_false(symbols_wrong_build(symbols, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8));
	assert_true(symbols_wrong_build(symbols, "\x01\x23\x45\x67\x89\xab\xcd\xee", 8));
	assert_false(symbols_wrong_build(symbols, "", 0));
	symbols_free(symbols);
}

static void test_specials(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	uint32_t idle = symbols_special(symbols, "[idle]");
	uint32_t missed = symbols_special(symbols, "[missed]");

	(void)state;
	assert_int_not_equal(idle, missed);
	assert_int_equal(symbols_special(symbols, "[idle]"), idle);
	assert_string_equal(symbols_get(symbols, idle)->name, "[idle]");
	assert_string_equal(symbols_get(symbols, idle)->object, "");
	assert_false(symbols_get(symbols, idle)->known);
	assert_int_equal(symbols_functions(symbols), 2);
	symbols_free(symbols);
}

/* A group is never a special function, and keeps the text of its column as it is. */
static void test_groups(void **state)
{
	struct symbols *symbols = symbols_new(NULL);
	uint32_t idle = symbols_special(symbols, "[idle]"), group = symbols_group(symbols, "[idle]", "");
	uint32_t thread = symbols_group(symbols, "work/7", "init/1");

	(void)state;
	assert_int_not_equal(idle, group);
	assert_true(symbols_get(symbols, group)->known);
	assert_string_equal(symbols_get(symbols, thread)->name, "work/7");
	assert_string_equal(symbols_get(symbols, thread)->object, "init/1");
	assert_int_equal(symbols_group(symbols, "work/7", "init/1"), thread);
	assert_int_not_equal(symbols_group(symbols, "work/7", "init/2"), thread);
	symbols_free(symbols);
}

static char *many_functions(size_t count)
{
	char *text = util_alloc(count * 40), *end = text;

	for (size_t i = 0; i < count; i++)
		end += sprintf(end, "%016lx T function_%zu\n", 0xffffffff81000000 + 64 * i, i);
	return text;
}

/* More addresses than the cache holds: answers stay right, and no function is made twice. */
static void test_many_addresses(void **state)
{
	enum { FUNCTIONS = 20000 };
	char *text = many_functions(FUNCTIONS);
	struct symbols *symbols = with_kernel(text);
	const struct function *first = at(symbols, EVENT_KERNEL, 0xffffffff81000000);

	(void)state;
	for (uint64_t offset = 0; offset < 64 * FUNCTIONS; offset++) {
		uint32_t function =
			symbols_function(symbols, EVENT_KERNEL, 0xffffffff81000000 + offset);

		if (symbols_get(symbols, function)->address !=
				0xffffffff81000000 + offset / 64 * 64)
			fail_msg("wrong at %lx", (unsigned long)offset);
	}
	assert_int_equal(symbols_functions(symbols), FUNCTIONS);
	assert_ptr_equal(at(symbols, EVENT_KERNEL, 0xffffffff81000000), first);
	assert_string_equal(first->name, "function_0");
	symbols_free(symbols);
	free(text);
}

/* Another thread reads the functions that exist, while the owner makes more. */
static void *read_functions(void *context)
{
	const struct symbols *symbols = context;
	size_t count = 0, sum = 0;

	while (count < 5000) {
		count = symbols_functions(symbols);
		for (size_t i = 0; i < count; i++)
			sum += strlen(symbols_get(symbols, (uint32_t)i)->name);
	}
	return (void *)(uintptr_t)(sum > 0);
}

static void test_two_threads(void **state)
{
	char *text = many_functions(5000);
	struct symbols *symbols = with_kernel(text);
	pthread_t reader;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&reader, NULL, read_functions, symbols), 0);
	for (uint64_t i = 0; i < 5000; i++)
		symbols_function(symbols, EVENT_KERNEL, 0xffffffff81000000 + 64 * i);
	assert_int_equal(pthread_join(reader, &result), 0);
	assert_non_null(result);
	symbols_free(symbols);
	free(text);
}

/* Builds `many` with one symbol, and `many.debug` with all: too many for a small budget. */
static void build_many(void)
{
	scratch_text("many.S", ".altmacro\n.macro one i\n.globl a_function_of_many_\\i\n"
		".type a_function_of_many_\\i, @function\na_function_of_many_\\i: ret\n"
		".size a_function_of_many_\\i, 1\n.endm\n.globl _start\n_start: jmp _start\n"
		".set i, 0\n.rept 40000\none %i\n.set i, i + 1\n.endr\n");
	scratch_run("gcc -g -nostdlib -static -no-pie -Wl,--build-id -o many many.S && "
		"objcopy --only-keep-debug many many.debug && nm many >many.names");
}

static bool settle_starved(struct symbols *symbols)
{
	uint64_t late = util_now() + 60 * NS_PER_SECOND;
	bool starved = false;

	for (symbols_step(symbols, &starved); symbols_reading(symbols); symbols_step(symbols, &starved)) {
		assert_true(util_now() < late);
		poll(NULL, 0, 1);
	}
	return starved;
}

/* Without memory, a stripped program has only its own few names. A remark says so, until memory is back. */
static void test_debug_file_when_memory_is_back(void **state)
{
	char *here = util_format("%s", scratch_path("."));
	const char *const folders[] = { here, NULL };
	struct object object = object_of(1, "many", 0x400000, 0);
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct symbols *symbols = symbols_new(budget);
	uint64_t start, last, told;
	size_t left;

	(void)state;
	build_many();
	start = nm_address("many", "_start");
	last = nm_address("many", "a_function_of_many_39999");
	scratch_run("strip -K _start many && objcopy --add-gnu-debuglink=many.debug many");
	left = budget_left(budget) - (512 << 10);
	assert_true(budget_take(budget, left));
	symbols_map(symbols, &object, folders);
	assert_true(settle_starved(symbols));
	check(symbols, 1, start, "_start", "many");
	assert_string_not_equal(at(symbols, 1, last)->name, "a_function_of_many_39999");
	assert_non_null(strstr(symbols_note(symbols, &told), "the functions of 1 program have no names"));
	assert_non_null(strstr(symbols_note(symbols, &told), "its debug file is not read: memory is full"));
	budget_give(budget, left);
	symbols_told_again(symbols);
	symbols_map(symbols, &object, folders);
	assert_false(settle_starved(symbols));
	check(symbols, 1, last, "a_function_of_many_39999", "many");
	check(symbols, 1, start, "_start", "many");
	assert_string_equal(symbols_note(symbols, &told), "");
	symbols_free(symbols);
	budget_release(budget);
	free(here);
}

/* A refusal is not final: an address without a function gets it once there is memory. */
static void test_functions_when_memory_is_back(void **state)
{
	static const uint64_t known[] = { 0xffffffff81001010, 0xffffffff81004010 };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct symbols *symbols = symbols_new(budget);
	const char *path = scratch_text("System.map", map_text);
	uint64_t generation;
	size_t left;

	(void)state;
	assert_true(symbols_load_kernel(symbols, path, NULL));
	assert_false(symbols_retry(symbols));
	left = budget_left(budget);
	assert_true(budget_take(budget, left));
	for (int i = 0; i < 2; i++)
		assert_string_equal(at(symbols, EVENT_KERNEL, known[i])->name, "[unknown]");
	assert_string_equal(at(symbols, EVENT_KERNEL, 0x10)->object, "");
	assert_int_equal(symbols_refused(symbols), 3);
	generation = symbols_generation(symbols);
	budget_give(budget, left);

	check(symbols, EVENT_KERNEL, 0xffffffff81003010, "evil?[2Jname", "kernel");
	assert_true(symbols_retry(symbols));
	assert_false(symbols_retry(symbols));
	assert_true(symbols_generation(symbols) > generation);
	check(symbols, EVENT_KERNEL, known[0], "do_work", "kernel");
	check(symbols, EVENT_KERNEL, known[1], "last", "kernel");
	check(symbols, EVENT_KERNEL, 0x10, "[unknown]", "kernel");
	assert_int_equal(symbols_refused(symbols), 0);
	symbols_free(symbols);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_slide),
		cmocka_unit_test(test_kernel_object_gives_bias),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_code_outside),
		cmocka_unit_test(test_early_code),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_elf_kernel_with_lines),
		cmocka_unit_test(test_specials),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many_addresses),
		cmocka_unit_test(test_debug_file_when_memory_is_back),
		cmocka_unit_test(test_functions_when_memory_is_back),
		cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
