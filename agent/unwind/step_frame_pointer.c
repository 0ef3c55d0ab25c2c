/* SPDX-License-Identifier: MIT */
#include "stack_memory.h"
#include "step.h"

/*
 * Where an interrupt came in, Linux on x86 with frame pointers leaves the address of a struct pt_regs in
 * the frame pointer. A bit distinguishes it: set on x86-64 (bit 0), clear on i386 (bit 31). See
 * ENCODE_FRAME_POINTER in arch/x86/include/asm/frame.h and arch/x86/entry/entry_32.S of Linux.
 */
static bool is_pt_regs(const struct arch *arch, uint64_t fp, uint64_t *address)
{
	const uint64_t top = UINT64_C(1) << 31;

	if (arch == arch_get(ARCH_X86_64) && (fp & 1)) {
		*address = fp & ~UINT64_C(1);
		return true;
	}
	if (arch == arch_get(ARCH_I386) && fp && !(fp & top)) {
		*address = fp | top;
		return true;
	}
	return false;
}

/*
 * The stack is the kernel's, but the frame pointer still lies in the program's half of the addresses: this
 * is the kernel's entry.
 */
static bool left_kernel(const struct registers *registers)
{
	const struct arch *arch = registers->arch;

	return arch->word == 8 && registers_has(registers, arch->sp) &&
		registers->values[arch->sp] >> 63 && !(registers->values[arch->fp] >> 63);
}

enum step step_frame_pointer(struct registers *registers, struct stack_memory *memory)
{
	const struct arch *arch = registers->arch;
	uint64_t fp, caller_fp, pc, pt_regs;

	if (!registers_has(registers, arch->fp))
		return STEP_LOST;
	fp = registers->values[arch->fp];
	if (!fp || left_kernel(registers))
		return STEP_ROOT;
	if (is_pt_regs(arch, fp, &pt_regs)) {
		enum step step = step_pt_regs(registers, pt_regs, false, memory);

		if (step != STEP_LOST)
			return step;
	}
	if (fp % arch->word || !stack_memory_word(memory, fp + (uint64_t)arch->saved_fp, arch->word, &caller_fp) ||
			!stack_memory_word(memory, fp + (uint64_t)arch->saved_pc, arch->word, &pc))
		return STEP_LOST;
	if (!pc)
		return STEP_ROOT;
	registers->known = 0;
	registers_set(registers, arch->fp, caller_fp);
	registers_set(registers, arch->sp, fp + arch->caller_sp);
	registers_set(registers, arch->pc, arch_code_address(arch, pc));
	return STEP_CALLER;
}

enum step step_entered(struct registers *registers, struct stack_memory *memory)
{
	const struct arch *arch = registers->arch;
	uint64_t sp, pc;

	if (arch->link != ARCH_NO_REGISTER || !registers_has(registers, arch->sp))
		return STEP_LOST;
	sp = registers->values[arch->sp];
	if (!stack_memory_word(memory, sp, arch->word, &pc))
		return STEP_LOST;
	if (!pc)
		return STEP_ROOT;
	registers_set(registers, arch->pc, pc);
	registers_set(registers, arch->sp, sp + arch->word);
	return STEP_CALLER;
}
