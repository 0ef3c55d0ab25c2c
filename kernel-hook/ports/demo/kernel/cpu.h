/* SPDX-License-Identifier: MIT */
/* What each CPU has for itself. */
#ifndef CPU_H
#define CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/x86.h"

struct thread;

/* Intel SDM 3A, section 8.7. */
struct cpu_state {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3, io_map;
} __attribute__((packed));

struct cpu {
	/* entry.S knows the places of these two */
	uint64_t kernel_stack;		/* of the current thread, its end */
	uint64_t user_stack;		/* kept for a few instructions of a system call */

	/* fixed after start-up */
	uint32_t number;		/* its place in the MADT, which is QEMU's cpu-index */
	uint32_t apic;
	struct thread *idle;

	/* written by this CPU with interrupts off; `current` and `halted` are read in NMI */
	struct thread *current;
	struct thread *previous;	/* whose stack was left by the last switch */
	bool halted;			/* by the idle loop, and nothing has come up since */
	struct thread *sleepers;	/* the first to wake is first */
	uint64_t next_tick, next_sample;	/* clock; 0: none */

	/* written by any CPU */
	bool resched;			/* there is something better to run */
	struct {
		struct spin lock;
		struct thread *head, *tail;
		uint32_t length;
	} queue;			/* threads that are ready, but not running */

	struct cpu_state state;
} __attribute__((aligned(64)));

extern struct cpu cpus[CPU_MAX];
extern uint32_t cpu_count;

/*
 * Any context. The task register says which CPU this is: nothing else is needed, neither GS nor
 * memory, so that this holds in an NMI between any two instructions. To be used with interrupts
 * off, or the thread may move on.
 */
ALWAYS_INLINE uint32_t cpu_number(void)
{
	uint32_t selector;

	__asm__ volatile("str %0" : "=r"(selector));
	return (selector - CPU_STATE) / 16;
}

ALWAYS_INLINE struct cpu *cpu_this(void)
{
	return &cpus[cpu_number()];
}

/* thread, once on each CPU: its segments, stacks and entry points. Before anything else. */
void cpu_start(uint32_t number);

#endif
