/* SPDX-License-Identifier: MIT */
/* What main.c and port.c share. */
#ifndef TINY_H
#define TINY_H

#include <stdint.h>

#include "../../port.h"

enum { TIMER_HZ = 1193182, TIMER_MOST = 65535 };	/* the Intel 8254 that every PC has */

/* The registers of the interrupted code, as the stub in boot.S lays them on the stack. */
struct frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t rip, cs, rflags, rsp, ss;	/* laid by the CPU itself */
};

struct thread {
	const char *name;
	void (*run)(void);		/* never returns */
	uint64_t wake;			/* clock value until which it sleeps */
	uint64_t sp;			/* stack pointer, while another thread runs */
	struct ktop_current profiled;
	_Alignas(16) uint8_t stack[8192];
};

/* main.c */
void timer_set(uint32_t units);		/* interrupts off */
void thread_yield(void);
void thread_sleep(uint32_t ms);

/* port.c: what main.c tells the hook. Context: thread; the last two functions: interrupts off. */
void hook_start(uint64_t clock_hz);
void hook_thread(struct thread *thread, uint32_t id);
void hook_drain(void);
void hook_tick(const struct frame *frame);
void hook_wake_at(uint64_t clock);	/* when the scheduler wants its next interrupt */

#endif
