/* SPDX-License-Identifier: MIT */
/* Where a Linux kernel on x86-64 runs: what gate 0 of its IDT leads to. KASLR moves it in each boot. */
#ifndef PLUGIN_GATE_H
#define PLUGIN_GATE_H

#include <stdint.h>

#include "qemu.h"

#define GATE_FUNCTION "asm_exc_divide_error"

/* On the CPU's thread. 0: there is no such kernel, or not yet. */
uint64_t gate_read(const struct qemu *qemu, struct qemu_cpu *cpu);

#endif
