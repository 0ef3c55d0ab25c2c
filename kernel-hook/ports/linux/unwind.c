#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#include "ktop.h"
#include "port.h"
#include "text.h"
#include "timer.h"
#include "unwind.h"
#include "wire.h"

static void put(uint8_t *frames, uint32_t index, uint64_t address)
{
	memcpy(frames + 8 * index, &address, sizeof(address));
}

/*
 * The unwinder begins with the caller. Where it comes to registers they tell of an interrupted PC,
 * all else of return addresses.
 */
static uint32_t walk(struct unwind_state *state, struct ktop_wire_sample *sample, uint8_t *frames,
	uint32_t count)
{
	for (; !unwind_done(state); unwind_next_frame(state)) {
		unsigned long pc = unwind_get_return_address(state);

		if (!pc || count == KTOP_FRAMES_MAX)
			break;
		if (unwind_get_entry_regs(state, NULL))
			sample->exact |= 1ull << count;
		put(frames, count++, pc);
	}
	if (unwind_error(state) || !unwind_done(state))
		sample->flags |= KTOP_KERNEL_CUT;
	return count;
}

/*
 * Within a stub for indirect calls the unwinder sees the end of the stack: it begins with the stub's
 * caller, where that made its call. A stub may have called itself, to throw that away.
 */
static uint32_t walk_thunk(const struct pt_regs *thunk, struct ktop_wire_sample *sample,
	uint8_t *frames)
{
	struct pt_regs caller = *thunk;
	struct unwind_state state;
	unsigned long pc;

	do {
		if (copy_from_kernel_nofault(&pc, (const void *)caller.sp, sizeof(pc)) || !pc) {
			sample->flags |= KTOP_KERNEL_CUT;
			return 1;
		}
		caller.sp += sizeof(pc);
	} while (text_is_thunk(pc) && caller.sp == thunk->sp + sizeof(pc));
	put(frames, 1, pc);
	caller.ip = pc - 1;
	unwind_start(&state, current, &caller, NULL);
	return walk(&state, sample, frames, 2);
}

uint32_t ktop_unwind_kernel(const struct ktop_regs *regs, const struct ktop_current *now,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	struct unwind_state state;

	put(frames, 0, regs->pc);
	sample->exact = 1;
	if (now->idle)
		return 1;
	if (text_is_entry(regs->pc)) {
		sample->flags |= KTOP_ENTRY;
		return 1;
	}
	unwind_start(&state, current, timer_regs(), NULL);
	if (unwind_done(&state) && text_is_thunk(regs->pc))
		return walk_thunk(timer_regs(), sample, frames);
	return walk(&state, sample, frames, 1);
}
