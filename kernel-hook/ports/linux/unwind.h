/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Walks the kernel's stack with Linux' own unwinder, by ORC or frame pointers. It follows interrupt and exception
 * stacks by itself, and knows where a stack ends.
 */
#ifndef KTOP_UNWIND_H
#define KTOP_UNWIND_H

#include <stdint.h>

struct ktop_current;
struct ktop_regs;
struct ktop_wire_sample;

/*
 * NMI or irq off, in ktop_tick() or ktop_overflow(). Sets sample->flags and sample->exact, writes at most
 * KTOP_FRAMES_MAX addresses to `frames`, at any alignment, and returns how many there are.
 */
uint32_t ktop_unwind_kernel(const struct ktop_regs *regs, const struct ktop_current *now,
	struct ktop_wire_sample *sample, uint8_t *frames);

#endif
