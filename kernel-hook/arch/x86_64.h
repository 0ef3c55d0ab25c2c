/* SPDX-License-Identifier: MIT */
/*
 * x86-64. Each header in arch/ has the same names. All functions: any context.
 */
#ifndef KTOP_ARCH_X86_64_H
#define KTOP_ARCH_X86_64_H

#include <stdbool.h>
#include <stdint.h>

#include "ports.h"

#define KTOP_ARCH_NAME "x86_64"		/* as `uname -m` prints it */

/* 1: a function that calls nothing may save its caller's frame pointer alone (ktop_saves_fp_alone). */
#define KTOP_LEAF_SAVES_FP 0

/*
 * A function that keeps a frame pointer lays this frame record on the stack: KTOP_FRAME_OFFSET bytes from where the
 * frame pointer points, at a multiple of a word.
 */
struct ktop_frame {
	uint64_t fp, pc;
};
enum { KTOP_FRAME_OFFSET = 0, KTOP_WORD = 8, KTOP_WORD_BITS = 3 };

/* User addresses are below this, with page tables of four levels. */
#define KTOP_USER_END (1ull << 47)

/* All reads and writes before it, of memory and devices, come before all that follow it. */
static inline void ktop_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* To be called in a loop that waits for another CPU. */
static inline void ktop_relax(void)
{
	__asm__ volatile("pause");
}

/* A counter with a steady rate, which goes on while the CPU is halted. */
static inline uint64_t ktop_cycles(void)
{
	uint64_t low, high;		/* the upper halves of both registers are cleared */

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) :: "memory");
	return high << 32 | low;
}

/* Mask: masks interrupts on this CPU, and returns the state before. Unmask: sets that state again. */
static inline unsigned long ktop_mask(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) :: "memory");
	return flags;
}

static inline void ktop_unmask(unsigned long flags)
{
	__asm__ volatile("pushq %0; popfq" :: "r"(flags) : "memory", "cc");
}

#endif
