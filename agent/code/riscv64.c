/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "riscv64.h"

enum { AUIPC = 0x17, BRANCH = 0x63, JALR = 0x67, JAL = 0x6f };	/* opcodes: the low seven bits */

size_t riscv64_length(const uint8_t *bytes)
{
	return (bytes[0] & 3) == 3 ? 4 : 2;
}

/* `count` bits of the word from bit `from` on, moved to bit `to`. */
static uint64_t bits(uint32_t word, unsigned from, unsigned count, unsigned to)
{
	return (uint64_t)(word >> from & ((1u << count) - 1)) << to;
}

/* The number whose highest bit is `sign`. */
static uint64_t extended(uint64_t number, unsigned sign)
{
	return (number ^ UINT64_C(1) << sign) - (UINT64_C(1) << sign);
}

static uint64_t offset_of_jal(uint32_t word)
{
	return extended(bits(word, 31, 1, 20) | bits(word, 12, 8, 12) | bits(word, 20, 1, 11) | bits(word, 21, 10, 1),
		20);
}

static uint64_t offset_of_branch(uint32_t word)
{
	return extended(bits(word, 31, 1, 12) | bits(word, 7, 1, 11) | bits(word, 25, 6, 5) | bits(word, 8, 4, 1), 12);
}

static uint64_t offset_of_small_jump(uint32_t word)
{
	return extended(bits(word, 12, 1, 11) | bits(word, 8, 1, 10) | bits(word, 9, 2, 8) | bits(word, 6, 1, 7) |
		bits(word, 7, 1, 6) | bits(word, 2, 1, 5) | bits(word, 11, 1, 4) | bits(word, 3, 3, 1), 11);
}

static uint64_t offset_of_small_branch(uint32_t word)
{
	return extended(bits(word, 12, 1, 8) | bits(word, 5, 2, 6) | bits(word, 2, 1, 5) | bits(word, 10, 2, 3) |
		bits(word, 3, 2, 1), 8);
}

static void set(struct instruction *instruction, enum instruction_kind kind, uint64_t target)
{
	instruction->kind = kind;
	instruction->target = target;
}

/* c.j, c.beqz and c.bnez. */
static void follow_small(uint32_t word, uint64_t address, struct instruction *instruction)
{
	uint64_t function = bits(word, 13, 3, 0);

	if ((word & 3) != 1)
		return;
	if (function == 5)
		set(instruction, INSTRUCTION_JUMP, address + offset_of_small_jump(word));
	else if (function >= 6)
		set(instruction, INSTRUCTION_JUMP, address + offset_of_small_branch(word));
}

static void follow_register(const struct riscv64 *riscv64, uint32_t word, uint64_t address,
	enum instruction_kind kind, struct instruction *instruction)
{
	bool paired = riscv64->into && riscv64->into == bits(word, 15, 5, 0) && riscv64->next == address;

	if (paired && bits(word, 12, 3, 0) == 0)
		set(instruction, kind, (riscv64->upper + extended(bits(word, 20, 12, 0), 11)) & ~UINT64_C(1));
}

void riscv64_follow(struct riscv64 *riscv64, const uint8_t *bytes, uint64_t address, struct instruction *instruction)
{
	size_t length = riscv64_length(bytes);
	uint32_t word = 0;
	unsigned into;
	enum instruction_kind kind;

	for (size_t i = 0; i < length; i++)
		word |= (uint32_t)bytes[i] << 8 * i;
	if (length == 2) {
		follow_small(word, address, instruction);
		return;
	}
	into = (unsigned)bits(word, 7, 5, 0);
	kind = into ? INSTRUCTION_CALL : INSTRUCTION_JUMP;	/* a call keeps the address to return to */
	if ((word & 0x7f) == JAL)
		set(instruction, kind, address + offset_of_jal(word));
	else if ((word & 0x7f) == BRANCH && (bits(word, 12, 3, 0) & 6) != 2)
		set(instruction, INSTRUCTION_JUMP, address + offset_of_branch(word));
	else if ((word & 0x7f) == JALR)
		follow_register(riscv64, word, address, kind, instruction);
	else if ((word & 0x7f) == AUIPC)
		*riscv64 = (struct riscv64) {
			.into = into, .upper = address + extended(word & 0xfffff000, 31), .next = address + 4,
		};
}
