/* SPDX-License-Identifier: MIT */
#include <capstone/capstone.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "capstone.h"
#include "instruction.h"

struct capstone {
	enum arch_id arch;
	csh handle;
	cs_insn *scratch;
};

static const struct {
	cs_arch arch;
	cs_mode mode;
	bool known;
} modes[ARCHS] = {
	[ARCH_X86_64] = { CS_ARCH_X86, CS_MODE_64, true },
	[ARCH_I386] = { CS_ARCH_X86, CS_MODE_32, true },
	[ARCH_AARCH64] = { CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, true },
};

bool capstone_knows(enum arch_id arch)
{
	return modes[arch].known;
}

static bool open_handle(struct capstone *capstone)
{
	cs_arch arch = modes[capstone->arch].arch;

	if (cs_open(arch, modes[capstone->arch].mode, &capstone->handle) != CS_ERR_OK)
		return false;
	cs_option(capstone->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		cs_option(capstone->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	capstone->scratch = cs_malloc(capstone->handle);
	if (!capstone->scratch)
		cs_close(&capstone->handle);
	return capstone->scratch;
}

struct capstone *capstone_new(enum arch_id arch)
{
	struct capstone *capstone = util_alloc(sizeof(*capstone));

	capstone->arch = arch;
	if (open_handle(capstone))
		return capstone;
	free(capstone);
	return NULL;
}

void capstone_free(struct capstone *capstone)
{
	if (!capstone)
		return;
	cs_free(capstone->scratch, 1);
	cs_close(&capstone->handle);
	free(capstone);
}

/* The last operand, if it is a number. False: the target is in a register or in memory. */
static bool target_of(const struct capstone *capstone, const cs_insn *code, uint64_t *target)
{
	const cs_x86 *x86 = &code->detail->x86;
	const cs_arm64 *arm = &code->detail->arm64;

	if (capstone->arch == ARCH_AARCH64) {
		if (!arm->op_count || arm->operands[arm->op_count - 1].type != ARM64_OP_IMM)
			return false;
		*target = (uint64_t)arm->operands[arm->op_count - 1].imm;
		return true;
	}
	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x86->operands[0].imm;
	if (capstone->arch == ARCH_I386)
		*target &= UINT32_MAX;
	return true;
}

static bool is_call(const struct capstone *capstone, const cs_insn *code)
{
	return cs_insn_group(capstone->handle, code, CS_GRP_CALL) ||
		(capstone->arch == ARCH_AARCH64 && code->id == ARM64_INS_BL);
}

static enum instruction_kind kind_of(const struct capstone *capstone, const cs_insn *code, uint64_t *target)
{
	bool call = is_call(capstone, code);

	if (!call && !cs_insn_group(capstone->handle, code, CS_GRP_JUMP))
		return INSTRUCTION_PLAIN;
	if (!target_of(capstone, code, target))
		return INSTRUCTION_PLAIN;
	return call ? INSTRUCTION_CALL : INSTRUCTION_JUMP;
}

bool capstone_next(struct capstone *capstone, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	cs_insn *code = capstone->scratch;
	const uint8_t *at = bytes;
	uint64_t next = address;
	size_t left = size;

	if (!cs_disasm_iter(capstone->handle, &at, &left, &next, code) || !code->size || code->size > size)
		return false;
	instruction->size = (uint8_t)code->size;
	instruction->known = true;
	instruction->kind = kind_of(capstone, code, &instruction->target);
	instruction_write(instruction, code->mnemonic, code->op_str);
	return true;
}
