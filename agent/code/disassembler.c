/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "capstone.h"
#include "disassembler.h"
#include "instruction.h"

struct disassembler {
	enum arch_id arch;
	struct capstone *capstone;	/* NULL: it does not know the architecture */
};

struct disassembler *disassembler_new(enum arch_id arch)
{
	struct disassembler *disassembler = util_alloc(sizeof(*disassembler));

	disassembler->arch = arch;
	if (!capstone_knows(arch))
		return disassembler;
	disassembler->capstone = capstone_new(arch);
	if (disassembler->capstone)
		return disassembler;
	free(disassembler);
	return NULL;
}

bool disassembler_knows(const struct disassembler *disassembler)
{
	return disassembler->capstone;
}

void disassembler_free(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	capstone_free(disassembler->capstone);
	free(disassembler);
}

/*
 * How many bytes are shown together where nothing is known of them. RISC-V's instructions of four bytes have both low
 * bits set (The RISC-V Instruction Set Manual, volume I, 1.5).
 */
static size_t unit_of(enum arch_id arch, const uint8_t *bytes, size_t size)
{
	size_t unit = arch == ARCH_AARCH64 ? 4 : arch == ARCH_RISCV64 ? ((bytes[0] & 3) == 3 ? 4 : 2) : 1;

	return unit <= size ? unit : 1;
}

void disassembler_next(struct disassembler *disassembler, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	*instruction = (struct instruction) { .kind = INSTRUCTION_PLAIN };
	if (disassembler->capstone && capstone_next(disassembler->capstone, bytes, size, address, instruction))
		return;
	instruction_write_bytes(instruction, bytes, unit_of(disassembler->arch, bytes, size));
	instruction->known = disassembler->arch == ARCH_RISCV64 && instruction->size > 1;
}
