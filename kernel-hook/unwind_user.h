/* SPDX-License-Identifier: MIT */
/*
 * A program's stack by frame pointers. NMI. No walk turns back, so that garbage ends it and marks it
 * cut. Frames go straight into the sample, at any alignment.
 */
#ifndef KTOP_UNWIND_USER_H
#define KTOP_UNWIND_USER_H

#include <stdint.h>

#include "base/hints.h"
#include "ktop.h"
#include "port.h"
#include "wire.h"

/*
 * All set sample->flags, write at most KTOP_FRAMES_MAX addresses to `frames`, and return how many
 * there are: from these registers on; of a program that was interrupted; of the one, if any, that
 * was left for the kernel.
 */
uint32_t ktop_walk_user(uint64_t pc, uint64_t fp, struct ktop_wire_sample *sample,
	uint8_t *frames);

KTOP_INLINE uint32_t ktop_unwind_program(const struct ktop_regs *regs,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	sample->flags |= KTOP_USER_EXACT;
	return ktop_walk_user(regs->pc, regs->fp, sample, frames);
}

KTOP_INLINE uint32_t ktop_unwind_caller(const struct ktop_current *current,
	struct ktop_wire_sample *sample, uint8_t *frames)
{
	if (!current->user_valid)
		return 0;
	if (current->user_exact)
		sample->flags |= KTOP_USER_EXACT;
	return ktop_walk_user(current->user_pc, current->user_fp, sample, frames);
}

#endif
