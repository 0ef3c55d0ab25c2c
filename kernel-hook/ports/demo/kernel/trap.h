/* SPDX-License-Identifier: MIT */
/* Interrupts and exceptions. */
#ifndef TRAP_H
#define TRAP_H

#include <stdint.h>

struct frame;

/* An NMI and a double fault may come at any instruction: each has a stack of its own. */
enum { TRAP_STACKS = 2 };

/* thread, on each CPU, at start-up */
void trap_start(void);

/* entry.S calls the first two, and has the other three. */
void trap_handle(struct frame *frame);
void trap_nmi(struct frame *frame);
void entry_stubs(void);
void entry_syscall(void);
_Noreturn void entry_leave(struct frame *frame);

#endif
