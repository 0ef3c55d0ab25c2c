#include <stdbool.h>
#include <stdint.h>

#include "ktop.h"
#include "port.h"
#include "unwind.h"
#include "wire.h"

/* User addresses end here on x86-64 with four levels of page tables, and on its kin. */
#define USER_END (1ull << 47)

struct frame {
	uint64_t fp, pc;
};

static void put(uint8_t *frames, uint32_t index, uint64_t address)
{
	__builtin_memcpy(frames + 8 * index, &address, sizeof address);
}

/* May a frame record lie at fp? */
static bool on_stack(const struct ktop_current *current, uint64_t fp)
{
	return fp % 8 == 0 && fp >= current->stack_low && fp < current->stack_high &&
		current->stack_high - fp >= sizeof(struct frame);
}

/*
 * In the entry window the registers are still partly those of the interrupted context, and the
 * stack is not yet the thread's.
 */
static bool in_entry(const struct ktop_regs *regs, const struct ktop_current *current,
	enum ktop_text text)
{
	return text == KTOP_TEXT_ENTRY || regs->sp < current->stack_low ||
		regs->sp > current->stack_high || (regs->fp != 0 && !on_stack(current, regs->fp));
}

/* The roots of a walk, as port.h has them. */
static bool at_root(const struct ktop_current *current, uint64_t pc)
{
	return pc == 0 || (current->user_valid && pc == current->user_pc);
}

uint32_t ktop_unwind_kernel(const struct ktop_regs *regs, const struct ktop_current *current,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	enum ktop_text text = ktop_port_text(regs->pc);
	uint64_t fp = regs->fp, exact = 1;
	uint32_t count = 1;

	put(frames, 0, regs->pc);
	if (in_entry(regs, current, text)) {
		sample->flags |= KTOP_ENTRY;
		fp = 0;
	}
	while (fp != 0) {
		const struct frame *frame = (const struct frame *)fp;
		bool interrupted = text == KTOP_TEXT_ENTRY;

		if (at_root(current, frame->pc))
			break;
		text = ktop_port_text(frame->pc - !interrupted);
		if (text == KTOP_NOT_TEXT || count == KTOP_FRAMES_MAX) {
			sample->flags |= KTOP_KERNEL_CUT;
			break;
		}
		exact |= (uint64_t)interrupted << count;
		put(frames, count++, frame->pc);
		if (frame->fp != 0 && (frame->fp <= fp || !on_stack(current, frame->fp))) {
			sample->flags |= KTOP_KERNEL_CUT;
			break;
		}
		fp = frame->fp;
	}
	sample->exact = exact;
	return count;
}

static uint32_t walk_user(uint64_t pc, uint64_t fp, struct ktop_wire_sample *sample, uint8_t *frames)
{
	struct frame frame;
	uint64_t above = 0;
	uint32_t count = 1;

	put(frames, 0, pc);
	while (fp != 0) {
		if (fp % 8 != 0 || fp <= above || fp >= USER_END - sizeof frame ||
				!ktop_port_read_user(fp, &frame, sizeof frame))
			goto cut;
		if (frame.pc == 0)
			break;
		if (frame.pc >= USER_END || count == KTOP_FRAMES_MAX)
			goto cut;
		put(frames, count++, frame.pc);
		above = fp;
		fp = frame.fp;
	}
	return count;
cut:
	sample->flags |= KTOP_USER_CUT;
	return count;
}

uint32_t ktop_unwind_user(const struct ktop_regs *regs, const struct ktop_current *current,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	if (regs->user || (current->user_valid && current->user_exact))
		sample->flags |= KTOP_USER_EXACT;
	if (regs->user)
		return walk_user(regs->pc, regs->fp, sample, frames);
	return current->user_valid ?
		walk_user(current->user_pc, current->user_fp, sample, frames) : 0;
}
