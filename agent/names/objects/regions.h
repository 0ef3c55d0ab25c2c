/* SPDX-License-Identifier: MIT */
/*
 * Names for code that runs before the kernel, or under it: firmware, boot loader, the kernel's own decompressor. They
 * come from the memory maps of QEMU's machines (pc and q35: hw/i386/pc.c; virt of arm: hw/arm/virt.c; virt of riscv:
 * hw/riscv/virt.c), which is where the hardware has them, and from the header of a Linux boot image. QEMU is not asked.
 * No symbols are known of such code: a region is all one function. UEFI and U-Boot move to RAM; where they
 * are there is not known. What runs at low addresses and is in no region is theirs.
 */
#ifndef REGIONS_H
#define REGIONS_H

#include <stdint.h>

#include "agent/base/arch_id.h"
#include "firmware.h"

struct linux_kernel;

#define REGION_FIRMWARE "firmware"	/* the object of those that are firmware; all others load the kernel */

struct region {
	uint64_t start, end;
	const char *name, *object;
};

extern const struct region region_moved;	/* firmware that has moved to memory, nobody knows which */

/*
 * `linux`: NULL if the kernel is no Linux, or not known. `firmware`: FIRMWARE_UNKNOWN also where the kernel may run at
 * low addresses. NULL: nothing is known there.
 */
const struct region *region_find(enum arch_id arch, const struct linux_kernel *linux, enum firmware firmware,
	uint64_t address);

#endif
