/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/names/linux/linux_kernel.h"
#include "agent/names/regions.h"

/* As Debian's: its header tells 16 MiB and a room of 60 MiB. */
static const struct linux_kernel debian = { .room = (16 + 60) << 20 };

static void check(const char *cpu, const struct linux_kernel *linux, uint64_t address, const char *name,
	const char *object)
{
	const struct region *region = region_find(cpu, linux, address);

	if (!region || strcmp(region->name, name) != 0 || strcmp(region->object, object) != 0)
		fail_msg("%s %#lx: %s", cpu, (unsigned long)address, region ? region->name : "nothing");
}

static void test_a_pc(void **state)
{
	static const char *const cpus[] = { "x86-64", "i386" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		check(cpus[i], NULL, 0x7c00, "[real-mode code]", "boot loader");
		check(cpus[i], NULL, 0xc0000, "[option ROM]", "firmware");
		check(cpus[i], NULL, 0xfffff, "[BIOS]", "firmware");
		check(cpus[i], NULL, 0xfffffff0, "[flash ROM]", "firmware");
		assert_null(region_find(cpus[i], NULL, 0x100000));
		check(cpus[i], &debian, 0x100000, "[decompressor]", "boot image");
		check(cpus[i], &debian, (76 << 20) - 1, "[decompressor]", "boot image");
		check(cpus[i], &debian, 76 << 20, "[firmware]", "firmware");
	}
	assert_null(region_find("x86-64", &debian, 0xffffffff81000000));
	assert_null(region_find("i386", &debian, 0xc1000000));
}

static void test_other_boards(void **state)
{
	(void)state;
	check("aarch64", NULL, 0x1000, "[flash ROM]", "firmware");
	assert_null(region_find("aarch64", NULL, 0x40200000));
	check("riscv64", NULL, 0x1000, "[reset ROM]", "firmware");
	check("riscv64", NULL, 0x80000000, "[OpenSBI]", "firmware");
	assert_null(region_find("riscv64", NULL, 0x80200000));
	assert_null(region_find("m68k", NULL, 0x7c00));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pc),
		cmocka_unit_test(test_other_boards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
