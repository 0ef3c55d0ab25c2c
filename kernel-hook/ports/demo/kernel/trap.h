/* SPDX-License-Identifier: MIT */
/* Interrupts and exceptions. */
#ifndef TRAP_H
#define TRAP_H

#include <stdint.h>

struct frame;

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
