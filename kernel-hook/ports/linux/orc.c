/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For each place in the kernel's code, the table ORC says where the caller's stack begins: mostly some bytes above the
 * stack pointer or the frame pointer. A stack with any other kind of frame is left to Linux' own unwinder.
 */
#include <linux/hash.h>
#include <linux/objtool.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <asm/orc_lookup.h>
#include <asm/orc_types.h>

#include "orc.h"
#include "private.h"
#include "wire.h"

#ifndef ORC_TYPE_CALL			/* before Linux 6.4 */
#define ORC_TYPE_CALL UNWIND_HINT_TYPE_CALL
#define ORC_TYPE_REGS UNWIND_HINT_TYPE_REGS
#endif

/*
 * A step leads from a place in the code to its caller. The upper 16 bits: how far above the stack pointer (with
 * FROM_FP: the frame pointer) the caller's stack begins, in bytes. The lower 16 bits: KINDS; with SAVES_FP also where
 * the caller's frame pointer was saved, a multiple of 8 bytes from the caller's stack. 0: Linux' own unwinder must
 * walk this stack.
 */
enum { FROM_FP = 1, SAVES_FP = 2, REGS = 4, KINDS = 7 };

enum { KEPT_BITS = 12 };		/* of the size of `kept` */

/* A cache of steps: offset of a place in the text << 32 | its step. Any CPU writes a word, always a whole one. */
static u64 kept[1 << KEPT_BITS];

/* Fixed after orc_init(). */
static u64 text_begin, text_size;	/* size 0: there is no table */
static const int *places;		/* in order of address, each relative to where it is stored */
static const struct orc_entry *entries;	/* each holds from its place to the next place */
static const u32 *blocks;		/* for each block of the text: index of the entry that holds at its beginning */
static u64 trampolines[2];		/* tracers replace return addresses by these */

void orc_init(void)
{
	places = (void *)private_address("__start_orc_unwind_ip");
	entries = (void *)private_address("__start_orc_unwind");
	blocks = (void *)private_address("orc_lookup");
	trampolines[0] = private_address("return_to_handler");
	trampolines[1] = private_address("arch_rethook_trampoline");
	text_begin = private_address("_stext");
	if (places && entries && blocks)
		text_size = private_address("_etext") - text_begin;
}

/* The entry that holds at a place in the text: the last one at or below it. */
static __always_inline const struct orc_entry *find(u64 place)
{
	const u32 *block = &blocks[(place - text_begin) / LOOKUP_BLOCK_SIZE];
	u32 low = block[0], high = block[1] + 1;

	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if ((u64)(places + middle) + places[middle] <= place)
			low = middle;
		else
			high = middle;
	}
	return &entries[low];
}

static u32 make_step(const struct orc_entry *entry)
{
	u32 kinds = entry->sp_reg == ORC_REG_BP ? FROM_FP : 0;

	if ((entry->sp_reg != ORC_REG_SP && !kinds) || entry->bp_offset % 8 != 0)
		return 0;
	if (entry->type == ORC_TYPE_REGS)
		return (u32)entry->sp_offset << 16 | kinds | REGS;
	if (entry->type != ORC_TYPE_CALL)
		return 0;
	if (entry->bp_reg == ORC_REG_PREV_SP)
		kinds |= SAVES_FP | (u16)entry->bp_offset;
	else if (entry->bp_reg != ORC_REG_UNDEFINED)
		return 0;
	return (u32)entry->sp_offset << 16 | kinds;
}

static __always_inline u32 step_at(u32 offset)
{
	u64 *slot = &kept[hash_32(offset, KEPT_BITS)];
	u64 found = READ_ONCE(*slot);

	if (found >> 32 != offset) {
		found = (u64)offset << 32 | make_step(find(text_begin + offset));
		WRITE_ONCE(*slot, found);
	}
	return (u32)found;
}

/* A return address minus 1 is in the call instruction: the entry that holds there is the caller's. */
u32 orc_walk(const struct pt_regs *interrupted, u8 *frames)
{
	struct pt_regs *program = task_pt_regs(current);
	u64 low = (u64)task_stack_page(current), high = (u64)program;
	u64 sp = interrupted->sp, fp = interrupted->bp, offset = interrupted->ip - text_begin;

	if (sp < low || sp > high || !user_mode(program))
		return 0;
	for (u32 at = 1; offset < text_size && at < KTOP_FRAMES_MAX; at++) {
		u32 step = step_at(offset);
		u64 pc;

		low = sp;
		sp = (step & FROM_FP ? fp : sp) + (s16)(step >> 16);
		if (step & REGS)
			return sp == high ? at : 0;
		if (sp < low + 8 || sp > high)
			return 0;
		if (step & SAVES_FP) {
			u64 saved = sp + (s16)(step & ~KINDS);

			if (saved < low || saved >= sp)
				return 0;
			fp = *(const u64 *)saved;
		}
		pc = *(const u64 *)(sp - 8);
		if (pc == trampolines[0] || pc == trampolines[1])
			return 0;
		memcpy(frames + 8 * at, &pc, sizeof(pc));
		offset = pc - 1 - text_begin;
	}
	return 0;
}
