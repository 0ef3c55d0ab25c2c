/* SPDX-License-Identifier: MIT */
/*
 * The guest's memory as a CPU sees it: only RAM and ROM. A device would take our read for one by the CPU, and act on
 * it. Where public.c stands in for QEMU, nothing tells a device from RAM: the caller has to know what is there.
 */
#ifndef PLUGIN_MEMORY_H
#define PLUGIN_MEMORY_H

#include <stdint.h>

#include "qemu.h"

/*
 * On the CPU's thread. Reads up to `size` bytes at a virtual address, through the CPU's present page tables. Returns
 * how many could be read, up to the first page without memory. Changes nothing in the guest.
 */
uint32_t memory_read(const struct qemu *qemu, struct qemu_cpu *cpu, uint64_t address, void *to, uint32_t size);

/* Likewise by a physical address: all of the bytes, which lie in one page, or 0. Where public.c stands in: 0. */
uint32_t memory_read_physical(const struct qemu *qemu, uint64_t address, void *to, uint32_t size);

#endif
