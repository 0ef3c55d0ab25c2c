/* SPDX-License-Identifier: MIT */
/* System calls from the programs (call.h). */
#ifndef SYSCALL_H
#define SYSCALL_H

struct frame;

/* entry.S calls it, with interrupts off. */
void syscall_handle(struct frame *frame);

#endif
