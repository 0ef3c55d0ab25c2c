/* SPDX-License-Identifier: MIT */
/* The guest's memory as a CPU sees it. RAM and ROM alone: a device would take a read for the CPU's own. */
#ifndef PLUGIN_MEMORY_H
#define PLUGIN_MEMORY_H

#include <stdint.h>

#include "qemu.h"

/* Up to `size` bytes from an address on; how many could be read. Changes nothing in the guest. */
uint32_t memory_read(const struct qemu *qemu, struct qemu_cpu *cpu, uint64_t address, void *to, uint32_t size);

/* Likewise by a physical address: all of the bytes, which lie in one page, or 0. */
uint32_t memory_read_physical(const struct qemu *qemu, uint64_t address, void *to, uint32_t size);

#endif
