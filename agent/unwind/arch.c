/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "arch.h"

/*
 * On x86, a frame is {fp, pc} at the frame pointer, just below the caller's stack. aarch64 has the same
 * pair anywhere in the frame (AAPCS64, section 6.4.6), so the frame's end is only an estimate. riscv64 has
 * the pair below the frame pointer, which is the caller's stack pointer.
 */
static const struct arch archs[ARCHS] = {
	[ARCH_X86_64] = {
		.id = ARCH_X86_64, .word = 8, .registers = 17, .pc = 16, .sp = 7, .fp = 6,
		.link = ARCH_NO_REGISTER, .saved_fp = 0, .saved_pc = 8, .caller_sp = 16, .step = 1,
	},
	[ARCH_I386] = {
		.id = ARCH_I386, .word = 4, .registers = 9, .pc = 8, .sp = 4, .fp = 5,
		.link = ARCH_NO_REGISTER, .saved_fp = 0, .saved_pc = 4, .caller_sp = 8, .step = 1,
	},
	[ARCH_RISCV64] = {
		.id = ARCH_RISCV64, .word = 8, .registers = 33, .pc = 32, .sp = 2, .fp = 8,
		.link = 1, .saved_fp = -16, .saved_pc = -8, .caller_sp = 0, .step = 2,
	},
	[ARCH_AARCH64] = {
		.id = ARCH_AARCH64, .word = 8, .registers = 33, .pc = 32, .sp = 31, .fp = 29,
		.link = 30, .saved_fp = 0, .saved_pc = 8, .caller_sp = 16, .step = 4,
	},
};

const struct arch *arch_get(enum arch_id id)
{
	return id != ARCH_OTHER && id < ARCHS ? &archs[id] : NULL;
}

/* The bits above the address are a signature. Bit 55 tells in which half the address lies (Arm ARM, D8.10). */
uint64_t arch_code_address(const struct arch *arch, uint64_t value)
{
	uint64_t top = UINT64_C(0xffff) << 48;

	if (arch->id != ARCH_AARCH64)
		return value;
	return value >> 55 & 1 ? value | top : value & ~top;
}
