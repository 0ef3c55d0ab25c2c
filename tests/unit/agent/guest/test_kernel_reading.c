/* SPDX-License-Identifier: MIT */
/* A kernel of which there is no file: its names and tables out of the guest's memory, whatever lies there. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/guest/kernel_reading.h"
#include "agent/names/function.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/symbols.h"
#include "agent/unwind/unwind.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/fake_btf.h"
#include "tests/unit/fakes/fake_linux.h"
#include "tests/unit/fakes/random.h"

#define CODE UINT64_C(0xffffffff9c000000)	/* what KASLR has chosen */
#define CONSTANTS (CODE + UINT64_C(0x200000))	/* the kernel's read-only data: the bytes of the fake */
#define IDT UINT64_C(0xfffffe0000000000)
#define BTF_AT UINT64_C(0x300000)		/* behind the first search */

enum { PAGE = 4096, MIB = 1 << 20 };

static struct fixture {
	uint8_t *bytes;			/* at `address` */
	size_t size;
	uint64_t address, absent;	/* `absent`: a page that is not there; 0: none */
	uint64_t pages;			/* that were asked for */
	struct symbols *symbols;
	struct guest_memory *memory;
	struct kernel_reading *reading;
	uint64_t now;
} guest;

static void set_up(enum arch_id arch)
{
	guest = (struct fixture) {
		.symbols = symbols_new(NULL), .memory = guest_memory_new(NULL), .now = NS_PER_SECOND,
	};
	guest.reading = kernel_reading_new(guest.symbols, guest.memory, NULL);
	guest.address = arch == ARCH_I386 ? UINT64_C(0xc1200000) : CONSTANTS;
	kernel_reading_saw(guest.reading, arch, arch == ARCH_I386 ? UINT64_C(0xc11ff123) : CODE + 0x123);
}

static void tear_down(void)
{
	kernel_reading_free(guest.reading);
	guest_memory_free(guest.memory);
	symbols_free(guest.symbols);
	free(guest.bytes);
}

/* `told`: its last symbol tells where its tables end. */
static void put_kernel_that(enum arch_id arch, enum fake_order order, bool told)
{
	static const char *const names[] = { "_text", "do_work_0123456789", "asm_exc_divide_error", "_etext" };
	struct fake_symbol symbols[5];
	size_t btf_size;
	uint8_t *btf = fake_btf(order != FAKE_6_4, 0, &btf_size);
	const struct fake_part parts[] = { { 0x2000, "", 1 }, { 0x2010, "", 1 }, { BTF_AT, btf, btf_size } };
	const struct fake_linux fake = {
		.shape = arch == ARCH_I386 ? FAKE_ELF32 : FAKE_ELF64, .order = order,
		.kind = arch == ARCH_I386 ? KALLSYMS_OFFSETS : KALLSYMS_OFFSETS_PERCPU,
		.start = guest.address, .symbols = symbols, .count = told ? 5 : 4, .parts = parts, .parts_count = 3,
	};

	for (int i = 0; i < 4; i++)
		symbols[i] = (struct fake_symbol) { guest.address + (uint64_t)i * 0x400, 'T', names[i] };
	symbols[4] = (struct fake_symbol) { guest.address + BTF_AT + btf_size, 'R', "__stop_BTF" };
	guest.bytes = fake_linux_memory(&fake, &guest.size);
	free(btf);
}

static void put_kernel(enum arch_id arch, enum fake_order order)
{
	put_kernel_that(arch, order, true);
}

static void read_page(uint64_t address, char *page)
{
	const uint64_t handler = CODE + 0x800;
	const uint8_t gate[16] = {
		(uint8_t)handler, (uint8_t)(handler >> 8), 0x10, 0, 0, 0x8e,
		(uint8_t)(handler >> 16), (uint8_t)(handler >> 24),
		0xff, 0xff, 0xff, 0xff,
	};
	uint64_t at = address - guest.address;

	memset(page, 0, PAGE);
	if (address == IDT)
		memcpy(page, gate, sizeof(gate));
	else if (at < guest.size)
		memcpy(page, guest.bytes + at, guest.size - at < PAGE ? guest.size - at : PAGE);
}

/* Gives the pages that are asked for. */
static void answer(void)
{
	char line[COMMANDS_LINE_MAX + 1], page[PAGE];
	unsigned long long address;
	unsigned count;

	while (guest_memory_ask(guest.memory, guest.now, line)) {
		assert_int_equal(sscanf(line, "read virtual %llx %u", &address, &count), 2);
		guest.pages += count;
		for (uint64_t at = address; count--; at += PAGE) {
			read_page(at, page);
			guest_memory_take(guest.memory, &(struct memory_bytes) {
				.address = at, .bytes = { .bytes = page, .size = at == guest.absent ? 0 : PAGE },
			});
		}
	}
}

/* Steps until it rests. Returns how often the symbols have learned something. */
static unsigned run(void)
{
	uint64_t late = util_now() + 60 * NS_PER_SECOND;
	unsigned news = 0;

	do {
		uint64_t before = guest.pages;

		assert_true(util_now() < late);
		news += kernel_reading_step(guest.reading, true, guest.now);
		answer();
		if (kernel_reading_searches(guest.reading))
			poll(NULL, 0, 1);
		else if (guest.pages == before && !kernel_reading_is_busy(guest.reading))
			break;
	} while (true);
	return news;
}

static void check(uint64_t address, const char *name)
{
	const struct function *function = symbols_get(guest.symbols,
		symbols_function(guest.symbols, EVENT_KERNEL, address));

	assert_string_equal(function->name, name);
	assert_string_equal(function->object, "kernel");
}

static void check_remark(const char *part)
{
	char text[256];

	kernel_reading_remark(guest.reading, text, sizeof(text));
	if (*part ? !strstr(text, part) : *text)
		fail_msg("\"%s\" has no \"%s\"", text, part);
}

static void names_come_first_and_tables_later(void **state)
{
	(void)state;
	for (int order = FAKE_5_X; order <= FAKE_6_4; order++) {
		unsigned news = 0;

		set_up(ARCH_X86_64);
		put_kernel(ARCH_X86_64, (enum fake_order)order);
		check_remark("");
		for (uint64_t late = util_now() + 60 * NS_PER_SECOND; !news && util_now() < late;) {
			news = kernel_reading_step(guest.reading, true, guest.now);
			if (!news && kernel_reading_is_busy(guest.reading))
				check_remark("MiB so far");
			answer();
		}
		assert_int_equal(news, 1);
		check(CONSTANTS + 0x410, "do_work_0123456789");
		check(CONSTANTS + 0x810, "asm_exc_divide_error");
		check_remark("tables are being read from the guest's memory: ");
		assert_true(kernel_reading_comes(guest.reading));
		assert_false(symbols_linux_kernel(guest.symbols)->layout.tasks);
		assert_int_equal(run(), 1);
		check(CONSTANTS + 0x410, "do_work_0123456789");
		assert_true(symbols_linux_kernel(guest.symbols)->layout.tasks);
		assert_int_equal(symbols_linux_kernel(guest.symbols)->start, CONSTANTS);
		assert_int_equal(symbols_kernel_slide(guest.symbols), 0);
		check_remark("");
		assert_in_range(guest.pages, guest.size / PAGE, guest.size / PAGE + 40);
		tear_down();
	}
}

/* A kernel may have no symbols but those of its code, as Debian's for arm64: then all is read. */
static void tables_whose_end_is_not_told_are_found(void **state)
{
	(void)state;
	set_up(ARCH_X86_64);
	put_kernel_that(ARCH_X86_64, FAKE_6_4, false);
	assert_int_equal(run(), 2);
	check(CONSTANTS + 0x410, "do_work_0123456789");
	assert_true(symbols_linux_kernel(guest.symbols)->layout.tasks);
	check_remark("");
	assert_in_range(guest.pages, guest.size / PAGE, guest.size / PAGE + 5 * MIB / PAGE);
	tear_down();
}

/* Without an IDT at a known address, it is read from the lowest code that was sampled on. */
static void an_i386_kernel_is_found_from_its_code(void **state)
{
	(void)state;
	set_up(ARCH_I386);
	put_kernel(ARCH_I386, FAKE_6_2);
	kernel_reading_saw(guest.reading, ARCH_I386, UINT64_C(0xfffc1234));	/* firmware */
	kernel_reading_saw(guest.reading, ARCH_I386, UINT64_C(0xd0001234));	/* a module */
	assert_true(run() > 0);
	check(UINT64_C(0xc1200410), "do_work_0123456789");
	tear_down();
}

static void a_page_that_is_absent_counts_as_zeros(void **state)
{
	(void)state;
	set_up(ARCH_X86_64);
	put_kernel(ARCH_X86_64, FAKE_6_4);
	guest.absent = CONSTANTS + 0x180000;
	assert_int_equal(run(), 2);
	check(CONSTANTS + 0x410, "do_work_0123456789");
	tear_down();
}

/* Some tries, each bounded, with a pause between them. */
static void memory_without_a_kernel_is_given_up(void **state)
{
	(void)state;
	set_up(ARCH_X86_64);
	for (int i = 0; i < 5; i++) {
		uint64_t before = guest.pages;

		assert_int_equal(run(), 0);
		assert_in_range(guest.pages - before, 0, 6 * MIB / PAGE);
		assert_int_equal(guest.pages != before, i < 3);
		check_remark("no table of symbols was found in the guest's memory");
		kernel_reading_saw(guest.reading, ARCH_X86_64, CODE + 0x123);
		assert_int_equal(run(), 0);
		guest.now += 11 * NS_PER_SECOND;
		kernel_reading_step(guest.reading, true, guest.now);
		kernel_reading_saw(guest.reading, ARCH_X86_64, CODE + 0x123);
	}
	tear_down();
}

/* Memory that never ends, of bytes that are no table. */
static void what_is_read_is_bounded(void **state)
{
	struct random random = { 1 };

	(void)state;
	set_up(ARCH_X86_64);
	guest.size = 80 * MIB;
	guest.bytes = util_alloc(guest.size);
	for (size_t i = 0; i < guest.size; i += 64)
		guest.bytes[i] = (uint8_t)(1 + random_below(&random, 255));	/* no page is zero */
	assert_int_equal(run(), 0);
	assert_in_range(guest.pages, 64 * MIB / PAGE, 64 * MIB / PAGE + 300);
	check_remark("no table of symbols");
	tear_down();
}

/* The guest damages its tables, or says that they end anywhere: what it gets is its own names, or none. */
static void a_guest_that_lies_gets_no_further(void **state)
{
	struct random random = { 7 };

	(void)state;
	for (int i = 0; i < 20; i++) {
		set_up(ARCH_X86_64);
		put_kernel(ARCH_X86_64, (enum fake_order)(i % 3));
		for (int damage = 0; damage < 1 + i % 5; damage++)
			guest.bytes[0x400 + random_below(&random, 0x1800)] ^= (uint8_t)(1 << random_below(&random, 8));
		run();
		assert_false(kernel_reading_is_busy(guest.reading));
		assert_in_range(guest.pages, 0, 65 * MIB / PAGE);
		tear_down();
	}
}

static void a_file_ends_it(void **state)
{
	(void)state;
	set_up(ARCH_X86_64);
	put_kernel(ARCH_X86_64, FAKE_6_4);
	while (!kernel_reading_is_busy(guest.reading)) {
		kernel_reading_step(guest.reading, true, guest.now);
		answer();
	}
	kernel_reading_stop(guest.reading);
	assert_false(kernel_reading_is_busy(guest.reading));
	check_remark("");
	tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_first_and_tables_later),
		cmocka_unit_test(tables_whose_end_is_not_told_are_found),
		cmocka_unit_test(an_i386_kernel_is_found_from_its_code),
		cmocka_unit_test(a_page_that_is_absent_counts_as_zeros),
		cmocka_unit_test(memory_without_a_kernel_is_given_up),
		cmocka_unit_test(what_is_read_is_bounded),
		cmocka_unit_test(a_guest_that_lies_gets_no_further),
		cmocka_unit_test(a_file_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
