/* SPDX-License-Identifier: MIT */
/*
 * One step of a walk: from the registers of a frame to those of its caller. Each way of making it has a
 * file: frame pointers, ORC, call frame information. A step that fails changes nothing.
 */
#ifndef STEP_H
#define STEP_H

#include <stdint.h>

#include "arch.h"

struct frame_rules;
struct orc_entry;
struct stack_memory;

enum step {
	STEP_CALLER,		/* the registers are now the caller's; its pc is a return address */
	STEP_INTERRUPTED,	/* they are now those of interrupted code; its pc is exact */
	STEP_ROOT,		/* there is no caller: the stack begins with this frame */
	STEP_LOST,		/* something that is needed is not known */
};

/*
 * By the frame that the frame pointer points to. If that pointer, or the pc stored there, is 0, the frame
 * is the root.
 */
enum step step_frame_pointer(struct registers *registers, struct stack_memory *memory);

/* By an entry of Linux's ORC table for the pc, on x86-64. */
enum step step_orc(struct registers *registers, const struct orc_entry *entry, struct stack_memory *memory);

/* By call frame information for the pc. */
enum step step_rules(struct registers *registers, const struct frame_rules *rules, struct stack_memory *memory);

/* x86: a function that was just entered has its return address on top of the stack. */
enum step step_entered(struct registers *registers, struct stack_memory *memory);

/* By Linux's struct pt_regs at an address. `partial`: only its last words, which the CPU writes, are there. */
enum step step_pt_regs(struct registers *registers, uint64_t address, bool partial, struct stack_memory *memory);

#endif
