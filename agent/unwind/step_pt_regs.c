/* SPDX-License-Identifier: MIT */
#include "stack_memory.h"
#include "step.h"

enum { WORDS = 21 };			/* of x86-64's pt_regs */

/*
 * The order of the registers in Linux's struct pt_regs, word by word, as DWARF's numbers
 * (arch/x86/include/asm/ptrace.h of Linux). NONE: no walk needs the word.
 */
enum { NONE = ARCH_NO_REGISTER };

static const uint8_t x86_64_order[WORDS] = {
	15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, NONE, 16, NONE, NONE, 7, NONE,
};

/* On i386, ip is followed by cs and flags; then by sp and ss, but only if a program was interrupted. */
static const uint8_t i386_order[] = {
	3, 1, 2, 6, 7, 5, 0, NONE, NONE, NONE, NONE, NONE, 8, NONE, NONE, 4, NONE,
};

/* arch/riscv/include/asm/ptrace.h: the program counter comes first, in place of x0. */
static const uint8_t riscv64_order[] = {
	32, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

enum { X86_64_IRET = 16, I386_CS = 13, I386_SP = 15 };	/* words */

static enum step read_order(struct registers *registers, uint64_t address, const uint8_t *order, size_t from,
	size_t count, struct stack_memory *memory)
{
	const struct arch *arch = registers->arch;
	struct registers found = *registers;	/* registers that are not stored have not changed since */
	uint64_t word;

	for (size_t i = from; i < count; i++) {
		if (order[i] == NONE)
			continue;
		if (!stack_memory_word(memory, address + (i - from) * arch->word, arch->word, &word))
			return STEP_LOST;
		registers_set(&found, order[i], word);
	}
	*registers = found;
	return STEP_INTERRUPTED;
}

/* Without a change of privilege, an i386 does not store sp: the stack continues behind the stored words. */
static enum step read_i386(struct registers *registers, uint64_t address, struct stack_memory *memory)
{
	uint64_t cs;
	enum step step;

	if (!stack_memory_word(memory, address + I386_CS * 4, 4, &cs))
		return STEP_LOST;
	if (cs & 3)
		return read_order(registers, address, i386_order, 0, sizeof(i386_order), memory);
	step = read_order(registers, address, i386_order, 0, I386_CS, memory);
	if (step == STEP_INTERRUPTED)
		registers_set(registers, registers->arch->sp, address + I386_SP * 4);
	return step;
}

enum step step_pt_regs(struct registers *registers, uint64_t address, bool partial, struct stack_memory *memory)
{
	enum step step;

	if (registers->arch == arch_get(ARCH_I386))
		step = read_i386(registers, address, memory);
	else if (registers->arch == arch_get(ARCH_X86_64))
		step = read_order(registers, address, x86_64_order, partial ? X86_64_IRET : 0, WORDS, memory);
	else if (registers->arch == arch_get(ARCH_RISCV64))
		step = read_order(registers, address, riscv64_order, 0, sizeof(riscv64_order), memory);
	else
		return STEP_LOST;
	if (step == STEP_INTERRUPTED && registers->values[registers->arch->pc] == 0)
		return STEP_ROOT;
	return step;
}
