/* SPDX-License-Identifier: MIT */
/* Interrupts and exceptions. */
#ifndef TRAP_H
#define TRAP_H

#include <stdint.h>

struct frame;

/* What interrupts the kernel, beside the CPU's own exceptions 0 to 31. */
enum {
	VECTOR_NMI = 2, VECTOR_DOUBLE_FAULT = 8, VECTOR_PAGE_FAULT = 14,
	VECTOR_CLOCK = 32, VECTOR_KEYBOARD, VECTOR_MOUSE, VECTOR_KICK, VECTOR_SPURIOUS = 255,
};

/* Stacks of their own, for what may come at any instruction: an NMI, a double fault. */
enum { TRAP_STACKS = 2 };

/* thread, on each CPU, at start-up */
void trap_start(void);

/* from entry.S */
void trap_handle(struct frame *frame);
void trap_nmi(struct frame *frame);
void entry_stubs(void);
void entry_syscall(void);
_Noreturn void entry_leave(struct frame *frame);

#endif
