/* SPDX-License-Identifier: MIT */
/*
 * Walks a program's stack by frame pointers. Context: NMI. Each frame lies above the one before, so that garbage ends
 * the walk; the stack is then marked as cut. Frames go straight into the sample, at any alignment.
 */
#ifndef KTOP_UNWIND_USER_H
#define KTOP_UNWIND_USER_H

#include <stdint.h>

#include "arch.h"
#include "base/hints.h"
#include "ktop.h"
#include "port.h"
#include "wire.h"

/*
 * Each function below writes at most KTOP_FRAMES_MAX addresses to `frames`, sets sample->flags, and returns how many
 * addresses there are. This one starts at the given registers; `link` is as in ktop_regs.
 */
uint32_t ktop_walk_user(uint64_t pc, uint64_t fp, uint64_t link, struct ktop_wire_sample *sample,
	uint8_t *frames);

/* The stack of a program that the sample has interrupted. */
KTOP_INLINE uint32_t ktop_unwind_program(const struct ktop_regs *regs,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	sample->flags |= KTOP_USER_EXACT;
	return ktop_walk_user(regs->pc, regs->fp, KTOP_LEAF_SAVES_FP ? regs->link : 0, sample, frames);
}

/* The stack of the program that entered the kernel, if there is one. */
KTOP_INLINE uint32_t ktop_unwind_caller(const struct ktop_current *now,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	if (!now->user_valid)
		return 0;
	if (now->user_exact)
		sample->flags |= KTOP_USER_EXACT;
	return ktop_walk_user(now->user_pc, now->user_fp, 0, sample, frames);
}

#endif
