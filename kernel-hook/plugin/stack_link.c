/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "../wire.h"
#include "stack_link.h"
#include "machine/target.h"

enum {
	STACK_SIZE = 16384,		/* a kernel's stack ends at a multiple of this */
	FRAMES = 64,			/* that are followed */
	I386_REGS_BP = 20,		/* where Linux's struct pt_regs has ebp */
};

#define I386_TOP (UINT64_C(1) << 31)

/* Where a frame keeps its caller's frame pointer, as agent/unwind/unwind.c has it for the walk. */
struct frames {
	uint8_t word, fp;		/* bytes of an address; DWARF's number of the frame pointer */
	uint8_t below;			/* bytes from that word up to where the frame pointer points */
};
static const struct frames by_frames[KTOP_ARCHS] = {
	[KTOP_I386] = { .word = 4, .fp = 5 },
	[KTOP_RISCV64] = { .word = 8, .fp = 8, .below = 16 },
	[KTOP_AARCH64] = { .word = 8, .fp = 29 },
};

struct bytes {
	uint64_t address;
	const uint8_t *bytes;
	uint32_t size;
};

static bool word_at(const struct bytes *stack, uint64_t address, unsigned size, uint64_t *word)
{
	uint64_t offset = address - stack->address;

	*word = 0;
	if (offset >= stack->size || stack->size - offset < size)
		return false;
	memcpy(word, stack->bytes + offset, size);
	return true;
}

/* Can a stack of this kernel be there? All of them are in the same half of the addresses. */
static bool is_stacks(const struct target_state *state, uint64_t address, unsigned word)
{
	unsigned top = word * 8 - 1;

	return address && address % word == 0 && address >> top == state->sp >> top;
}

/*
 * True: what was read goes up to the stack's end, or to memory that is not there. False: the stack goes on behind it.
 * Sets *end to how many of the bytes belong to this stack.
 */
static bool has_end(const struct bytes *stack, uint32_t *end)
{
	uint64_t left = STACK_SIZE - stack->address % STACK_SIZE;

	*end = left < stack->size ? (uint32_t)left : stack->size;
	return stack->size < KTOP_STACK_MAX || left <= stack->size;
}

/*
 * Linux on x86-64 runs interrupts on a stack of their own, whose topmost word is where the stack before goes on
 * (arch/x86/include/asm/irq_stack.h of Linux).
 */
static uint64_t link_x86_64(const struct target_state *state, const struct bytes *stack)
{
	uint32_t end;
	uint64_t link;

	if (!has_end(stack, &end))
		return stack->address + end;
	if (end < sizeof(link) || !word_at(stack, stack->address + end - sizeof(link), sizeof(link), &link))
		return 0;
	return link >> 63 && is_stacks(state, link, sizeof(link)) && link - stack->address >= stack->size ? link : 0;
}

/* Linux on i386 leaves the address of a struct pt_regs in ebp, without its topmost bit, where an interrupt came in. */
static uint64_t caller_at(const struct target_state *state, const struct frames *frames, uint64_t fp)
{
	if (state->arch == KTOP_I386 && fp && fp < I386_TOP && state->sp >= I386_TOP)
		return (fp | I386_TOP) + I386_REGS_BP;
	return fp - frames->below;
}

static uint64_t link_by_frames(const struct target_state *state, const struct frames *frames, const struct bytes *stack)
{
	uint64_t fp = state->registers[frames->fp];

	for (int i = 0; i < FRAMES && fp; i++) {
		uint64_t at = caller_at(state, frames, fp);

		if (!is_stacks(state, at, frames->word))
			return 0;
		if (!word_at(stack, at, frames->word, &fp))
			return at;
	}
	return 0;
}

uint64_t stack_link(const struct target_state *state, const uint8_t *stack, uint32_t size)
{
	const struct bytes bytes = { .address = state->sp, .bytes = stack, .size = size };

	if (!state->flat || state->mode == KTOP_MODE_USER || size == 0)
		return 0;
	if (state->arch == KTOP_X86_64)
		return link_x86_64(state, &bytes);
	return link_by_frames(state, &by_frames[state->arch], &bytes);
}
