/* SPDX-License-Identifier: MIT */
/* What the loader tells the kernel: Xen's PVH start information, version 1 (xen/arch-x86/hvm/start_info.h). */
#ifndef START_INFO_H
#define START_INFO_H

#include <stdint.h>

enum { START_MAGIC = 0x336ec578, MEMORY_FREE = 1 };

struct start_info {
	uint32_t magic, version, flags, modules;
	uint64_t module_list, command_line, acpi, memory_map;	/* physical addresses */
	uint32_t memory_pieces;
};

struct start_memory {
	uint64_t start, size;
	uint32_t type;			/* as in E820; MEMORY_FREE: usable */
	uint32_t reserved;
};

#endif
