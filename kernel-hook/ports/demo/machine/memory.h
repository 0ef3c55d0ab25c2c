/* SPDX-License-Identifier: MIT */
/* Between physical addresses and the kernel's own. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

#include "layout.h"

/* Any context. Where the kernel sees a physical address, which is below DIRECT_SIZE. */
static inline void *memory_at(uint64_t physical)
{
	return (void *)(DIRECT_BASE + physical);
}

/* Any context. The physical address of a place in the direct map or in the kernel's image. */
static inline uint64_t memory_physical(const void *address)
{
	uint64_t at = (uint64_t)address;

	return at >= KERNEL_BASE ? at - KERNEL_BASE : at - DIRECT_BASE;
}

#endif
