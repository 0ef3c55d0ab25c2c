/* SPDX-License-Identifier: MIT */
/* What main.c and port.c know of each other. */
#ifndef TINY_H
#define TINY_H

#include <stdint.h>

#include "../../port.h"

enum { TIMER_HZ = 1193182, TIMER_MOST = 65535 };	/* Intel 8254, on every PC */

/* What the stub leaves on the stack. */
struct frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t rip, cs, rflags, rsp, ss;	/* by the CPU itself */
};

struct thread {
	const char *name;
	void (*run)(void);		/* never returns */
	uint64_t wake;			/* clock; not before */
	uint64_t sp;			/* while another one runs */
	struct ktop_current profiled;
	_Alignas(16) uint8_t stack[8192];
};

/* main.c */
void timer_set(uint32_t units);		/* interrupts off */
void thread_yield(void);
void thread_sleep(uint32_t ms);

/* port.c: ktop in this kernel. thread, but for the last two: interrupts off */
void hook_start(uint64_t clock_hz);
void hook_thread(struct thread *thread, uint32_t id);
void hook_drain(void);
void hook_tick(const struct frame *frame);
void hook_wake_at(uint64_t clock);	/* the interrupt that the scheduler wants next */

#endif
