/* SPDX-License-Identifier: MIT */
/* What this kernel tells the hook: its start, and names of threads and processes. port.c has what the hook asks. */
#ifndef HOOK_CALLS_H
#define HOOK_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "ktop.h"
#include "ports/demo/machine/frame.h"

struct process;
struct program_facts;
struct thread;

extern struct ktop *hook;		/* fixed after hook_start() */

/* thread, at start-up, when the CPUs are counted and the clock is measured. It panics if the hook cannot start. */
void hook_start(uint32_t cpus);

/* thread, at start-up, when threads can run. Starts the drainer. */
void hook_start_sending(void);

/* thread or interrupts off. A new thread, process or mapped program; the end of one. */
void hook_thread(struct thread *thread);
void hook_renamed(const struct thread *thread);
void hook_thread_exit(const struct thread *thread);
void hook_process(const struct process *process);
void hook_process_exit(const struct process *process);
void hook_program(const struct process *process, const struct program_facts *facts);

bool hook_mark(const char *text);	/* thread. As ktop_mark(), by the current one */

/* thread or interrupts off. What trace events call this thread: KTOP_NO_THREAD if it is a CPU's idle one. */
uint32_t hook_traced(const struct thread *thread);

/* In port.c. Fills in what does not change while the thread lives, before it runs. */
void port_thread(struct thread *thread);

/* Any context. The interrupted code's registers, as the hook wants them. */
static inline struct ktop_regs hook_regs(const struct frame *frame)
{
	return (struct ktop_regs) {
		.pc = frame->rip, .sp = frame->rsp, .fp = frame->rbp, .user = frame_user(frame),
	};
}

#endif
