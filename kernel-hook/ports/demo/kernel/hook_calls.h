/* SPDX-License-Identifier: MIT */
/* ktop in this kernel: its life, and the names that it is told. port.c is the other direction. */
#ifndef HOOK_CALLS_H
#define HOOK_CALLS_H

#include <stdint.h>

#include "ktop.h"
#include "ports/demo/machine/frame.h"

struct process;
struct program_facts;
struct thread;

extern struct ktop *hook;		/* fixed after hook_start() */

/* thread, at start-up, when the CPUs are counted and the clock is known */
void hook_start(uint32_t cpus);

/* thread, at start-up, when threads can run: the one that sends what was gathered */
void hook_start_sending(void);

/* thread or interrupts off */
void hook_thread(struct thread *thread);
void hook_thread_exit(const struct thread *thread);
void hook_process(const struct process *process);
void hook_process_exit(const struct process *process);
void hook_program(const struct process *process, const struct program_facts *facts);

/* port.c. What does not change while the thread lives, before it runs. */
void port_thread(struct thread *thread);

/* NMI */
static inline struct ktop_regs hook_regs(const struct frame *frame)
{
	return (struct ktop_regs) {
		.pc = frame->rip, .sp = frame->rsp, .fp = frame->rbp, .user = frame_user(frame),
	};
}

#endif
