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

static enum ktop_text text_at(const struct ktop_current *current, uint64_t address)
{
	if (address >= current->text_low && address < current->text_high)
		return KTOP_TEXT;
	return ktop_port_text(address);
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

/* The walk met `word`, which leads nowhere: zero is how a stack ends, all else cuts it. */
static uint32_t end(struct ktop_wire_sample *sample, uint32_t count, uint64_t word)
{
	if (word != 0)
		sample->flags |= KTOP_KERNEL_CUT;
	return count;
}

/* From the frame record at fp, which lies on the stack. Returns the number of frames by then. */
static uint32_t walk_kernel(const struct ktop_current *current, uint64_t fp,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	const uint64_t last = current->stack_high - sizeof(struct frame);
	const uint64_t user_pc = current->user_valid ? current->user_pc : 0;
	uint64_t called = 1;		/* 0: the next pc is an interrupted one */
	uint32_t count = 1;

	for (;;) {
		const struct frame *frame = (const struct frame *)fp;
		uint64_t pc = frame->pc, next = frame->fp;
		enum ktop_text text;

		if (pc == user_pc)
			return count;
		text = text_at(current, pc - called);
		if (text == KTOP_NOT_TEXT || count == KTOP_FRAMES_MAX)
			return end(sample, count, pc);
		if (!called)
			sample->exact |= 1ull << count;
		put(frames, count++, pc);
		called = text != KTOP_TEXT_ENTRY;
		if (next <= fp || next > last || next % 8 != 0)
			return end(sample, count, next);
		fp = next;
	}
}

uint32_t ktop_unwind_kernel(const struct ktop_regs *regs, const struct ktop_current *current,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	put(frames, 0, regs->pc);
	sample->exact = 1;
	if (in_entry(regs, current, text_at(current, regs->pc))) {
		sample->flags |= KTOP_ENTRY;
		return 1;
	}
	return regs->fp == 0 ? 1 : walk_kernel(current, regs->fp, sample, frames);
}

static uint32_t walk_user(uint64_t pc, uint64_t fp, struct ktop_wire_sample *sample,
	uint8_t *frames)
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
