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
	uint32_t id;			/* the first four fields are fixed */
	const struct program *program;
	uint64_t argument;
	uint64_t space;			/* its address space (space.h) */
	uint64_t heap_end;		/* written by its own thread */

	struct spin lock;		/* guards the fields below */
	bool over;			/* it has ended, with this status */
	int64_t status;
	struct wait waiting;		/* who waits for its end */
};

/* thread. NULL: no memory, or no such program. */
struct process *process_spawn(const char *program, uint64_t argument);

/* thread. Waits until the process ends, frees it, and returns its status. */
int64_t process_wait(struct process *process);

/* thread. Ends the current process. */
_Noreturn void process_exit(int64_t status);

/* interrupts off. Ends the current process after an exception, and prints where that was. */
_Noreturn void process_fail(const struct frame *frame);

/*
 * thread or interrupts off. Gives the current process a page at that address, in its heap or stack. False: it may have
 * none there, or there is no memory.
 */
bool process_fault(uint64_t address);

/* thread. space_read() and space_write() on the current process, which first gets the pages that it may have. */
bool process_read(uint64_t address, void *to, uint64_t size);
bool process_write(uint64_t address, const void *from, uint64_t size);

/* interrupts off. Switches this CPU to the process's address space; NULL: to the kernel's. */
void process_enter_space(const struct process *process);

#endif
