/* SPDX-License-Identifier: MIT */
/*
 * A CPU of the guest at an instruction that it is about to run: its registers, its memory, and the thread that it runs.
 * On the CPU's thread. Registers are right where a block of code begins, as at a function's entry (functions.h).
 */
#ifndef PLUGIN_MOMENT_H
#define PLUGIN_MOMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "task.h"

struct role;

enum { MOMENT_OPEN = 16 };		/* interrupts and the like within each other */

/* What is kept of a CPU from one moment to the next. All 0 when a boot begins. */
struct moment_kept {
	uint32_t thread, process;	/* that had this stack, */
	uint64_t stack;			/* the number of a block; 0: none is known */
	time_t second;			/* when it was read, by a clock that is coarse and cheap */
	long ns;
	uint64_t page, physical;	/* of that stack: where it lies; 0: not known */
	struct task_kept task;
	struct task told;		/* whose name the host has, or gets */
	uint64_t base;			/* the kernel's, of this CPU; 0: not known */

	uint32_t depth;			/* of `open` */
	struct moment_open {		/* what has begun here and not ended, the newest last */
		const struct role *role;
		uint32_t number;
	} open[MOMENT_OPEN];
};

struct moment {
	struct ktop *ktop;
	const struct qemu *qemu;
	struct qemu_cpu *cpu;
	const struct ktop_task_places *places;
	struct moment_kept *kept;
};

uint64_t moment_argument(const struct moment *moment, unsigned number);	/* of a function, at its entry; from 0 on */

/* False: not all of the bytes are there. */
bool moment_read(const struct moment *moment, uint64_t address, void *to, uint32_t size);

/* On the stack of the thread that moment_thread() has just told: its page is looked up once, which takes most of it. */
bool moment_read_stack(const struct moment *moment, uint64_t address, void *to, uint32_t size);

/* KTOP_NO_THREAD: it is not known. `sp`: the stack pointer, or one near it. */
uint32_t moment_thread(const struct moment *moment, uint64_t sp);

/* The thread whose own work the CPU does. KTOP_NO_THREAD: an interrupt's, a softirq's or none; or it is not known. */
uint32_t moment_worker(const struct moment *moment);

void moment_thread_ends(const struct moment *moment, uint32_t thread);	/* its name is not needed any more */

/* What a thread's record says of it. False: it is not there. */
struct moment_task { uint32_t thread, state; bool queued; };
bool moment_task(const struct moment *moment, uint64_t record, struct moment_task *task);

#endif
