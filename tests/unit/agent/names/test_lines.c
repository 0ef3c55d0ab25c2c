/* SPDX-License-Identifier: MIT */
/* Lines and inlined functions, asked through symbols.h: which file they come from, and for which address. */
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/scratch.h"
#include "tests/unit/fakes/settle.h"

#define SLIDE 0x1e000000u
#define RUN (0xffffffff81000000u + SLIDE)

static const char source[] =
	"static inline int inner(volatile int *x)\n{\n"
	"\tasm volatile(\".globl deep\\ndeep: nop\");\n\treturn *x;\n}\n"
	"int outer(volatile int *x)\n{\n\tif (*x)\n\t\treturn inner(x) + 1;\n\treturn 0;\n}\n"
	"void _start(void)\n{\n}\n";

static const uint8_t build_id[] = { 0xab, 0x11, 0x22, 0x33 };

static void build(const char *name, const char *id)
{
	char *command = util_format("mkdir -p debug && gcc -O2 -g -nostdlib -ffreestanding -static "
		"-mcmodel=kernel -fno-pic -no-pie -Wl,--build-id=0x%s "
		"-Wl,-Ttext=0xffffffff81000000 -o %s kernel.c", id, name);

	scratch_text("kernel.c", source);
	scratch_run("rm -rf debug");
	scratch_run(command);
	free(command);
}

static uint64_t address_of(const char *file, const char *name)
{
	char *command = util_format("nm %s | awk '$3 == \"%s\" {print $1}' > address", file, name);
	uint64_t address;
	char *text;
	size_t size;

	scratch_run(command);
	text = scratch_read(scratch_path("address"), &size);
	address = strtoull(text, NULL, 16);
	assert_true(address != 0);
	free(text);
	free(command);
	return address;
}

static struct text text(const char *bytes)
{
	return (struct text) { .bytes = bytes, .size = strlen(bytes) };
}

/* A guest of that build that tells its kernel's functions itself; its kernel is moved by SLIDE. */
static struct symbols *told(const uint8_t *id, size_t size, const char *file)
{
	struct symbols *symbols = symbols_new(NULL);
	const struct object object = {
		.process = EVENT_KERNEL, .start = RUN, .end = RUN + 0x100000, .bias = SLIDE,
		.name = text("kernel"),
	};

	symbols_set_files(symbols, NULL, scratch_path("debug"), false);
	symbols_set_build(symbols, id, size, "6.1.0-test");
	symbols_map(symbols, &object, NULL);
	symbols_tell(symbols, address_of(file, "outer") + SLIDE, 64, text("outer"));
	return symbols;
}

static const char *await_line_at(struct symbols *symbols, uint64_t address)
{
	return await_line(symbols, symbols_function(symbols, EVENT_KERNEL, address));
}

/* Likewise the line of the code at an address, which need not be where its function starts. */
static const char *await_code_line(struct symbols *symbols, uint64_t address)
{
	uint64_t deadline = util_now() + 60 * NS_PER_SECOND;
	const char *line;

	while (!(line = symbols_line_at(symbols, EVENT_KERNEL, address))) {
		if (util_now() > deadline)
			fail_msg("nothing read in a minute");
		usleep(1000);
		symbols_lines_read(symbols);
	}
	return line;
}

/* The names of the inlined functions, each followed by a space; valid until the next call. */
static const char *await_inlined(struct symbols *symbols, uint64_t address)
{
	uint64_t deadline = util_now() + 60 * NS_PER_SECOND;
	static char names[256];
	struct inlined inlined;

	while (!symbols_inlined(symbols, EVENT_KERNEL, address, &inlined)) {
		if (util_now() > deadline)
			fail_msg("nothing read in a minute");
		usleep(1000);
	}
	names[0] = '\0';
	for (uint32_t i = 0; i < inlined.count; i++) {
		const struct function *function = symbols_get(symbols, inlined.functions[i]);

		assert_true(function->inlined && function->known && function->kernel);
		assert_string_equal(function->object, "kernel");
		strcat(strcat(names, function->name), " ");
	}
	return names;
}

/* No file was given: it is found by the guest's build-id, and the place in it by the guest's bias. */
static void test_told_kernel(void **state)
{
	struct symbols *symbols;
	uint64_t outer, deep;

	(void)state;
	build("vmlinux", "ab112233");
	outer = address_of("vmlinux", "outer") + SLIDE;
	deep = address_of("vmlinux", "deep") + SLIDE;
	scratch_run("mkdir -p debug/boot && cp vmlinux debug/boot/vmlinux-6.1.0-test");
	symbols = told(build_id, sizeof(build_id), "vmlinux");
	assert_string_equal(await_line_at(symbols, outer), "kernel.c:7");
	assert_string_equal(await_code_line(symbols, deep), "kernel.c:3");
	assert_int_equal(symbols_lines_read(symbols), 1);
	assert_string_equal(await_code_line(symbols, deep), "kernel.c:3");
	assert_int_equal(symbols_lines_read(symbols), 1);
	assert_string_equal(symbols_lines_at(symbols, EVENT_KERNEL, deep), "kernel.c:9\nkernel.c:3");
	assert_string_equal(await_code_line(symbols, 0x1000), "");
	assert_string_equal(await_inlined(symbols, deep), "inner ");
	assert_string_equal(await_inlined(symbols, outer), "");
	assert_string_equal(await_inlined(symbols, 0x1000), "");
	assert_string_equal(note_of(symbols), "");
	symbols_free(symbols);
}

static void test_another_build(void **state)
{
	struct symbols *symbols;

	(void)state;
	build("vmlinux", "cd112233");
	scratch_run("mkdir -p debug/boot && cp vmlinux debug/boot/vmlinux-6.1.0-test");
	symbols = told(build_id, sizeof(build_id), "vmlinux");
	assert_string_equal(await_line_at(symbols, address_of("vmlinux", "outer") + SLIDE), "");
	assert_string_equal(await_inlined(symbols, address_of("vmlinux", "deep") + SLIDE), "");
	assert_non_null(strstr(note_of(symbols), "vmlinux-6.1.0-test is not used: it is of another build"));
	symbols_free(symbols);
}

/* A stripped file with a list of symbols works like a file that has everything. */
static void test_given_kernel(void **state)
{
	const char *names[] = { "vmlinux", "bare", "System.map" };

	(void)state;
	build("vmlinux", "ab112233");
	scratch_run("mkdir -p debug && cp vmlinux debug/ && objcopy --strip-debug vmlinux bare");
	scratch_run("nm vmlinux > System.map");
	for (size_t i = 0; i < 3; i++) {
		struct symbols *symbols = symbols_new(NULL);

		symbols_set_files(symbols, NULL, scratch_path("debug"), false);
		assert_true(symbols_load_kernel(symbols, scratch_path(names[i]), NULL));
		symbols_set_build(symbols, build_id, sizeof(build_id), "6.1.0-test");
		assert_true(symbols_set_anchor(symbols, "outer",
			address_of("vmlinux", "outer") + SLIDE));
		assert_string_equal(
			await_line_at(symbols, address_of("vmlinux", "outer") + SLIDE), "kernel.c:7");
		assert_string_equal(
			await_inlined(symbols, address_of("vmlinux", "deep") + SLIDE), "inner ");
		symbols_free(symbols);
	}
}

/* A function that is inlined at several places, and asked for often, gets one id. */
static void test_one_of_each(void **state)
{
	struct symbols *symbols;
	uint64_t deep;
	size_t count;

	(void)state;
	build("vmlinux", "ab112233");
	deep = address_of("vmlinux", "deep") + SLIDE;
	scratch_run("mkdir -p debug && cp vmlinux debug/");
	symbols = told(build_id, sizeof(build_id), "vmlinux");
	await_inlined(symbols, deep);
	count = symbols_functions(symbols);
	for (int i = 0; i < 3; i++)
		assert_string_equal(await_inlined(symbols, deep + (uint64_t)(i % 2)), "inner ");
	assert_int_equal(symbols_functions(symbols), count);
	symbols_free(symbols);
}

/* A stripped program, as distributions ship it: names and lines are in its debug file. */
static void test_stripped_program(void **state)
{
	const char *const folders[] = { scratch_path("."), NULL };
	struct symbols *symbols = symbols_new(NULL);
	const struct object object = {
		.process = 7, .start = 0x401000, .end = 0x402000, .name = text("/bin/program"),
	};
	const struct function *function;

	(void)state;
	scratch_text("kernel.c", source);
	scratch_run("rm -rf debug && mkdir -p debug/.build-id/ab && "
		"gcc -O2 -g -nostdlib -ffreestanding -static -Wl,--build-id=0xab112233 "
		"-Wl,-Ttext=0x401000 -o program kernel.c && "
		"objcopy --only-keep-debug program debug/.build-id/ab/112233.debug && "
		"nm program > nm && strip program");
	symbols_set_files(symbols, NULL, scratch_path("debug"), false);
	symbols_map(symbols, &object, folders);
	settle(symbols);
	function = symbols_get(symbols,
		symbols_function(symbols, symbols_space(symbols, 7), 0x401000));
	assert_string_equal(function->name, "outer");
	assert_string_equal(function->object, "program");
	assert_string_equal(note_of(symbols), "");
	symbols_free(symbols);
}

/* A line without memory is counted, and read once there is memory. */
static void test_memory_comes_back(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct symbols *symbols = symbols_new(budget);
	uint64_t outer;
	size_t left;

	(void)state;
	build("vmlinux", "ab112233");
	outer = address_of("vmlinux", "outer");
	assert_true(symbols_load_kernel(symbols, scratch_path("vmlinux"), NULL));
	symbols_function(symbols, EVENT_KERNEL, outer);
	left = budget_left(budget);
	budget_charge(budget, left);
	assert_string_equal(await_line_at(symbols, outer), "");
	assert_int_equal(symbols_lines_refused(symbols), 1);
	budget_give(budget, left);
	assert_true(symbols_retry(symbols));
	assert_int_equal(symbols_lines_refused(symbols), 0);
	assert_string_equal(await_line_at(symbols, outer), "kernel.c:7");
	assert_false(symbols_retry(symbols));
	symbols_free(symbols);
	budget_release(budget);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told_kernel),
		cmocka_unit_test(test_another_build),
		cmocka_unit_test(test_given_kernel),
		cmocka_unit_test(test_one_of_each),
		cmocka_unit_test(test_stripped_program),
		cmocka_unit_test(test_memory_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
