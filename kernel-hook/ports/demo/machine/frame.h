/* SPDX-License-Identifier: MIT */
/*
 * The registers that the entry stubs lay on the stack: the same for interrupts, exceptions and system calls. After an
 * entry from user mode, the frame is always at the top of the thread's kernel stack.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

struct frame {
	uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
	uint64_t vector;		/* VECTOR_SYSCALL for a system call */
	uint64_t error;
	uint64_t rip, cs, rflags, rsp, ss;	/* the CPU itself pushes these */
};

enum { VECTOR_SYSCALL = 256 };

/* Was the CPU in user mode? */
static inline bool frame_user(const struct frame *frame)
{
	return frame->cs == USER_CODE;
}

#endif
