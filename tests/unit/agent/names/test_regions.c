/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/memory_reader.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/objects/objects.h"

/* As Debian's: its header tells 16 MiB and a room of 60 MiB. */
static const struct linux_kernel debian = { .room = (16 + 60) << 20, .room_start = 16 << 20 };

static void check(enum arch_id arch, const struct linux_kernel *linux, uint64_t address, const char *name,
	const char *object)
{
	const struct region *region = region_find(arch, linux, FIRMWARE_UNKNOWN, address);

	if (!region || strcmp(region->name, name) != 0 || strcmp(region->object, object) != 0)
		fail_msg("%d %#lx: %s", arch, (unsigned long)address, region ? region->name : "nothing");
}

static void test_a_pc(void **state)
{
	static const enum arch_id archs[] = { ARCH_X86_64, ARCH_I386 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		check(archs[i], NULL, 0x7c00, "[real-mode code]", "boot loader");
		check(archs[i], NULL, 0xa8000, "[SMM]", "firmware");
		check(archs[i], NULL, 0xc0000, "[option ROM]", "firmware");
		check(archs[i], NULL, 0xfffff, "[BIOS]", "firmware");
		check(archs[i], NULL, 0xfffffff0, "[flash ROM]", "firmware");
		assert_null(region_find(archs[i], NULL, FIRMWARE_UNKNOWN, 0x100000));
		check(archs[i], &debian, 0x100000, "[decompressor]", "boot image");
		check(archs[i], &debian, (76 << 20) - 1, "[decompressor]", "boot image");
		check(archs[i], &debian, 76 << 20, "[firmware]", "firmware");
	}
	assert_null(region_find(ARCH_X86_64, &debian, FIRMWARE_UNKNOWN, 0xffffffff81000000));
	assert_null(region_find(ARCH_I386, &debian, FIRMWARE_UNKNOWN, 0xc1000000));
}

static void test_other_boards(void **state)
{
	(void)state;
	check(ARCH_AARCH64, NULL, 0x1000, "[flash ROM]", "firmware");
	assert_null(region_find(ARCH_AARCH64, NULL, FIRMWARE_UNKNOWN, 0x40200000));
	check(ARCH_RISCV64, NULL, 0x1000, "[reset ROM]", "firmware");
	check(ARCH_RISCV64, NULL, 0x80000000, "[OpenSBI]", "firmware");
	assert_null(region_find(ARCH_RISCV64, NULL, FIRMWARE_UNKNOWN, 0x80200000));
	assert_null(region_find(ARCH_OTHER, NULL, FIRMWARE_UNKNOWN, 0x7c00));
}

/* ---- firmware that has moved to RAM ---- */

static void check_moved(enum arch_id arch, const struct linux_kernel *linux, enum firmware firmware, uint64_t address,
	const char *name)
{
	const struct region *region = region_find(arch, linux, firmware, address);

	assert_non_null(region);
	assert_string_equal(region->name, name);
}

static void test_moved_firmware(void **state)
{
	(void)state;
	check_moved(ARCH_X86_64, NULL, FIRMWARE_UEFI, 0x820000, "[UEFI]");
	check_moved(ARCH_X86_64, &debian, FIRMWARE_UEFI, 0x820000, "[UEFI]");
	check_moved(ARCH_X86_64, &debian, FIRMWARE_UEFI, 0xfe41000, "[UEFI]");
	check_moved(ARCH_X86_64, &debian, FIRMWARE_UEFI, 16 << 20, "[decompressor]");
	check_moved(ARCH_X86_64, &debian, FIRMWARE_UEFI, 0xfffffff0, "[flash ROM]");
	assert_null(region_find(ARCH_X86_64, NULL, FIRMWARE_UEFI, 0xffffffff81000000));
	check_moved(ARCH_AARCH64, NULL, FIRMWARE_UEFI, 0x47e00000, "[UEFI]");
	check_moved(ARCH_RISCV64, NULL, FIRMWARE_UBOOT, 0x80210000, "[U-Boot]");
	check_moved(ARCH_RISCV64, &(struct linux_kernel) { .room = 0 }, FIRMWARE_UBOOT, 0x9ff60000, "[U-Boot]");
	check_moved(ARCH_RISCV64, NULL, FIRMWARE_UBOOT, 0x80000000, "[OpenSBI]");
	assert_null(region_find(ARCH_RISCV64, NULL, FIRMWARE_UBOOT, 0xffffffff80000000));
}

/* A machine's physical memory: one text in it, and no page before it was asked for. */
static struct {
	uint64_t at;
	const char *text;
	size_t size;
	uint64_t come[2048];		/* pages that can be read */
	uint64_t wanted[2048];
	size_t come_count, wanted_count, reads;
} machine;

static bool has_page(uint64_t page)
{
	for (size_t i = 0; i < machine.come_count; i++)
		if (machine.come[i] == page)
			return true;
	return false;
}

static bool read_machine(void *context, uint64_t address, void *bytes, size_t size)
{
	bool all = true;

	(void)context;
	machine.reads++;
	for (uint64_t page = address / 4096; page <= (address + size - 1) / 4096; page++)
		if (!has_page(page)) {
			assert_true(machine.wanted_count < 2048);
			machine.wanted[machine.wanted_count++] = page;
			all = false;
		}
	if (!all)
		return false;
	memset(bytes, 0, size);
	for (size_t i = 0; i < machine.size; i++)
		if (machine.at + i >= address && machine.at + i < address + size)
			((char *)bytes)[machine.at + i - address] = machine.text[i];
	return true;
}

static uint64_t awaited(void *context)
{
	(void)context;
	return machine.wanted_count;
}

static enum firmware found(enum arch_id arch, uint64_t at, const char *text, size_t size)
{
	const struct memory_reader physical = { .read = read_machine, .awaited = awaited };
	struct firmware_search search = { .searched = 0 };
	int rounds = 0;

	memset(&machine, 0, sizeof(machine));
	machine.at = at;
	machine.text = text;
	machine.size = size;
	while (firmware_search(&search, arch, &physical), search.stage != FIRMWARE_DONE) {
		assert_true(machine.wanted_count && rounds++ < 300);
		for (size_t i = 0; i < machine.wanted_count && machine.come_count < 2048; i++)
			if (!has_page(machine.wanted[i]))
				machine.come[machine.come_count++] = machine.wanted[i];
		machine.wanted_count = 0;
	}
	assert_true(machine.come_count <= 260);		/* pages: a megabyte, and what is around it */
	return search.found;
}

static void test_firmware_is_found(void **state)
{
	static const char table[] = "\xde\x82\xb5\x96\xb2\x1f\xf7\x45\xba\xea\xa3\x66\xc5\x5a\x08\x2d";

	(void)state;
	assert_int_equal(found(ARCH_X86_64, 0xffffffd0, table, 16), FIRMWARE_UEFI);
	assert_int_equal(found(ARCH_I386, 0xffffffd0, table, 16), FIRMWARE_UEFI);
	assert_int_equal(found(ARCH_X86_64, 0xffffffd1, table, 16), FIRMWARE_UNKNOWN);
	assert_int_equal(found(ARCH_AARCH64, 40, "_FVH", 4), FIRMWARE_UEFI);
	assert_int_equal(found(ARCH_AARCH64, 0xbb65a, "U-Boot 2023.01", 14), FIRMWARE_UBOOT);
	assert_int_equal(found(ARCH_RISCV64, 0x20000028, "_FVH", 4), FIRMWARE_UEFI);
	assert_int_equal(found(ARCH_RISCV64, 0x802753e8, "U-Boot 2023.01", 14), FIRMWARE_UBOOT);
	assert_int_equal(found(ARCH_RISCV64, 0x80201ffb, "U-Boot 2023.01", 14), FIRMWARE_UBOOT); /* in two pages */
	assert_int_equal(found(ARCH_RISCV64, 0x80300100, "U-Boot 2023.01", 14), FIRMWARE_UNKNOWN);
	assert_int_equal(found(ARCH_RISCV64, 0x80200000, "U-Boot", 6), FIRMWARE_UNKNOWN);
	assert_int_equal(found(ARCH_OTHER, 0, "", 0), FIRMWARE_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pc),
		cmocka_unit_test(test_other_boards),
		cmocka_unit_test(test_moved_firmware),
		cmocka_unit_test(test_firmware_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
