/* SPDX-License-Identifier: MIT */
/* Linux's table of symbols in each of its forms: the names that fake_linux puts in must come out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/linux/kallsyms.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/linux/linux_kernel.h"
#include "tests/unit/fakes/fake_linux.h"

#define START64 UINT64_C(0xffffffff81000000)
#define START32 UINT64_C(0xc1000000)
#define STARTARM UINT64_C(0xffff800080000000)

enum { COUNT = 1000, ABSOLUTE = 3 };

struct world {
	struct fake_symbol symbols[COUNT];
	char names[COUNT][320];
	struct fake_linux fake;
	uint8_t *bytes;
	size_t size;
	struct kernel_bytes kernel;
	struct kallsyms kallsyms;
};

/* Makes short and long names, of letters and digits, some with tokens of more than one letter, and aliases. */
static void make(struct world *world, enum fake_shape shape, enum fake_order order, enum kallsyms_addresses kind)
{
	static const char types[] = "TtDdRrBbWwA";
	uint64_t start = shape == FAKE_ELF32 ? START32 : shape == FAKE_IMAGE ? STARTARM : START64;
	size_t absolute = kind == KALLSYMS_OFFSETS_PERCPU ? ABSOLUTE : 0;

	memset(world, 0, sizeof(*world));
	for (size_t i = 0; i < COUNT; i++) {
		struct fake_symbol *symbol = &world->symbols[i];
		int pad = i % 100 == 7 ? 290 : (int)(i % 9);

		snprintf(world->names[i], sizeof(world->names[i]), "%s_%zu%.*s", i % 3 ? "asm_exc_debug" : "do", i,
			pad, "_0123456789_abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_abcdefghijkl"
			"mnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJK"
			"LMNOPQRSTUVWXYZ_0123456789_abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
			"_abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		symbol->name = world->names[i];
		symbol->type = i < absolute ? 'A' : types[i % (sizeof(types) - 1)];
		symbol->address = i < absolute ? 0x40 * i : start + 0x10 * (i - i % 5 / 4);
	}
	world->fake = (struct fake_linux) {
		.shape = shape, .order = order, .kind = kind, .start = start,
		.symbols = world->symbols, .count = COUNT,
	};
	world->bytes = fake_linux(&world->fake, &world->size);
	assert_true(kernel_bytes_set(&world->kernel, world->bytes, world->size));
}

static void check_all(struct world *world)
{
	struct kallsyms_cursor cursor = { .index = 0 };

	for (size_t i = 0; i < world->fake.count; i++) {
		assert_true(kallsyms_next(&world->kallsyms, &cursor));
		assert_string_equal(cursor.name, world->symbols[i].name);
		assert_int_equal(cursor.size, strlen(cursor.name));
		assert_int_equal(cursor.type, world->symbols[i].type);
		assert_true(cursor.address == world->symbols[i].address);
		assert_int_equal(cursor.absolute, world->fake.kind == KALLSYMS_OFFSETS_PERCPU && i < ABSOLUTE);
	}
	assert_false(kallsyms_next(&world->kallsyms, &cursor));
}

static void each_form_is_read(void **state)
{
	static const struct {
		enum fake_shape shape;
		enum kallsyms_addresses kind;
	} forms[] = {
		{ FAKE_ELF64, KALLSYMS_OFFSETS_PERCPU }, { FAKE_ELF64, KALLSYMS_OFFSETS },
		{ FAKE_ELF64, KALLSYMS_WORDS }, { FAKE_ELF32, KALLSYMS_OFFSETS }, { FAKE_ELF32, KALLSYMS_WORDS },
		{ FAKE_IMAGE, KALLSYMS_OFFSETS },
	};
	struct world *world = util_alloc(sizeof(*world));

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		for (int order = FAKE_5_X; order <= FAKE_6_4; order++) {
			struct linux_kernel *kernel;

			if (order == FAKE_6_4 && forms[i].kind == KALLSYMS_WORDS)
				continue;	/* there was no such form */
			make(world, forms[i].shape, (enum fake_order)order, forms[i].kind);
			assert_true(kallsyms_find(&world->kernel, &world->kallsyms));
			assert_int_equal(world->kallsyms.count, COUNT);
			assert_int_equal(world->kallsyms.kind, forms[i].kind);
			kernel = linux_kernel_new(&world->kernel, &world->kallsyms, NULL);
			assert_non_null(kernel);
			assert_true(kernel->start == world->fake.start);
			check_all(world);
			linux_kernel_free(kernel);
			free(world->bytes);
		}
	}
	free(world);
}

/* As it lies in a guest's memory, without headers, at run addresses: its base has been written by its own start. */
static void it_is_found_in_memory(void **state)
{
	struct world *world = util_alloc(sizeof(*world));
	struct linux_kernel *kernel;

	(void)state;
	for (int order = FAKE_5_X; order <= FAKE_6_4; order++) {
		make(world, FAKE_ELF64, (enum fake_order)order, KALLSYMS_OFFSETS_PERCPU);
		free(world->bytes);
		world->bytes = fake_linux_memory(&world->fake, &world->size);
		world->kernel = (struct kernel_bytes) {
			.bytes = world->bytes, .size = world->size, .arch = ARCH_X86_64,
		};
		kernel_bytes_place(&world->kernel, START64);
		assert_true(kallsyms_find(&world->kernel, &world->kallsyms));
		check_all(world);
		kernel = linux_kernel_new(&world->kernel, &world->kallsyms, NULL);
		assert_non_null(kernel);
		assert_true(kernel->start == START64 && kernel->base == START64);
		linux_kernel_free(kernel);
		free(world->bytes);
	}
	free(world);
}

/* _text need not be the first byte: on riscv64 the head of the Image is before it. */
static void an_image_starts_before_its_text(void **state)
{
	static const struct fake_symbol symbols[] = {
		{ STARTARM, 'T', "_start" }, { STARTARM + 0x2000, 'T', "_text" }, { STARTARM + 0x2100, 'T', "first" },
		{ STARTARM + 0x2200, 'r', "a0123456789" },
	};
	struct fake_linux fake = {
		.shape = FAKE_IMAGE, .order = FAKE_6_4, .kind = KALLSYMS_OFFSETS, .start = STARTARM,
		.symbols = symbols, .count = sizeof(symbols) / sizeof(*symbols),
	};
	struct kernel_bytes bytes;
	struct kallsyms kallsyms;
	struct linux_kernel *kernel;
	size_t size;
	uint8_t *image = fake_linux(&fake, &size);

	(void)state;
	assert_true(kernel_bytes_set(&bytes, image, size) && kallsyms_find(&bytes, &kallsyms));
	kernel = linux_kernel_new(&bytes, &kallsyms, NULL);
	assert_non_null(kernel);
	free(image);
	assert_int_equal(kernel->landmarks[LANDMARK_TEXT], STARTARM + 0x2000);
	assert_int_equal(kernel->start, STARTARM);
	linux_kernel_free(kernel);
}

/* What a kernel tells of itself besides its symbols. */
static void a_kernel_tells_what_it_is(void **state)
{
	static const struct fake_symbol symbols[] = {
		{ 0x1f00, 'A', "current_task" }, { START64, 'T', "_text" }, { START64, 'T', "_stext" },
		{ START64 + 0x40, 'T', "asm_exc_divide_error" }, { START64 + 0x100, 'D', "linux_banner" },
		{ START64 + 0x180, 'D', "_etext" }, { START64 + 0x0200, 'r', "a0123456789" },
	};
	struct fake_linux fake = {
		.shape = FAKE_ELF64, .order = FAKE_6_4, .kind = KALLSYMS_OFFSETS_PERCPU, .start = START64,
		.symbols = symbols, .count = sizeof(symbols) / sizeof(*symbols),
	};
	struct kernel_bytes bytes;
	struct kallsyms kallsyms;
	struct linux_kernel *kernel;
	uint64_t address;
	size_t size;
	uint8_t *image = fake_linux(&fake, &size);

	(void)state;
	assert_true(kernel_bytes_set(&bytes, image, size) && kallsyms_find(&bytes, &kallsyms));
	kernel = linux_kernel_new(&bytes, &kallsyms, NULL);
	assert_non_null(kernel);
	free(image);
	assert_int_equal(kernel->arch, ARCH_X86_64);
	assert_memory_equal(kernel->banner, "Linux version 6.1.0-fake ", 25);
	assert_string_equal(kernel->version, "6.1.0-fake");
	assert_int_equal(kernel->build_id_size, FAKE_BUILD_ID_SIZE);
	assert_int_equal(kernel->build_id[19], 20);
	assert_true(linux_kernel_landmark(kernel, LANDMARK_DIVIDE_ERROR, &address) && address == START64 + 0x40);
	assert_true(linux_kernel_landmark(kernel, LANDMARK_CURRENT_TASK, &address) && address == 0x1f00);
	assert_true(linux_kernel_landmark(kernel, LANDMARK_BANNER, &address) && address == START64 + 0x100);
	assert_false(linux_kernel_landmark(kernel, LANDMARK_MODULES, &address));
	assert_null(kernel->orc);
	assert_ptr_equal(linux_kernel_hold(kernel), kernel);
	linux_kernel_free(kernel);
	linux_kernel_free(kernel);
	linux_kernel_free(NULL);
}

/* Each bit of the table may be wrong: the table is read to its end or refused, in bounded time. */
static void damage_is_survived(void **state)
{
	struct world *world = util_alloc(sizeof(*world));
	size_t found = 0, lost = 0;

	(void)state;
	make(world, FAKE_ELF64, FAKE_6_2, KALLSYMS_OFFSETS_PERCPU);
	for (size_t at = 0x1000 + 0x400; at < world->size; at += 61) {
		struct kallsyms_cursor cursor = { .index = 0 };

		world->bytes[at] ^= (uint8_t)(1 << at % 8);
		if (kallsyms_find(&world->kernel, &world->kallsyms)) {
			found++;
			while (kallsyms_next(&world->kallsyms, &cursor))
				assert_true(cursor.size <= KALLSYMS_NAME_MAX);
		} else {
			lost++;
		}
		world->bytes[at] ^= (uint8_t)(1 << at % 8);
	}
	assert_true(found > 0 && lost > 0);
	for (size_t size = 0x1000; size < world->size - 0x200; size += 997) {
		world->kernel.size = size;
		world->kernel.count = 0;
		kallsyms_find(&world->kernel, &world->kallsyms);
	}
	free(world->bytes);
	free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_is_read),
		cmocka_unit_test(it_is_found_in_memory),
		cmocka_unit_test(an_image_starts_before_its_text),
		cmocka_unit_test(a_kernel_tells_what_it_is),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests_name("kallsyms", tests, NULL, NULL);
}
