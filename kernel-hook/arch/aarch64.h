/* SPDX-License-Identifier: MIT */
/*
 * ARM with 64 bits. Each header in arch/ has these same names. Any context.
 */
#ifndef KTOP_ARCH_AARCH64_H
#define KTOP_ARCH_AARCH64_H

#include <stdbool.h>
#include <stdint.h>

#include "no_ports.h"

#define KTOP_ARCH_NAME "aarch64"		/* as `uname -m` has it */

/*
 * What a function that keeps a frame pointer leaves on the stack: a record of this shape, so far
 * from where the frame pointer points, at a multiple of a word.
 */
struct ktop_frame {
	uint64_t fp, pc;
};
enum { KTOP_FRAME_OFFSET = 0, KTOP_WORD = 8, KTOP_WORD_BITS = 3 };

/* The lower half of addresses, of 52 bits at most. */
#define KTOP_USER_END (1ull << 52)

/* All that was read and written before, in memory or a device, comes before all that follows. */
static inline void ktop_barrier(void)
{
	__asm__ volatile("dsb sy" ::: "memory");
}

/* In a loop that waits for another CPU. */
static inline void ktop_relax(void)
{
	__asm__ volatile("yield");
}

/* A counter that goes on at a steady rate, also while the CPU is halted. */
static inline uint64_t ktop_cycles(void)
{
	uint64_t count;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(count) :: "memory");
	return count;
}

/* Masks interrupts on this CPU, and says what was; puts that back. */
static inline unsigned long ktop_mask(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, daif; msr daifset, #2" : "=r"(flags) :: "memory");
	return flags;
}

static inline void ktop_unmask(unsigned long flags)
{
	__asm__ volatile("msr daif, %0" :: "r"(flags) : "memory");
}

#endif
