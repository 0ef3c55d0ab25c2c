/* SPDX-License-Identifier: MIT */
/*
 * RISC-V with 64 bits. Each header in arch/ has these same names. Any context.
 */
#ifndef KTOP_ARCH_RISCV64_H
#define KTOP_ARCH_RISCV64_H

#include <stdbool.h>
#include <stdint.h>

#include "no_ports.h"

#define KTOP_ARCH_NAME "riscv64"		/* as `uname -m` has it */

/*
 * What a function that keeps a frame pointer leaves on the stack: a record of this shape, so far
 * from where the frame pointer points, at a multiple of a word.
 */
struct ktop_frame {
	uint64_t fp, pc;
};
enum { KTOP_FRAME_OFFSET = -16, KTOP_WORD = 8, KTOP_WORD_BITS = 3 };

/* The longest of its page tables: five levels. */
#define KTOP_USER_END (1ull << 56)

/* All that was read and written before, in memory or a device, comes before all that follows. */
static inline void ktop_barrier(void)
{
	__asm__ volatile("fence iorw, iorw" ::: "memory");
}

/* In a loop that waits for another CPU. */
static inline void ktop_relax(void)
{
	__asm__ volatile(".word 0x0100000f");	/* PAUSE, a hint */
}

/* A counter that goes on at a steady rate, also while the CPU is halted. */
static inline uint64_t ktop_cycles(void)
{
	uint64_t time;

	__asm__ volatile("rdtime %0" : "=r"(time) :: "memory");
	return time;
}

/* Masks interrupts on this CPU, and says what was; puts that back. */
static inline unsigned long ktop_mask(void)
{
	unsigned long flags;

	__asm__ volatile("csrrci %0, sstatus, 2" : "=r"(flags) :: "memory");	/* SIE */
	return flags;
}

static inline void ktop_unmask(unsigned long flags)
{
	__asm__ volatile("csrs sstatus, %0" :: "r"(flags & 2) : "memory");
}

#endif
