/* SPDX-License-Identifier: MIT */
/* Processes: a program in an address space of its own, run by one thread. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ports/demo/machine/spin.h"
#include "sched.h"

struct frame;
struct program;

struct process {
	uint32_t id;			/* fixed, as are the next three */
	const struct program *program;
	uint64_t argument;
	uint64_t space;
	uint64_t heap_end;		/* its thread's */

	struct spin lock;		/* of what follows */
	bool over;
	int64_t status;
	struct wait waiting;
};

/* thread. NULL: no memory, or no such program. */
struct process *process_spawn(const char *program, uint64_t argument);

/* thread. Waits for its end, frees it, and returns its status. */
int64_t process_wait(struct process *process);

/* thread, of the current process */
_Noreturn void process_exit(int64_t status);

/* interrupts off: ends the current process for what it did there */
_Noreturn void process_fail(const struct frame *frame);

/* thread or interrupts off, of the current process. Gives it the page if it may have one there. */
bool process_fault(uint64_t address);

/* thread, of the current process: space_read() and space_write(), having given it the pages. */
bool process_read(uint64_t address, void *to, uint64_t size);
bool process_write(uint64_t address, const void *from, uint64_t size);

/* interrupts off. NULL: the kernel's. */
void process_enter_space(const struct process *process);

#endif
