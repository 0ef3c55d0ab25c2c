/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/boot_marks.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"

struct fixture {
	struct budget *budget;
	struct symbols *symbols;
	struct boot_marks marks;
	uint64_t now;
};

/* A PC whose kernel tells of one function below 4 GiB. */
static void set_up(struct fixture *fixture)
{
	*fixture = (struct fixture) { .budget = budget_new(64 << 20) };
	fixture->symbols = symbols_new(fixture->budget);
	symbols_set_board(fixture->symbols, ARCH_X86_64);
	symbols_tell(fixture->symbols, 0x200000, 0x1000, (struct text) { .bytes = "main", .size = 4 });
}

static void tear_down(struct fixture *fixture)
{
	symbols_free(fixture->symbols);
	budget_release(fixture->budget);
}

/* A sample each second: of the kernel's mode at this address; 0: of a program. */
static void saw(struct fixture *fixture, uint64_t address)
{
	const struct sample sample = {
		.mode = address ? MODE_KERNEL : MODE_USER, .kernel = &address, .kernel_count = address != 0,
	};

	fixture->now += NS_PER_SECOND;
	boot_marks_saw(&fixture->marks, &sample, fixture->now);
	boot_marks_tell_early(&fixture->marks, &sample, fixture->symbols);
}

static void check(struct fixture *fixture, const char *wanted)
{
	const struct boot_times times = boot_marks_tell(&fixture->marks, fixture->symbols);
	char text[128];

	assert_string_equal(boot_times_text(&times, text, sizeof(text)), wanted);
}

static void each_phase_begins_with_its_first_sample(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	saw(&fixture, 0xfffffff0);
	check(&fixture, "");
	saw(&fixture, 0xf1234);
	saw(&fixture, 0x7c00);
	saw(&fixture, 0x7c20);
	saw(&fixture, 0xffffffff81000000);
	check(&fixture, "firmware 1.00 s, loader 3.00 s, kernel 5.00 s");
	saw(&fixture, 0);
	saw(&fixture, 0);
	saw(&fixture, 0xffffffff82000000);
	check(&fixture, "firmware 1.00 s, loader 3.00 s, kernel 5.00 s, user 6.00 s");
	tear_down(&fixture);
}

/* A kernel in the lower half is known by its symbols; what is not known is no phase. */
static void a_kernel_of_low_addresses(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	saw(&fixture, 0xe0000);
	saw(&fixture, 0x900000);
	saw(&fixture, 0x200010);
	check(&fixture, "firmware 1.00 s, kernel 3.00 s");
	tear_down(&fixture);
}

/* A kernel that starts other CPUs by code below 1 MiB has not gone back to its loader. */
static void a_phase_does_not_come_after_a_later_one(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	saw(&fixture, 0xe0000);
	saw(&fixture, 0xffffffff81000000);
	saw(&fixture, 0x9a000);
	check(&fixture, "firmware 1.00 s, kernel 2.00 s");
	tear_down(&fixture);
}

/* Whoever comes later tells nothing of the boot, whatever runs then. */
static void a_boot_that_was_not_seen(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	check(&fixture, "");
	saw(&fixture, 0xffffffff81000000);
	saw(&fixture, 0);
	saw(&fixture, 0xe0000);
	check(&fixture, "");
	tear_down(&fixture);
}

/* A guest that runs everywhere: what is kept is bounded, and what came first stays. */
static void places_are_bounded(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	saw(&fixture, 0xe0000);
	saw(&fixture, 0xffffffff81000000);
	for (uint64_t i = 0; i < 4 * BOOT_PLACES; i++)
		saw(&fixture, 0x10000000 + (i << 16));
	assert_int_equal(fixture.marks.count, BOOT_PLACES);
	check(&fixture, "firmware 1.00 s, kernel 2.00 s");
	tear_down(&fixture);
}

static void name_is(struct fixture *fixture, uint64_t address, const char *name, const char *object)
{
	const struct function *function = symbols_get(fixture->symbols,
		symbols_function(fixture->symbols, EVENT_KERNEL, address));

	assert_string_equal(function->name, name);
	assert_string_equal(function->object, object);
}

/* What ran before the kernel, in no region, is firmware that has moved; what runs later is the kernel's. */
static void code_before_the_kernel_is_firmware(void **state)
{
	static const uint64_t samples[] = { 0xf1234, 0x7fba123, 0x100123, 0x200010, 0x300123, 0xe0123, 0x7fc0123 };
	struct fixture fixture;

	(void)state;
	for (size_t from = 0; from < 2; from++) {
		const char *object = from ? "kernel" : "firmware", *name = from ? "[unknown]" : "[firmware]";

		set_up(&fixture);
		for (size_t i = from; i < sizeof(samples) / sizeof(samples[0]); i++)
			saw(&fixture, samples[i]);
		name_is(&fixture, 0x7fba123, name, object);
		name_is(&fixture, 0x7fbaff0, name, object);
		name_is(&fixture, 0x7fbb000, "[unknown]", "kernel");
		name_is(&fixture, 0x100ff0, name, object);
		name_is(&fixture, 0x200010, "main", "kernel");
		name_is(&fixture, 0x300123, "[unknown]", "kernel");
		name_is(&fixture, 0x7fc0123, "[unknown]", "kernel");
		tear_down(&fixture);
	}
}

/* Whatever was sampled first: firmware where it moved to, or where it came from. */
static void the_order_of_early_samples_does_not_matter(void **state)
{
	static const uint64_t samples[] = { 0x7fba123, 0x7fbb123, 0x7fba456, 0xf1234, 0x200010 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		saw(&fixture, samples[i]);
	name_is(&fixture, 0x7fba123, "[firmware]", "firmware");
	name_is(&fixture, 0x7fbb123, "[firmware]", "firmware");
	name_is(&fixture, 0x7fbc123, "[unknown]", "kernel");
	tear_down(&fixture);
}

/* A kernel that nobody knows is not taken for firmware. */
static void without_a_kernel_nothing_ran_before_it(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	saw(&fixture, 0xf1234);
	saw(&fixture, 0x7fba123);
	name_is(&fixture, 0x7fba123, "[unknown]", "kernel");
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_phase_begins_with_its_first_sample),
		cmocka_unit_test(a_kernel_of_low_addresses),
		cmocka_unit_test(a_phase_does_not_come_after_a_later_one),
		cmocka_unit_test(a_boot_that_was_not_seen),
		cmocka_unit_test(places_are_bounded),
		cmocka_unit_test(code_before_the_kernel_is_firmware),
		cmocka_unit_test(the_order_of_early_samples_does_not_matter),
		cmocka_unit_test(without_a_kernel_nothing_ran_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
