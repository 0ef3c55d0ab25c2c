/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#include "ktop.h"
#include "orc.h"
#include "port.h"
#include "text.h"
#include "timer.h"
#include "unwind.h"
#include "wire.h"

static void put(uint8_t *frames, uint32_t index, uint64_t address)
{
	memcpy(frames + 8 * index, &address, sizeof(address));
}

/* Has the walk come to the registers of a program? The kernel's stack ends there. */
static bool at_program(struct unwind_state *state)
{
	struct pt_regs *regs = unwind_get_entry_regs(state, NULL);

	return regs && user_mode(regs);
}

/*
 * Adds the callers of `regs` to `frames`. A frame with saved registers has an interrupted pc; all other frames have
 * return addresses. Returns the registers of the last frame; NULL: the last frame has none.
 */
static const struct pt_regs *walk(const struct pt_regs *regs, struct ktop_wire_sample *sample,
	uint8_t *frames, uint32_t *count)
{
	const struct pt_regs *last = regs;
	struct unwind_state state;

	for (unwind_start(&state, current, (struct pt_regs *)regs, NULL); !unwind_done(&state);
			unwind_next_frame(&state)) {
		unsigned long pc = at_program(&state) ? 0 : unwind_get_return_address(&state);

		if (!pc || *count == KTOP_FRAMES_MAX)
			break;
		last = unwind_get_entry_regs(&state, NULL);
		if (last)
			sample->exact |= 1ull << *count;
		put(frames, (*count)++, pc);
	}
	if (unwind_error(&state) || !(unwind_done(&state) || at_program(&state)))
		sample->flags |= KTOP_KERNEL_CUT;
	return last;
}

/*
 * `regs` are in a stub for indirect calls. Changes them to those of the stub's caller at its call. `*pc`: the address
 * to which the stub returns. A stub may have called itself once, in order to throw that return address away, so up to
 * two addresses are taken off here. False: the stack cannot be read, or both addresses are a stub's.
 */
static bool leave_thunk(struct pt_regs *regs, unsigned long *pc)
{
	for (int depth = 0; depth < 2; depth++) {
		if (copy_from_kernel_nofault(pc, (const void *)regs->sp, sizeof(*pc)))
			return false;
		regs->sp += sizeof(*pc);
		regs->ip = *pc - 1;
		if (!text_is_thunk(*pc))
			return true;
	}
	return false;
}

/* Linux' unwinder takes a stub for indirect calls for the end of the stack. This goes on with the stub's caller. */
static uint32_t walk_all(struct ktop_wire_sample *sample, uint8_t *frames)
{
	const struct pt_regs *last = timer_regs();
	struct pt_regs caller;
	uint32_t count = 1;
	unsigned long pc;

	while ((last = walk(last, sample, frames, &count)) && text_is_thunk(last->ip)) {
		caller = *last;
		if (count == KTOP_FRAMES_MAX || !leave_thunk(&caller, &pc)) {
			sample->flags |= KTOP_KERNEL_CUT;
			break;
		}
		put(frames, count++, pc);
		last = &caller;
	}
	return count;
}

/* An idle CPU's stack tells nothing: it has one frame. */
uint32_t ktop_unwind_kernel(const struct ktop_regs *regs, const struct ktop_current *now,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	uint32_t count;

	put(frames, 0, regs->pc);
	sample->exact = 1;
	if (now->idle)
		return 1;
	if (text_is_entry(regs->pc)) {
		sample->flags |= KTOP_ENTRY;
		return 1;
	}
	count = orc_walk(timer_regs(), frames);
	return count ? count : walk_all(sample, frames);
}
