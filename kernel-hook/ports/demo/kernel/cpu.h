/* SPDX-License-Identifier: MIT */
/* The state of each CPU. */
#ifndef CPU_H
#define CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/x86.h"

struct thread;

/* The task state segment, Intel SDM 3A, section 8.7. */
struct cpu_state {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3, io_map;
} __attribute__((packed));

struct cpu {
	/* entry.S knows the offsets of these two */
	uint64_t kernel_stack;		/* the end of the current thread's kernel stack */
	uint64_t user_stack;		/* holds the user's stack pointer during a few instructions of a system call */

	/* fixed after start-up */
	uint32_t number;		/* its place in the table MADT, which is QEMU's cpu-index */
	uint32_t apic;			/* the id of its local APIC */
	struct thread *idle;

	/* written by this CPU with interrupts off; `current`, `halted`, `handlers` and `interrupted` are read in NMI */
	struct thread *current;
	struct thread *previous;	/* the thread before the last switch */
	bool irqs_off;			/* the kernel has masked interrupts, and told so */
	bool halted;			/* the idle loop has halted the CPU, and no interrupt has come since */
	struct thread *sleepers;	/* sleeping threads, in the order in which they wake */
	uint32_t handlers;		/* of interrupts and NMIs: those that are under way; they nest */
	uint8_t interrupted;		/* what the innermost has interrupted: KTOP_TASK or KTOP_IRQ of wire.h */
	uint64_t next_tick, next_sample;	/* clock values; 0: none */

	/* written by any CPU */
	bool resched;			/* another thread should run now */
	struct {
		struct spin lock;
		struct thread *head, *tail;
		uint32_t length;
	} queue;			/* threads that are ready, but not running; guarded by its lock */

	struct cpu_state state;
} __attribute__((aligned(64)));

extern struct cpu cpus[CPU_MAX];
extern uint32_t cpu_count;

/*
 * Any context. The task register says which CPU this is. It needs neither GS nor memory, so it is right in an NMI
 * between any two instructions. Interrupts must be off: otherwise the thread may move to another CPU.
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

/* thread, once on each CPU, before anything else. Sets its segments, stacks and entry points. */
void cpu_start(uint32_t number);

#endif
