/* SPDX-License-Identifier: MIT */
/* The lines that tell ktop's plugin at which functions of a Linux kernel trace events happen. */
#include <stdarg.h>
#include <stdbool.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/memory_reader.h"
#include "agent/guest/trace_places.h"
#include "agent/names/kernel_function.h"
#include "agent/names/running_kernel.h"
#include "agent/names/symbols.h"
#include "tests/unit/fakes/fake_btf.h"
#include "tests/unit/fakes/fake_linux.h"
#include "tests/unit/fakes/scratch.h"

#define START UINT64_C(0xffffffff81000000)
#define SLIDE UINT64_C(0x1c000000)
#define IDT UINT64_C(0xfffffe0000000000)

static const struct fake_symbol symbols_of[] = {
	{ START, 'T', "_text" }, { START + 0x40, 'T', "schedule" }, { START + 0x80, 'T', "asm_exc_divide_error" },
	{ START + 0x100, 'D', "linux_banner" }, { START + 0x400, 'T', "do_syscall_64" },
	{ START + 0x440, 't', "try_to_wake_up.constprop.0" }, { START + 0x480, 't', "rcu_core_si.isra.0" },
	{ START + 0x4a0, 't', "rcu_core_si.isra.1" }, { START + 0x4c0, 't', "__handle_irq_event_percpu" },
	{ START + 0x500, 't', "__handle_irq_event_percpu.cold" }, { START + 0x540, 'T', "__do_softirq" },
	{ START + 0x580, 't', "run_timer_softirq" }, { START + 0x5c0, 'T', "the_last" },
};

/* An IDT, whose first gate leads to asm_exc_divide_error. */
static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	const uint64_t handler = START + SLIDE + 0x80;
	uint8_t gate[16] = { 0, 0, 0x10, 0, 0, 0x8e };

	(void)context;
	if (address != IDT || size != sizeof(gate))
		return false;
	memcpy(gate, &handler, 2);
	memcpy(gate + 6, (const uint8_t *)&handler + 2, 6);
	memcpy(bytes, gate, size);
	return true;
}

/* `told`: it has BTF. */
static struct symbols *kernel(bool told)
{
	static const uint8_t ips[8], entries[12] = { 0 };
	struct symbols *symbols = symbols_new(NULL);
	size_t size, btf_size;
	uint8_t *btf = fake_btf(true, 0, &btf_size), *image;
	const struct fake_part parts[] = {
		{ 0x2000, ips, sizeof(ips) }, { 0x2010, entries, sizeof(entries) }, { 0x2040, btf, btf_size },
	};
	const struct fake_linux fake = {
		.shape = FAKE_ELF64, .order = FAKE_6_2, .kind = KALLSYMS_OFFSETS_PERCPU, .start = START,
		.symbols = symbols_of, .count = sizeof(symbols_of) / sizeof(*symbols_of),
		.parts = parts, .parts_count = told ? 3 : 2,
	};
	char *error = NULL;

	image = fake_pack(fake_linux(&fake, &size), &size, FAKE_XZ);
	image = fake_bzimage(image, &size);
	if (!symbols_load_kernel(symbols, scratch_write("vmlinuz", image, size), &error))
		fail_msg("%s", error);
	free(image);
	free(btf);
	return symbols;
}

static void place(struct symbols *symbols)
{
	const struct memory_reader memory = { .read = read_memory };

	assert_true(running_kernel_place(symbols, &memory, 0));
}

static void next(struct trace_places *places, const struct symbols *symbols, const char *expected)
{
	char line[COMMANDS_LINE_MAX + 1];

	assert_true(trace_places_line(places, symbols, line));
	assert_string_equal(line, expected);
}

/* By run addresses; copies of the compiler's by prefix, older names, and what stands in structures. */
static void functions_that_the_kernel_has_are_told(void **state)
{
	struct symbols *symbols = kernel(true);
	struct trace_places places = { .states = true };
	char line[COMMANDS_LINE_MAX + 1], missing[1000];

	(void)state;
	assert_false(trace_places_line(&places, symbols, line));	/* it is not known where it runs */
	assert_false(trace_places_are_told(&places));
	place(symbols);
	next(&places, symbols, "place call ffffffff9d000400 ffffffff9d000440 0");
	next(&places, symbols, "place wake ffffffff9d000440 ffffffff9d000480 0");
	next(&places, symbols, "place irq ffffffff9d0004c0 ffffffff9d000500 2c");
	next(&places, symbols, "place softirqs ffffffff9d000540 ffffffff9d000580 0");
	next(&places, symbols, "place softirq ffffffff9d000580 ffffffff9d0005c0 1");
	assert_false(trace_places_line(&places, symbols, line));
	assert_true(trace_places_are_told(&places));
	assert_false(trace_places_line(&places, symbols, line));
	trace_places_missing(&places, missing, sizeof(missing));
	assert_ptr_equal(missing, strstr(missing,
		"sched_switch: no single __switch_to_asm; syscall_exit: no single syscall_exit_to_user_mode; "));
	assert_non_null(strstr(missing, "softirq: no single rcu_core_si"));	/* two are called so */
	assert_null(strstr(missing, "do_syscall_64"));
	assert_null(strstr(missing, "handle_softirqs"));
	trace_places_missing(&places, missing, 40);
	assert_int_equal(strlen(missing), 39);
	symbols_free(symbols);
}

/* Without BTF nothing tells where the states of threads, and the numbers of interrupts are. */
static void what_needs_structures_is_missing_without_them(void **state)
{
	struct symbols *symbols = kernel(false);
	struct trace_places places = { .next = 0 };
	char line[COMMANDS_LINE_MAX + 1], missing[1000];

	(void)state;
	place(symbols);
	next(&places, symbols, "place call ffffffff9d000400 ffffffff9d000440 0");
	next(&places, symbols, "place softirqs ffffffff9d000540 ffffffff9d000580 0");
	next(&places, symbols, "place softirq ffffffff9d000580 ffffffff9d0005c0 1");
	assert_false(trace_places_line(&places, symbols, line));
	trace_places_missing(&places, missing, sizeof(missing));
	assert_non_null(strstr(missing, "sched_wake: unknown structures in try_to_wake_up"));
	symbols_free(symbols);
}

static void a_name_means_one_function(void **state)
{
	struct symbols *symbols = kernel(true);
	struct kernel_function found;
	char *text;

	(void)state;
	place(symbols);
	kernel_function_find(symbols, "__handle_irq_event_percpu", &found);
	assert_true(found.function->address == START + SLIDE + 0x4c0 && !found.several && !found.copies);
	assert_true(found.cold->address == START + SLIDE + 0x500);
	assert_null(kernel_function_remark(&found, "__handle_irq_event_percpu"));
	text = kernel_function_line(&found, "an irq");
	assert_string_equal(text, "function +ffffffff9d0004c0 ffffffff9d000500 an_irq ffffffff9d000500 "
		"ffffffff9d000540");
	free(text);
	assert_true(kernel_function_at(symbols, START + 0x4c0, &found));
	assert_true(found.function->address == START + SLIDE + 0x4c0 && found.cold->address == START + SLIDE + 0x500);
	assert_true(kernel_function_at(symbols, START + 0x4a0, &found));
	assert_string_equal(found.function->name, "rcu_core_si.isra.1");
	assert_false(kernel_function_at(symbols, START + 0x4a4, &found));
	kernel_function_find(symbols, "try_to_wake_up", &found);
	assert_string_equal(found.function->name, "try_to_wake_up.constprop.0");
	assert_null(found.cold);
	kernel_function_find(symbols, "rcu_core_si", &found);
	assert_true(found.several && !found.function && found.copies == 2);
	assert_null(kernel_function_line(&found, "rcu_core_si"));
	text = kernel_function_remark(&found, "rcu_core_si");
	assert_non_null(strstr(text, "not traced: more than one is called so: "
		"rcu_core_si.isra.0 at 0xffffffff9d000480, rcu_core_si.isra.1 at 0xffffffff9d0004a0;"));
	free(text);
	kernel_function_find(symbols, "nothing", &found);
	assert_true(!found.count && !found.function && !found.several);
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_the_kernel_has_are_told),
		cmocka_unit_test(what_needs_structures_is_missing_without_them),
		cmocka_unit_test(a_name_means_one_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
