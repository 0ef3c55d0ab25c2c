/* SPDX-License-Identifier: MIT */
/* Which addresses, and of which stacks so many bytes, are surely RAM, where nothing tells a device from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/plugin/machine/memory.h"
#include "kernel-hook/plugin/machine/qemu.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/ram.h"
#include "kernel-hook/wire.h"

#define TASK UINT64_C(0xffffc90000010000)
#define DEVICE UINT64_C(0xffffc90000020000)

static struct target_state kernel(enum ktop_arch arch, uint64_t sp)
{
	return (struct target_state) {
		.arch = (uint8_t)arch, .mode = KTOP_MODE_KERNEL, .flat = true, .space = 0x1000, .sp = sp,
	};
}

static void a_kernels_stack_is_read_up_to_its_end(void **unused)
{
	struct ram_stacks stacks = { .next = 0 };
	struct target_state state = kernel(KTOP_X86_64, TASK + 0x3f00);

	(void)unused;
	assert_int_equal(ram_stack(&stacks, &state), 0x100);
	state = kernel(KTOP_AARCH64, UINT64_C(0xffff800008003ff0));
	assert_int_equal(ram_stack(&stacks, &state), 0x10);
	state = kernel(KTOP_I386, 0xc1001ff0);
	assert_int_equal(ram_stack(&stacks, &state), 0x10);
}

/* Devices lie at physical addresses, and where programs have them mapped. */
static void a_stack_that_may_be_a_device_is_not_read(void **unused)
{
	struct ram_stacks stacks = { .next = 0 };
	struct target_state states[] = {
		kernel(KTOP_AARCH64, 0x08000800), kernel(KTOP_X86_64, 0xfee00000), kernel(KTOP_RISCV64, 0x10000000),
		kernel(KTOP_I386, 0xfed00100), kernel(KTOP_X86_64, 0x7fff12345000), kernel(KTOP_X86_64, TASK),
		kernel(KTOP_X86_64, TASK),
	};

	(void)unused;
	states[3].space = 0;		/* no page tables */
	states[5].mode = KTOP_MODE_USER;
	states[6].flat = false;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		assert_int_equal(ram_stack(&stacks, &states[i]), 0);
}

static void what_memory_tells_is_followed_to_stacks_alone(void **unused)
{
	struct ram_stacks stacks = { .next = 0 };
	struct target_state task = kernel(KTOP_X86_64, TASK + 0x2000), irq = kernel(KTOP_X86_64, TASK + 0x100000);

	(void)unused;
	assert_int_equal(ram_stack_at(&stacks, &irq, TASK + 0x1000), 0);
	assert_true(ram_stack(&stacks, &task) > 0);
	assert_int_equal(ram_stack_at(&stacks, &irq, TASK + 0x1000), 0x3000);
	assert_int_equal(ram_stack_at(&stacks, &irq, DEVICE), 0);
	assert_int_equal(ram_stack_at(&stacks, &irq, 0), 0);
	for (uint64_t i = 1; i <= RAM_STACKS; i++) {
		struct target_state other = kernel(KTOP_X86_64, DEVICE + i * 0x4000);

		assert_int_equal(ram_stack_at(&stacks, &irq, TASK), 0x4000);
		assert_int_equal(ram_stack(&stacks, &other), 0x4000);
	}
	assert_int_equal(ram_stack_at(&stacks, &irq, TASK), 0);
}

/* With page table isolation, entry code runs by a program's page tables, and has a stack of its own, or none yet. */
static void entry_code_does_not_map_the_kernel(void **unused)
{
	static const struct { enum ktop_arch arch; uint64_t sp; bool stack, maps; } cpus[] = {
		{ KTOP_X86_64, TASK, true, true }, { KTOP_X86_64, TASK, false, false },
		{ KTOP_X86_64, UINT64_C(0xfffffe0000002fd8), true, false },
		{ KTOP_X86_64, UINT64_C(0xfffffe0000131fd8), true, false },
		{ KTOP_X86_64, 0x7fff12345000, true, false },
		{ KTOP_X86_64, UINT64_C(0xffffffff82803e80), true, true },	/* the first thread's */
		{ KTOP_I386, 0xc1801e80, true, true }, { KTOP_I386, 0xff805f00, true, false },
		{ KTOP_AARCH64, UINT64_C(0xffff800008003ff0), true, true },
		{ KTOP_AARCH64, UINT64_C(0xffff800008003ff0), false, false },
		{ KTOP_RISCV64, UINT64_C(0xff20000000013eb0), true, true },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct target_state state = kernel(cpus[i].arch, cpus[i].sp);

		assert_int_equal(ram_maps_kernel(&state, cpus[i].stack), cpus[i].maps);
		state.mode = KTOP_MODE_USER;
		assert_false(ram_maps_kernel(&state, cpus[i].stack));
	}
}

/* ---- by QEMU's own functions: a page of RAM, whose end is a device ---- */

static uint64_t physical_page(struct qemu_cpu *cpu, uint64_t page)
{
	(void)cpu;
	return page;
}

static bool is_io(uint64_t address)
{
	return address >= 0x1f00;
}

static void read_physical(uint64_t address, void *to, uint64_t size, bool write)
{
	(void)to, (void)write;
	assert_true(address + size <= 0x1f00);
}

static void a_page_that_a_device_shares_is_no_ram_there(void **unused)
{
	const struct qemu qemu = {
		.cpu_get_phys_page_debug = physical_page, .cpu_physical_memory_is_io = is_io,
		.cpu_physical_memory_rw = read_physical,
	};
	uint8_t bytes[0x1000];

	(void)unused;
	assert_int_equal(memory_read(&qemu, NULL, 0x1800, bytes, 0x700), 0x700);
	assert_int_equal(memory_read(&qemu, NULL, 0x1800, bytes, 0x800), 0);
	assert_int_equal(memory_read(&qemu, NULL, 0x1f00, bytes, 8), 0);
}

static void only_what_cannot_be_a_device_is_read(void **unused)
{
	static const struct { const char *arch; uint64_t address; bool is; } places[] = {
		{ "x86_64", 0xffffffff81000000, true }, { "x86_64", 0xffffffffc0123000, true },
		{ "x86_64", 0xfffffe0000000000, true }, { "x86_64", 0xfffffffffefff000, true },
		{ "x86_64", 0xfffffe0000001000, false },
		{ "x86_64", 0xffffffff7ffff000, false },	/* EFI's */
		{ "x86_64", 0xffffffffff000000, false }, { "x86_64", 0xffffffffff5fd000, false },	/* the fixmap */
		{ "x86_64", 0xffffc90000000000, false },	/* vmalloc and ioremap */
		{ "x86_64", 0xffff8880000b8000, false }, { "x86_64", 0xfee00000, false },
		{ "riscv64", 0xffffffff80000000, true }, { "riscv64", 0xffffffc800000000, false },
		{ "aarch64", 0xffffffff81000000, false }, { "i386", 0xc1000000, false },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (ram_is(places[i].arch, places[i].address) != places[i].is)
			fail_msg("%s %llx", places[i].arch, (unsigned long long)places[i].address);
}

/* A CPU's data, and the records of threads: in the map of all RAM, wherever KASLR puts it, or in the kernel's data. */
static void records_lie_in_ram(void **unused)
{
	static const struct { const char *arch; uint64_t base, address; bool may; } places[] = {
		{ "x86_64", 0xffff88803ea00000, 0xffff88803ea1fbc0, true },
		{ "x86_64", 0xffff88803ea00000, 0xffff888002345680, true },
		{ "x86_64", 0xffff9d1b3ea00000, 0xffff9d1b02345680, true },
		{ "x86_64", 0xffff88803ea00000, 0xffffffff8280a940, true },	/* init_task */
		{ "x86_64", 0xffffffff82fc0000, 0xffffffff8280a940, true },	/* early in a boot */
		{ "x86_64", 0xffff88803ea00000, 0xffffc90000004000, false },	/* a device */
		{ "x86_64", 0xffff88803ea00000, 0xffff898000000000, false },	/* 1 TiB behind */
		{ "x86_64", 0xffff88803ea00000, 0xffffffffff5fd000, false },	/* the fixmap */
		{ "x86_64", 0xffff88803ea00000, 0x7fff00001000, false },
		{ "x86_64", 0, 0xffff888002345680, false }, { "x86_64", 0, 0xffffffff8280a940, false },
		{ "aarch64", 0xffff000002345680, 0xffff000002345680, false },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (ram_is_record(places[i].arch, places[i].base, places[i].address) != places[i].may)
			fail_msg("%s %llx", places[i].arch, (unsigned long long)places[i].address);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_cannot_be_a_device_is_read), cmocka_unit_test(records_lie_in_ram),
		cmocka_unit_test(a_kernels_stack_is_read_up_to_its_end),
		cmocka_unit_test(a_stack_that_may_be_a_device_is_not_read),
		cmocka_unit_test(what_memory_tells_is_followed_to_stacks_alone),
		cmocka_unit_test(entry_code_does_not_map_the_kernel),
		cmocka_unit_test(a_page_that_a_device_shares_is_no_ram_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
