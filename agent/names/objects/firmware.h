/* SPDX-License-Identifier: MIT */
/*
 * Which firmware a machine of QEMU's has, by what lies in its memory: UEFI (EDK II) in the flash memory, U-Boot where
 * it was loaded. Both move to RAM early, where no address tells what they are. The bytes are the guest's: any at all.
 */
#ifndef FIRMWARE_H
#define FIRMWARE_H

#include <stdint.h>

#include "agent/base/arch_id.h"

struct memory_reader;

enum firmware { FIRMWARE_UNKNOWN, FIRMWARE_UEFI, FIRMWARE_UBOOT };

struct firmware_search {		/* starts zeroed */
	enum { FIRMWARE_BEGINS, FIRMWARE_SEARCHES, FIRMWARE_DONE } stage;
	uint64_t searched;		/* bytes of the place where U-Boot is loaded */
	enum firmware found;
};

/*
 * Goes on. Call it until it is FIRMWARE_DONE, each time that pages have come: `physical` reads a guest's memory by its
 * physical addresses. Reads a megabyte at most, and no device.
 */
void firmware_search(struct firmware_search *search, enum arch_id arch, const struct memory_reader *physical);

#endif
