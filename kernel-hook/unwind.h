/* SPDX-License-Identifier: MIT */
/*
 * Walks the kernel's stack by frame pointers. Context: NMI. A frame record is { saved frame pointer, return pc };
 * unwind.h says where it lies and how wide it is. Nothing is read outside the bounds that the port gave. Each record
 * lies above the one before, so that garbage ends the walk; the stack is then marked as cut. Frames go straight into
 * the sample, at any alignment.
 */
#ifndef KTOP_UNWIND_H
#define KTOP_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "arch.h"
#include "base/hints.h"
#include "ktop.h"
#include "port.h"
#include "wire.h"

/* The address of the frame record to which a frame pointer leads. */
KTOP_INLINE uint64_t ktop_record_of(uint64_t fp)
{
	return fp + (uint64_t)KTOP_FRAME_OFFSET;
}

KTOP_INLINE const struct ktop_frame *ktop_frame_at(uint64_t fp)
{
	return (const struct ktop_frame *)(uintptr_t)ktop_record_of(fp);
}

/*
 * The functions that take a sample set sample->flags and sample->exact, write at most KTOP_FRAMES_MAX addresses to
 * `frames`, and return how many there are. This one walks any stack, from the frame record at fp on; `count` frames
 * are there already, and `most` are wanted.
 */
uint32_t ktop_walk_any(const struct ktop_current *current, uint64_t fp,
	struct ktop_wire_sample *sample, uint8_t *frames, uint32_t count, uint32_t most);

/* The walk met `word`, a pc or frame pointer that leads nowhere: 0 is the end of a stack, all else cuts it. */
static inline uint32_t ktop_walk_ended(struct ktop_wire_sample *sample, uint32_t count, uint64_t word)
{
	if (word != 0)
		sample->flags |= KTOP_KERNEL_CUT;
	return count;
}

/* What lies at this address. The port is asked only if the known text does not have it. */
static inline enum ktop_text ktop_text_at(const struct ktop_current *current, uint64_t address)
{
	if (address >= current->text_low && address < current->text_high)
		return KTOP_TEXT;
	return ktop_port_text(address);
}

/* The highest address on the stack at which a frame record can lie. */
KTOP_INLINE uint64_t ktop_last_frame(const struct ktop_current *current)
{
	return current->stack_high - sizeof(struct ktop_frame);
}

/*
 * Words from `at` up to `last`. If `at` is above `last` or not at a multiple of a word, the rotation makes it more
 * than any stack has. One comparison with the words of the whole stack therefore checks both bounds and the alignment.
 */
KTOP_INLINE uint64_t ktop_words_below(uint64_t last, uint64_t at)
{
	return (last - at) >> KTOP_WORD_BITS | (last - at) << (64 - KTOP_WORD_BITS);
}

/* Does fp lead to a place on the stack where a frame record can lie? */
KTOP_INLINE bool ktop_on_stack(const struct ktop_current *current, uint64_t fp)
{
	uint64_t last = ktop_last_frame(current);

	return last >= current->stack_low && last < current->stack_high &&
		ktop_words_below(last, ktop_record_of(fp)) <=
			ktop_words_below(last, current->stack_low);
}

/*
 * In the entry window the CPU runs an entry stub, or its stack is not yet the thread's. Some registers may still be
 * those of the interrupted code, so that a walk would go astray.
 */
KTOP_INLINE bool ktop_in_entry(const struct ktop_regs *regs, uint64_t pc,
	const struct ktop_current *current)
{
	return ktop_text_at(current, pc) == KTOP_TEXT_ENTRY ||
		regs->sp < current->stack_low || regs->sp > current->stack_high ||
		(regs->fp != 0 && !ktop_on_stack(current, regs->fp));
}

/*
 * The fast walk, from the record at fp, which lies on the stack. It reads on while return addresses are in the known
 * text, and leaves all else to ktop_walk_any(). It may write behind the frames that it counts, but within
 * KTOP_FRAMES_MAX.
 */
KTOP_INLINE uint32_t ktop_walk_kernel(const struct ktop_current *current, uint64_t fp,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	const uint64_t last = ktop_last_frame(current);
	const uint64_t low = current->text_low + 1;	/* of return addresses */
	const uint64_t size = current->text_high - current->text_low;
	uint8_t *const end = frames + 8 * KTOP_FRAMES_MAX;
	int64_t at = 1 - KTOP_FRAMES_MAX;	/* in frames, from the end */
	uint64_t left = ktop_words_below(last, ktop_record_of(fp));

	do {
		const struct ktop_frame *frame = ktop_frame_at(fp);
		uint64_t pc = frame->pc, above;

		__builtin_memcpy(end + 8 * at, &pc, sizeof(pc));
		if (pc - low >= size)
			break;
		fp = frame->fp;
		above = ktop_words_below(last, ktop_record_of(fp));
		if (above >= left)
			return ktop_walk_ended(sample, (uint32_t)(KTOP_FRAMES_MAX + 1 + at), fp);
		left = above;
	} while (++at != 0);
	return ktop_walk_any(current, fp, sample, frames, (uint32_t)(KTOP_FRAMES_MAX + at), KTOP_FRAMES_MAX);
}

/*
 * On riscv64 a function that calls nothing saves its caller's frame pointer alone, where others save the return
 * address; that is still in its register. True: so it is, and *fp is the caller's.
 */
KTOP_INLINE bool ktop_saves_fp_alone(const struct ktop_regs *regs, const struct ktop_current *current, uint64_t *fp)
{
	uint64_t saved;

	if (!regs->link)
		return false;
	saved = ktop_frame_at(*fp)->pc;
	if (saved <= *fp || !ktop_on_stack(current, saved))
		return false;
	*fp = saved;
	return true;
}

/* The kernel's stack of a sample: the interrupted pc, then its callers. */
KTOP_INLINE uint32_t ktop_unwind_kernel(const struct ktop_regs *regs,
	const struct ktop_current *current, struct ktop_wire_sample *sample, uint8_t *frames)
{
	const uint64_t pc = regs->pc;

	__builtin_memcpy(frames, &pc, sizeof(pc));
	sample->exact = 1;
	if (KTOP_RARE(ktop_in_entry(regs, pc, current))) {
		sample->flags |= KTOP_ENTRY;
		return 1;
	}
	if (KTOP_RARE(regs->fp == 0))
		return 1;
	if (KTOP_LEAF_SAVES_FP) {
		const uint64_t link = regs->link;
		uint64_t fp = regs->fp;

		if (ktop_saves_fp_alone(regs, current, &fp)) {
			__builtin_memcpy(frames + 8, &link, sizeof(link));
			return ktop_walk_any(current, fp, sample, frames, 2, KTOP_FRAMES_MAX);
		}
	}
	return ktop_walk_kernel(current, regs->fp, sample, frames);
}

#endif
