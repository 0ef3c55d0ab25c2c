/* SPDX-License-Identifier: MIT */
#include "agent/names/linux/orc.h"
#include "stack_memory.h"
#include "step.h"

/* DWARF's numbers of the x86-64 registers that a table may name. */
enum { DX = 1, DI = 5, BP = 6, SP = 7, R10 = 10, R13 = 13, PC = 16 };

static bool value_of(const struct registers *registers, unsigned number, uint64_t *value)
{
	*value = registers->values[number];
	return registers_has(registers, number);
}

/* Finds the caller's stack pointer, or the address of a pt_regs. */
static bool find_sp(const struct registers *registers, const struct orc_entry *entry, struct stack_memory *memory,
	uint64_t *sp)
{
	uint64_t offset = (uint64_t)(int64_t)entry->sp_offset, base;

	switch (entry->sp) {
	case ORC_SP:
		return value_of(registers, SP, &base) && (*sp = base + offset, true);
	case ORC_BP:
		return value_of(registers, BP, &base) && (*sp = base + offset, true);
	case ORC_BP_INDIRECT:
		return value_of(registers, BP, &base) && stack_memory_word(memory, base + offset, 8, sp);
	case ORC_SP_INDIRECT:
		if (!value_of(registers, SP, &base) || !stack_memory_word(memory, base, 8, sp))
			return false;
		*sp += offset;
		return true;
	case ORC_DX:
		return value_of(registers, DX, sp);
	case ORC_DI:
		return value_of(registers, DI, sp);
	case ORC_R10:
		return value_of(registers, R10, sp);
	case ORC_R13:
		return value_of(registers, R13, sp);
	default:
		return false;
	}
}

/* The caller's frame pointer is unchanged, or was saved. If it cannot be read, it is unknown from here on. */
static void find_bp(struct registers *caller, const struct orc_entry *entry, uint64_t sp, struct stack_memory *memory)
{
	uint64_t offset = (uint64_t)(int64_t)entry->bp_offset, base = sp, bp;

	if (entry->bp == ORC_UNDEFINED)
		return;
	if (entry->bp == ORC_BP && !value_of(caller, BP, &base))
		return;
	caller->known &= ~(UINT64_C(1) << BP);
	if ((entry->bp == ORC_PREV_SP || entry->bp == ORC_BP) && stack_memory_word(memory, base + offset, 8, &bp))
		registers_set(caller, BP, bp);
}

/* Registers that a function may change without saving them are not known in its caller. */
static void forget_scratch(struct registers *registers)
{
	/* rbx, rbp, r12 to r15 */
	const uint64_t kept = UINT64_C(1) << 3 | UINT64_C(1) << BP | UINT64_C(0xf) << 12;

	registers->known &= kept;
}

static enum step step_call(struct registers *registers, const struct orc_entry *entry, uint64_t sp,
	struct stack_memory *memory)
{
	uint64_t pc;

	if (!stack_memory_word(memory, sp - 8, 8, &pc))
		return STEP_LOST;
	find_bp(registers, entry, sp, memory);
	forget_scratch(registers);
	registers_set(registers, SP, sp);
	registers_set(registers, PC, pc);
	return STEP_CALLER;
}

enum step step_orc(struct registers *registers, const struct orc_entry *entry, struct stack_memory *memory)
{
	struct registers caller = *registers;
	enum step step = STEP_LOST;
	uint64_t sp;

	if (entry->type == ORC_TYPE_END)
		return STEP_ROOT;
	if (entry->type == ORC_TYPE_UNDEFINED || !find_sp(registers, entry, memory, &sp))
		return STEP_LOST;
	if (entry->type == ORC_TYPE_CALL)
		step = step_call(&caller, entry, sp, memory);
	else
		step = step_pt_regs(&caller, sp, entry->type == ORC_TYPE_REGS_PARTIAL, memory);
	if (step != STEP_LOST)
		*registers = caller;
	return step;
}
