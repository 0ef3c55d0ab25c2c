/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/names/dwarf/frame_rules.h"
#include "agent/names/linux/orc.h"
#include "step.h"
#include "unwind.h"

enum { FRAMELESS = 8 };			/* words of a function without a frame, at most */

struct walk {
	const struct unwind_code *code;
	struct stack_memory *memory;
	struct registers *registers;
	bool exact;			/* the pc is interrupted code, not a return address */
	bool leaf;			/* the registers are those of interrupted code: the link register may count */
};

static uint64_t pc_of(const struct walk *walk)
{
	return walk->registers->values[walk->registers->arch->pc];
}

/* A return address may be the first address of the next function: the call stands before it. */
static uint64_t place_of(const struct walk *walk)
{
	return walk->exact ? pc_of(walk) : pc_of(walk) - 1;
}

static bool is_kernel(const struct walk *walk)
{
	return walk->code->is_kernel && walk->code->is_kernel(walk->code->context, place_of(walk));
}

static bool function_at(const struct walk *walk, uint64_t place, uint64_t *start)
{
	return walk->code->function && walk->code->function(walk->code->context, place, start);
}

static bool add(struct unwound_frames *frames, const struct walk *walk)
{
	if (frames->count == UNWIND_FRAMES) {
		frames->cut = true;
		return false;
	}
	if (walk->exact)
		frames->exact |= UINT64_C(1) << frames->count;
	frames->frames[frames->count++] = pc_of(walk);
	return true;
}

/*
 * For architectures whose calls leave the return address in a register, the link register. The link register counts
 * only if the interrupted function has not stored it yet; then the frame pointer is still the caller's. This returns
 * false in two cases: the address in it is in the same function, so a call that has returned left it there; or the
 * frame has the same address, so it was stored.
 */
static bool step_link(const struct walk *walk, struct registers *caller)
{
	const struct arch *arch = walk->registers->arch;
	struct registers framed = *walk->registers;
	enum step framed_step;
	uint64_t start, other, link;

	if (arch->link == ARCH_NO_REGISTER || !registers_has(walk->registers, arch->link) ||
			!function_at(walk, place_of(walk), &start))
		return false;
	link = arch_code_address(arch, walk->registers->values[arch->link]);
	if (link % arch->step || !function_at(walk, link - 1, &other) || other == start)
		return false;
	framed_step = step_frame_pointer(&framed, walk->memory);
	if (framed_step == STEP_CALLER && framed.values[arch->pc] == link)
		return false;
	*caller = *walk->registers;
	/*
	 * riscv64: a function that calls nothing stores only the caller's frame pointer, in the place where others
	 * store the return address. So if the word there is no address of code, it is that frame pointer.
	 */
	if (framed_step == STEP_CALLER && arch->saved_pc < 0 &&
			!function_at(walk, framed.values[arch->pc] - 1, &other)) {
		registers_set(caller, arch->fp, framed.values[arch->pc]);
		registers_set(caller, arch->sp, framed.values[arch->sp]);
	}
	registers_set(caller, arch->pc, link);
	caller->known &= ~(UINT64_C(1) << arch->link);
	return true;
}

/*
 * The interrupted function has no frame, so the frame pointer leads past its caller. On x86, one of the topmost words
 * is its return address: the first one behind a call that names it. Elsewhere its caller was in the link register,
 * and nobody knows now where that is stored.
 */
static enum step step_frameless(struct walk *walk)
{
	const struct arch *arch = walk->registers->arch;
	uint64_t sp = walk->registers->values[arch->sp], word;

	if (arch->link != ARCH_NO_REGISTER || !registers_has(walk->registers, arch->sp) || !walk->code->calls)
		return STEP_LOST;
	for (unsigned i = 0; i < FRAMELESS && stack_memory_word(walk->memory, sp, arch->word, &word); i++) {
		sp += arch->word;
		if (!walk->code->calls(walk->code->context, word, pc_of(walk)))
			continue;
		registers_set(walk->registers, arch->pc, word);
		registers_set(walk->registers, arch->sp, sp);
		return STEP_CALLER;
	}
	return STEP_LOST;
}

/* Takes the most reliable way that there is for this address. */
static enum step step(struct walk *walk)
{
	struct orc_entry entry;
	struct frame_rules rules;
	struct registers caller;
	enum calls_frame frame;
	uint64_t start;

	if (walk->code->orc && walk->code->orc(walk->code->context, place_of(walk), &entry))
		return step_orc(walk->registers, &entry, walk->memory);
	if (walk->code->rules && walk->code->rules(walk->code->context, place_of(walk), &rules))
		return step_rules(walk->registers, &rules, walk->memory);
	frame = walk->leaf && walk->code->frame ? walk->code->frame(walk->code->context, pc_of(walk)) :
		CALLS_FRAME_UNKNOWN;
	if (frame == CALLS_FRAME_LEFT || (walk->leaf && function_at(walk, pc_of(walk), &start) &&
			start == pc_of(walk) && walk->registers->arch->link == ARCH_NO_REGISTER))
		return step_entered(walk->registers, walk->memory);
	if (!walk->exact && walk->code->entry && walk->code->entry(walk->code->context, place_of(walk)) &&
			registers_has(walk->registers, walk->registers->arch->sp)) {
		uint64_t sp = walk->registers->values[walk->registers->arch->sp];

		return step_pt_regs(walk->registers, sp, false, walk->memory);
	}
	if (walk->leaf && step_link(walk, &caller)) {
		*walk->registers = caller;
		return STEP_CALLER;
	}
	return frame == CALLS_FRAME_NONE ? step_frameless(walk) : step_frame_pointer(walk->registers, walk->memory);
}

/* Adds the frame, and makes one step. False: the walk ends here. */
static bool go_on(struct walk *walk, struct unwound_frames *frames)
{
	if (!add(frames, walk))
		return false;
	switch (step(walk)) {
	case STEP_CALLER:
		walk->exact = walk->leaf = false;
		return true;
	case STEP_INTERRUPTED:
		walk->exact = walk->leaf = true;
		return true;
	case STEP_LOST:
		frames->cut = true;
		return false;
	case STEP_ROOT:
		break;
	}
	return false;
}

/* The kernel's frames end where the walk comes to a frame of a program, which is where the kernel was entered from. */
void unwind(struct registers *registers, const struct unwind_code *code, struct stack_memory *memory,
	struct unwound *result)
{
	struct walk walk = { .code = code, .memory = memory, .registers = registers, .exact = true, .leaf = true };

	memset(result, 0, sizeof(*result));
	if (!registers_has(registers, registers->arch->pc)) {
		result->kernel.cut = result->user.cut = true;
		return;
	}
	while (is_kernel(&walk))
		if (!go_on(&walk, &result->kernel))
			return;
	/* A return address led out of the kernel. Only an interrupted pc may do so: the last step was wrong. */
	if (result->kernel.count && !walk.exact) {
		result->kernel.cut = true;
		return;
	}
	while (go_on(&walk, &result->user))
		if (is_kernel(&walk)) {
			result->user.cut = true;
			return;
		}
}
