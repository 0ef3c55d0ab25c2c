/* SPDX-License-Identifier: MIT */
/* Where a kernel runs, by the few places of its memory that each way reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/memory_reader.h"
#include "agent/base/util.h"
#include "agent/names/linux/kallsyms.h"
#include "agent/names/linux/linux_kernel.h"
#include "tests/unit/fakes/fake_linux.h"

#define START UINT64_C(0xffffffff81000000)
#define STARTARM UINT64_C(0xffff800080000000)
#define SLIDE UINT64_C(0x1e600000)
#define IDT UINT64_C(0xfffffe0000000000)
#define RAM UINT64_C(0x40200000)

static const struct fake_symbol symbols[] = {
	{ START, 'T', "_text" }, { START + 0x80, 'T', "asm_exc_divide_error" }, { START + 0x100, 'D', "linux_banner" },
	{ START + 0x200, 'T', "f0123456789" },
};

static const struct fake_symbol arm_symbols[] = {
	{ STARTARM, 'T', "_text" }, { STARTARM + 0x80, 'T', "vectors" }, { STARTARM + 0x200, 'T', "f0123456789" },
};

struct machine {
	struct linux_kernel *kernel;
	uint8_t *memory;		/* of the kernel, as it runs */
	size_t size;
	uint64_t at;			/* where that lies */
	uint8_t gate[16];
	unsigned reads;
};

static bool read_machine(void *context, uint64_t address, void *bytes, size_t size)
{
	struct machine *machine = context;

	machine->reads++;
	if (address == IDT && size <= sizeof(machine->gate)) {
		memcpy(bytes, machine->gate, size);
		return machine->gate[5];
	}
	if (address < machine->at || address - machine->at > machine->size ||
			size > machine->size - (address - machine->at))
		return false;
	memcpy(bytes, machine->memory + (address - machine->at), size);
	return true;
}

static void put_word(uint8_t *at, uint64_t word, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(word >> (8 * i));
}

/* Its base moves with it. */
static struct machine make(const struct fake_linux *fake, uint64_t slide)
{
	struct machine machine = { .at = fake->start + slide };
	struct kernel_bytes bytes;
	struct kallsyms kallsyms;
	size_t size;
	uint8_t *image = fake_linux(fake, &size);

	assert_true(kernel_bytes_set(&bytes, image, size) && kallsyms_find(&bytes, &kallsyms));
	machine.kernel = linux_kernel_new(&bytes, &kallsyms, NULL);
	assert_non_null(machine.kernel);
	free(image);
	machine.memory = fake_linux_memory(fake, &machine.size);
	put_word(machine.memory + (machine.kernel->base_place - fake->start), fake->start + slide, 8);
	return machine;
}

static void drop(struct machine *machine)
{
	linux_kernel_free(machine->kernel);
	free(machine->memory);
}

static void set_gate(struct machine *machine, uint64_t handler)
{
	put_word(machine->gate, handler, 2);
	put_word(machine->gate + 2, 0x10, 2);
	put_word(machine->gate + 4, 0x8e00, 2);
	put_word(machine->gate + 6, handler >> 16, 2);
	put_word(machine->gate + 8, handler >> 32, 4);
}

static const struct fake_linux x86 = {
	.shape = FAKE_ELF64, .order = FAKE_6_4, .kind = KALLSYMS_OFFSETS_PERCPU, .start = START,
	.symbols = symbols, .count = sizeof(symbols) / sizeof(*symbols),
};

static const struct fake_linux arm = {
	.shape = FAKE_IMAGE, .order = FAKE_6_2, .kind = KALLSYMS_OFFSETS, .start = STARTARM,
	.symbols = arm_symbols, .count = sizeof(arm_symbols) / sizeof(*arm_symbols),
};

static void by_the_gate(void **state)
{
	struct machine machine = make(&x86, SLIDE);
	const struct memory_reader memory = { .read = read_machine, .context = &machine };
	uint64_t slide = 1;

	(void)state;
	assert_false(slide_by_gate(machine.kernel, &memory, &slide));	/* no IDT yet */
	set_gate(&machine, START + SLIDE + 0x80);
	assert_true(slide_by_gate(machine.kernel, &memory, &slide) && slide == SLIDE);
	set_gate(&machine, START + 0x80);
	assert_true(slide_by_gate(machine.kernel, &memory, &slide) && slide == 0);
	slide = 1;
	set_gate(&machine, START + SLIDE + 0x88);	/* another kernel's */
	assert_false(slide_by_gate(machine.kernel, &memory, &slide));
	set_gate(&machine, START - 0x200000 + 0x80);
	assert_false(slide_by_gate(machine.kernel, &memory, &slide));
	set_gate(&machine, 0x400080);
	assert_false(slide_by_gate(machine.kernel, &memory, &slide));
	assert_int_equal(slide, 1);
	drop(&machine);
}

static void by_the_base(void **state)
{
	const struct fake_linux *fakes[] = { &x86, &arm };
	uint64_t slide = 1;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct machine machine = make(fakes[i], SLIDE);
		const struct memory_reader memory = { .read = read_machine, .context = &machine };

		assert_true(slide_by_base(machine.kernel, &memory, machine.at + 0x123456, &slide));
		assert_true(slide == SLIDE);
		assert_true(slide_by_base(machine.kernel, &memory, machine.at + 0x3123456, &slide));
		assert_true(slide == SLIDE);
		slide = 1;
		machine.reads = 0;
		assert_false(slide_by_base(machine.kernel, &memory, 0x400000, &slide));
		assert_false(slide_by_base(machine.kernel, &memory, UINT64_MAX, &slide));
		assert_in_range(machine.reads, 1, 200);
		machine.memory[machine.kernel->base_place - fakes[i]->start + 2] ^= 0x20;
		assert_false(slide_by_base(machine.kernel, &memory, machine.at + 0x123456, &slide));
		assert_int_equal(slide, 1);
		drop(&machine);
	}
}

static void by_physical_memory(void **state)
{
	struct machine machine = make(&arm, SLIDE);
	const struct memory_reader memory = { .read = read_machine, .context = &machine };
	uint64_t slide = 1;

	(void)state;
	machine.at = RAM;
	assert_true(slide_by_physical_base(machine.kernel, &memory, RAM, &slide) && slide == SLIDE);
	slide = 1;
	assert_false(slide_by_physical_base(machine.kernel, &memory, RAM + 8, &slide));
	assert_false(slide_by_physical_base(machine.kernel, &memory, 0, &slide));
	assert_int_equal(slide, 1);
	drop(&machine);
}

static void by_the_banner(void **state)
{
	struct machine machine = make(&x86, SLIDE), other = make(&arm, SLIDE);
	const struct memory_reader memory = { .read = read_machine, .context = &machine },
		others = { .read = read_machine, .context = &other };
	uint64_t slide = 1;

	(void)state;
	assert_true(slide_by_banner(machine.kernel, &memory, &slide) && slide == SLIDE);
	slide = 1;
	machine.memory[0x110] ^= 1;
	assert_false(slide_by_banner(machine.kernel, &memory, &slide));
	assert_in_range(machine.reads, 1, 2000);
	assert_false(slide_by_banner(other.kernel, &others, &slide));
	assert_int_equal(slide, 1);
	drop(&machine);
	drop(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_gate),
		cmocka_unit_test(by_the_base),
		cmocka_unit_test(by_physical_memory),
		cmocka_unit_test(by_the_banner),
	};

	return cmocka_run_group_tests_name("slide", tests, NULL, NULL);
}
