/* SPDX-License-Identifier: MIT */
#include <capstone/capstone.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "disassembler.h"

enum { MNEMONIC = 7 };			/* columns, as in objdump */

struct disassembler {
	enum arch_id arch;
	csh handle;
	cs_insn *scratch;		/* NULL: capstone does not know the architecture */
};

static bool open_capstone(struct disassembler *disassembler, cs_arch arch, cs_mode mode)
{
	if (cs_open(arch, mode, &disassembler->handle) != CS_ERR_OK)
		return false;
	cs_option(disassembler->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		cs_option(disassembler->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	disassembler->scratch = cs_malloc(disassembler->handle);
	if (!disassembler->scratch)
		cs_close(&disassembler->handle);
	return disassembler->scratch;
}

struct disassembler *disassembler_new(enum arch_id arch)
{
	struct disassembler *disassembler = util_alloc(sizeof(*disassembler));
	bool good = true;

	disassembler->arch = arch;
	if (arch == ARCH_X86_64)
		good = open_capstone(disassembler, CS_ARCH_X86, CS_MODE_64);
	else if (arch == ARCH_I386)
		good = open_capstone(disassembler, CS_ARCH_X86, CS_MODE_32);
	else if (arch == ARCH_AARCH64)
		good = open_capstone(disassembler, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN);
	if (good)
		return disassembler;
	free(disassembler);
	return NULL;
}

bool disassembler_knows(const struct disassembler *disassembler)
{
	return disassembler->scratch;
}

void disassembler_free(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->scratch) {
		cs_free(disassembler->scratch, 1);
		cs_close(&disassembler->handle);
	}
	free(disassembler);
}

/* The bytes as a number of a known width, or each by itself. */
static void put_bytes(struct instruction *instruction, const uint8_t *bytes, size_t size)
{
	uint32_t word = 0;

	instruction->size = (uint8_t)size;
	for (size_t i = 0; i < size; i++)
		word |= (uint32_t)bytes[i] << 8 * i;
	if (size == 1)
		snprintf(instruction->text, INSTRUCTION_TEXT, "(bad)  %02" PRIx32, word);
	else
		snprintf(instruction->text, INSTRUCTION_TEXT, "%-*s 0x%0*" PRIx32, MNEMONIC - 1,
			size == 2 ? ".2byte" : ".4byte", 2 * (int)size, word);
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

/* The last operand, if it is a number. False: the target is in a register or in memory. */
static bool target_of(const struct disassembler *disassembler, const cs_insn *code, uint64_t *target)
{
	const cs_x86 *x86 = &code->detail->x86;
	const cs_arm64 *arm = &code->detail->arm64;

	if (disassembler->arch == ARCH_AARCH64) {
		if (!arm->op_count || arm->operands[arm->op_count - 1].type != ARM64_OP_IMM)
			return false;
		*target = (uint64_t)arm->operands[arm->op_count - 1].imm;
		return true;
	}
	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x86->operands[0].imm;
	if (disassembler->arch == ARCH_I386)
		*target &= UINT32_MAX;
	return true;
}

static bool is_call(const struct disassembler *disassembler, const cs_insn *code)
{
	return cs_insn_group(disassembler->handle, code, CS_GRP_CALL) ||
		(disassembler->arch == ARCH_AARCH64 && code->id == ARM64_INS_BL);
}

static enum instruction_kind kind_of(const struct disassembler *disassembler, const cs_insn *code, uint64_t *target)
{
	bool call = is_call(disassembler, code);

	if (!call && !cs_insn_group(disassembler->handle, code, CS_GRP_JUMP))
		return INSTRUCTION_PLAIN;
	if (!target_of(disassembler, code, target))
		return INSTRUCTION_PLAIN;
	return call ? INSTRUCTION_CALL : INSTRUCTION_JUMP;
}

/* As in objdump: numbers of jumps and calls have no prefix, and operands no blanks between them. */
static void put_text(struct instruction *instruction, const cs_insn *code)
{
	char operands[INSTRUCTION_TEXT];
	size_t used = 0;

	for (const char *c = code->op_str; *c && used + 1 < sizeof(operands); c++)
		if (*c != ' ' || used == 0 || operands[used - 1] != ',')
			operands[used++] = *c;
	operands[used] = '\0';
	if (instruction->kind != INSTRUCTION_PLAIN && strchr(operands, ',') == NULL)
		snprintf(operands, sizeof(operands), "%" PRIx64, instruction->target);
	util_print(instruction->text, INSTRUCTION_TEXT, "%-*s%s%s", *operands ? MNEMONIC - 1 : 0, code->mnemonic,
		*operands ? " " : "", operands);
}

void disassembler_next(struct disassembler *disassembler, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	const uint8_t *at = bytes;
	uint64_t next = address;
	size_t left = size;

	*instruction = (struct instruction) { .kind = INSTRUCTION_PLAIN };
	if (disassembler->scratch && cs_disasm_iter(disassembler->handle, &at, &left, &next, disassembler->scratch) &&
			disassembler->scratch->size && disassembler->scratch->size <= size) {
		instruction->size = (uint8_t)disassembler->scratch->size;
		instruction->known = true;
		instruction->kind = kind_of(disassembler, disassembler->scratch, &instruction->target);
		put_text(instruction, disassembler->scratch);
		return;
	}
	put_bytes(instruction, bytes, unit_of(disassembler->arch, bytes, size));
	instruction->known = disassembler->arch == ARCH_RISCV64 && instruction->size > 1;
}
