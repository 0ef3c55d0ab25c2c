/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "../wire.h"
#include "program_stack.h"
#include "ram.h"
#include "machine/target.h"

enum {
	STACK_SIZE = 16384,		/* a thread's stack in the kernel ends at a multiple of this */
	ENTRY_SIZE = 4096,		/* and a stack for entries alone of this */
	PRIVILEGE = 3,			/* a selector's bits: of a program, all are set */
};

/* What an x86-64 CPU stores when it leaves a program (Intel SDM, volume 3, section 6.14). */
struct left {
	uint64_t pc, code, flags, sp, data;
};
_Static_assert(sizeof(struct left) == PROGRAM_STACK_SAVED, "that is what is read");

/*
 * Linux on x86-64 keeps it at the very end of the thread's stack, as the last words of struct pt_regs; for a system
 * call, it stores the same words itself (arch/x86/include/asm/processor.h of Linux, task_pt_regs). A thread of the
 * kernel's own has zeros there. With page table isolation, the kernel is entered and left on a stack for entries, at
 * whose end the same words are (arch/x86/entry/entry_64.S).
 */
uint64_t program_stack_saved(const struct target_state *state, uint64_t linked)
{
	bool entry = ram_is_entry(state);
	uint64_t stack = linked && !entry ? linked : state->sp, size = entry ? ENTRY_SIZE : STACK_SIZE;

	if (state->arch != KTOP_X86_64 || state->mode != KTOP_MODE_KERNEL || !state->flat || !(stack >> 63))
		return 0;
	return stack - stack % size + size - PROGRAM_STACK_SAVED;
}

static bool is_program(const struct left *left)
{
	return (left->code & PRIVILEGE) == PRIVILEGE && (left->data & PRIVILEGE) == PRIVILEGE &&
		left->pc >> 63 == 0 && left->sp >> 63 == 0;
}

uint64_t program_stack_pointer(const uint8_t saved[PROGRAM_STACK_SAVED])
{
	struct left left;

	memcpy(&left, saved, sizeof(left));
	return is_program(&left) ? left.sp : 0;
}
