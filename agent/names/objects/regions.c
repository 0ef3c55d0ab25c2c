/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "agent/names/linux/linux_kernel.h"
#include "regions.h"

#define LOADER "boot loader"
#define MIB (UINT64_C(1) << 20)

static const struct region pc[] = {
	{ 0x500, 0xa0000, "[real-mode code]", LOADER },		/* boot sectors, the setup code of a bzImage */
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

static const struct { const char *cpu; const struct region *regions; unsigned bits; } boards[] = {
	{ "x86-64", pc, 64 }, { "i386", pc, 32 }, { "aarch64", arm_virt, 64 }, { "riscv64", riscv_virt, 64 },
};

/*
 * Linux itself runs in the upper half of its addresses. What runs below, in the kernel's mode, is its decompressor,
 * within the room that its header tells, or firmware that has moved to memory. A BIOS has the decompressor begin at
 * 1 MiB, where UEFI has code of its own.
 */
static const struct region *below_kernel(const struct linux_kernel *linux, enum firmware firmware, uint64_t address)
{
	static const struct region decompressor = { .name = "[decompressor]", .object = "boot image" };
	static const struct region memory = { .name = "[firmware]", .object = REGION_FIRMWARE };
	static const struct region uefi = { .name = "[UEFI]", .object = REGION_FIRMWARE };
	static const struct region uboot = { .name = "[U-Boot]", .object = LOADER };
	uint64_t start = linux && firmware == FIRMWARE_UEFI ? linux->room_start : MIB;

	if (linux && address >= start && address < linux->room)
		return &decompressor;
	return firmware == FIRMWARE_UEFI ? &uefi : firmware == FIRMWARE_UBOOT ? &uboot : linux ? &memory : NULL;
}

const struct region *region_find(const char *cpu, const struct linux_kernel *linux, enum firmware firmware,
	uint64_t address)
{
	for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++) {
		if (strcmp(boards[i].cpu, cpu) != 0)
			continue;
		for (const struct region *region = boards[i].regions; region->name; region++)
			if (address >= region->start && address < region->end)
				return region;
		return address >> (boards[i].bits - 1) == 0 ? below_kernel(linux, firmware, address) : NULL;
	}
	return NULL;
}
