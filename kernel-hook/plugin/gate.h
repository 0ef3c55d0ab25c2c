/* SPDX-License-Identifier: MIT */
/*
 * Where a Linux kernel on x86-64 runs: KASLR moves it in each boot. The first entry of its interrupt table (IDT), gate
 * 0, has the address of GATE_FUNCTION.
 */
#ifndef PLUGIN_GATE_H
#define PLUGIN_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "../ktop.h"
#include "machine/qemu.h"

#define GATE_FUNCTION "asm_exc_divide_error"

/* Linux maps the IDT read-only at the start of the CPUs' entry areas, at the same address in all kernels. */
#define GATE_ADDRESS UINT64_C(0xfffffe0000000000)
enum { GATE_SIZE = 16 };		/* bytes */

/* The address in these GATE_SIZE bytes. 0: they are no gate of such a kernel. */
uint64_t gate_handler(const void *bytes);

/* On the CPU's thread. The address of GATE_FUNCTION. 0: no such kernel runs, or not yet. */
uint64_t gate_read(const struct qemu *qemu, struct qemu_cpu *cpu);

/*
 * As ktop_symbol_after, for a table of one symbol, GATE_FUNCTION at `gate`: it tells the host where the whole kernel
 * is. 0: it is not known, and the table is empty.
 */
bool gate_symbol(uint64_t gate, uint64_t from, struct ktop_symbol *symbol);

#endif
