/* SPDX-License-Identifier: MIT */
#include "agent/names/dwarf/frame_rules.h"
#include "stack_memory.h"
#include "step.h"

struct frame {
	const struct registers *registers;
	const struct frame_rules *rules;
	struct stack_memory *memory;
	uint64_t address;		/* its CFA */
};

static bool find_address(struct frame *frame)
{
	const struct frame_rules *rules = frame->rules;

	if (!registers_has(frame->registers, rules->base))
		return false;
	frame->address = frame->registers->values[rules->base] + (uint64_t)rules->base_offset;
	return !rules->indirect ||
		stack_memory_word(frame->memory, frame->address, frame->registers->arch->word, &frame->address);
}

static bool caller_value(const struct frame *frame, unsigned number, uint64_t *value)
{
	uint64_t offset = (uint64_t)frame->rules->registers[number].offset;
	unsigned from = number;

	switch (frame->rules->registers[number].rule) {
	case FRAME_SAVED:
		return stack_memory_word(frame->memory, frame->address + offset, frame->registers->arch->word, value);
	case FRAME_VALUE:
		*value = frame->address + offset;
		return true;
	case FRAME_REGISTER:
		if (offset >= ARCH_REGISTERS)
			return false;
		from = (unsigned)offset;
		/* fall through */
	case FRAME_SAME:
		*value = frame->registers->values[from];
		return registers_has(frame->registers, from);
	default:
		return false;
	}
}

/* If the rule for the return address is "unknown", this is the first function of a thread. */
enum step step_rules(struct registers *registers, const struct frame_rules *rules, struct stack_memory *memory)
{
	const struct arch *arch = registers->arch;
	struct frame frame = { .registers = registers, .rules = rules, .memory = memory };
	struct registers caller = { .arch = arch };
	uint64_t value;

	if (rules->return_address >= ARCH_REGISTERS || rules->registers[rules->return_address].rule == FRAME_UNKNOWN)
		return STEP_ROOT;
	if (!find_address(&frame) || !caller_value(&frame, rules->return_address, &value))
		return STEP_LOST;
	if (!value)
		return STEP_ROOT;
	registers_set(&caller, arch->pc, arch_code_address(arch, value));
	registers_set(&caller, arch->sp, frame.address);
	for (unsigned i = 0; i < arch->registers; i++)
		if (i != arch->pc && caller_value(&frame, i, &value) &&
				(i != arch->sp || rules->registers[i].rule != FRAME_SAME))
			registers_set(&caller, i, value);
	*registers = caller;
	return rules->signal ? STEP_INTERRUPTED : STEP_CALLER;
}
