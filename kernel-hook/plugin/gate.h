/* SPDX-License-Identifier: MIT */
/* Where a Linux kernel on x86-64 runs: what gate 0 of its IDT leads to. KASLR moves it in each boot. */
#ifndef PLUGIN_GATE_H
#define PLUGIN_GATE_H

#include <stdint.h>

#include "qemu.h"

#define GATE_FUNCTION "asm_exc_divide_error"

/* Each CPU's entry area begins with the IDT, at the same address in all kernels. */
#define GATE_ADDRESS UINT64_C(0xfffffe0000000000)
enum { GATE_SIZE = 16 };		/* bytes */

/* What these bytes lead to; 0: they are no gate of such a kernel. */
uint64_t gate_handler(const void *bytes);

/* On the CPU's thread. 0: there is no such kernel, or not yet. */
uint64_t gate_read(const struct qemu *qemu, struct qemu_cpu *cpu);

#endif
