/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "agent/names/linux/linux_kernel.h"
#include "regions.h"

#define LOADER "boot loader"
#define MIB (UINT64_C(1) << 20)

const struct region region_moved = { .name = "[firmware]", .object = REGION_FIRMWARE };

static const struct region pc[] = {
	{ 0x500, 0xa0000, "[real-mode code]", LOADER },		/* boot sectors, the setup code of a bzImage */
	{ 0xa0000, 0xc0000, "[SMM]", REGION_FIRMWARE },		/* elsewhere it is the screen's memory: no code */
	{ 0xc0000, 0xe0000, "[option ROM]", REGION_FIRMWARE },
	{ 0xe0000, 0x100000, "[BIOS]", REGION_FIRMWARE },
	{ 0xffc00000, 0x100000000, "[flash ROM]", REGION_FIRMWARE },
	{ 0 },
};
static const struct region arm_virt[] = {
	{ 0, 0x08000000, "[flash ROM]", REGION_FIRMWARE },
	{ 0 },
};
static const struct region riscv_virt[] = {
	{ 0x1000, 0x10000, "[reset ROM]", REGION_FIRMWARE },
	{ 0x20000000, 0x24000000, "[flash ROM]", REGION_FIRMWARE },
	{ 0x80000000, 0x80200000, "[OpenSBI]", REGION_FIRMWARE },
	{ 0 },
};

static const struct { const struct region *regions; unsigned bits; } boards[ARCHS] = {
	[ARCH_X86_64] = { pc, 64 }, [ARCH_I386] = { pc, 32 }, [ARCH_RISCV64] = { riscv_virt, 64 },
	[ARCH_AARCH64] = { arm_virt, 64 },
};

/*
 * Linux itself runs in the upper half of its addresses. What runs below, in the kernel's mode, is its decompressor,
 * within the room that its header tells, or firmware that has moved to memory. A BIOS has the decompressor begin at
 * 1 MiB, where UEFI has code of its own.
 */
static const struct region *below_kernel(const struct linux_kernel *linux, enum firmware firmware, uint64_t address)
{
	static const struct region decompressor = { .name = "[decompressor]", .object = "boot image" };
	static const struct region uefi = { .name = "[UEFI]", .object = REGION_FIRMWARE };
	static const struct region uboot = { .name = "[U-Boot]", .object = LOADER };
	uint64_t start = linux && firmware == FIRMWARE_UEFI ? linux->room_start : MIB;

	if (linux && address >= start && address < linux->room)
		return &decompressor;
	return firmware == FIRMWARE_UEFI ? &uefi : firmware == FIRMWARE_UBOOT ? &uboot : linux ? &region_moved : NULL;
}

const struct region *region_find(enum arch_id arch, const struct linux_kernel *linux, enum firmware firmware,
	uint64_t address)
{
	const struct region *region = boards[arch].regions;

	if (!region)
		return NULL;
	for (; region->name; region++)
		if (address >= region->start && address < region->end)
			return region;
	return address >> (boards[arch].bits - 1) == 0 ? below_kernel(linux, firmware, address) : NULL;
}
