/* SPDX-License-Identifier: MIT */
/*
 * RISC-V, 64 bits. Each header in arch/ has the same names. All functions: any context.
 */
#ifndef KTOP_ARCH_RISCV64_H
#define KTOP_ARCH_RISCV64_H

#include <stdbool.h>
#include <stdint.h>

#include "no_ports.h"

#define KTOP_ARCH_NAME "riscv64"		/* as `uname -m` prints it */

/* 1: a function that calls nothing may save its caller's frame pointer alone (ktop_saves_fp_alone). */
#define KTOP_LEAF_SAVES_FP 1

/*
 * A function that keeps a frame pointer lays this frame record on the stack: KTOP_FRAME_OFFSET bytes from where the
 * frame pointer points, at a multiple of a word.
 */
struct ktop_frame {
	uint64_t fp, pc;
};
enum { KTOP_FRAME_OFFSET = -16, KTOP_WORD = 8, KTOP_WORD_BITS = 3 };

/* User addresses are below this, with page tables of five levels, the most there are. */
#define KTOP_USER_END (1ull << 56)

/* All reads and writes before it, of memory and devices, come before all that follow it. */
static inline void ktop_barrier(void)
{
	__asm__ volatile("fence iorw, iorw" ::: "memory");
}

/* To be called in a loop that waits for another CPU. */
static inline void ktop_relax(void)
{
	__asm__ volatile(".word 0x0100000f");	/* the instruction PAUSE, a hint */
}

/* A counter with a steady rate, which goes on while the CPU is halted. */
static inline uint64_t ktop_cycles(void)
{
	uint64_t time;

	__asm__ volatile("rdtime %0" : "=r"(time) :: "memory");
	return time;
}

/* Mask: masks interrupts on this CPU, and returns the state before. Unmask: sets that state again. */
static inline unsigned long ktop_mask(void)
{
	unsigned long flags;

	__asm__ volatile("csrrci %0, sstatus, 2" : "=r"(flags) :: "memory");	/* 2: the bit SIE */
	return flags;
}

static inline void ktop_unmask(unsigned long flags)
{
	__asm__ volatile("csrs sstatus, %0" :: "r"(flags & 2) : "memory");
}

#endif
