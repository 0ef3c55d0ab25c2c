/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "capstone.h"
#include "disassembler.h"
#include "instruction.h"
#include "llvm.h"
#include "riscv64.h"

struct disassembler {
	enum arch_id arch;
	struct capstone *capstone;	/* NULL: it does not know the architecture */
	struct llvm *llvm;		/* NULL: it is not here, or not needed */
	struct riscv64 riscv64;
};

struct disassembler *disassembler_new(enum arch_id arch)
{
	struct disassembler *disassembler = util_alloc(sizeof(*disassembler));

	disassembler->arch = arch;
	if (arch == ARCH_RISCV64)
		disassembler->llvm = llvm_new();
	if (!capstone_knows(arch))
		return disassembler;
	disassembler->capstone = capstone_new(arch);
	if (disassembler->capstone)
		return disassembler;
	free(disassembler);
	return NULL;
}

void disassembler_free(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	capstone_free(disassembler->capstone);
	llvm_free(disassembler->llvm);
	free(disassembler);
}

const char *disassembler_lacks(const struct disassembler *disassembler)
{
	if (disassembler->capstone || disassembler->llvm)
		return NULL;
	if (disassembler->arch == ARCH_RISCV64)
		return "its instructions are numbers: LLVM is not here; install libllvm14";
	return "its instructions are numbers: ktop knows no library for this CPU";
}

static void next_riscv64(struct disassembler *disassembler, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	size_t length = riscv64_length(bytes);

	if (length > size) {
		instruction_write_bytes(instruction, bytes, 1);
		return;
	}
	riscv64_follow(&disassembler->riscv64, bytes, address, instruction);
	if (!disassembler->llvm || !llvm_next(disassembler->llvm, bytes, length, address, instruction))
		instruction_write_bytes(instruction, bytes, length);
}

void disassembler_next(struct disassembler *disassembler, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	*instruction = (struct instruction) { .kind = INSTRUCTION_PLAIN };
	if (disassembler->arch == ARCH_RISCV64)
		next_riscv64(disassembler, bytes, size, address, instruction);
	else if (!disassembler->capstone ||
			!capstone_next(disassembler->capstone, bytes, size, address, instruction))
		instruction_write_bytes(instruction, bytes, disassembler->arch == ARCH_AARCH64 && size >= 4 ? 4 : 1);
}
