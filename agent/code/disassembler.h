/* SPDX-License-Identifier: MIT */
/*
 * Machine code as text, in the syntax of objdump. The bytes may be anything: what is no instruction is shown as
 * bytes. capstone knows x86-64, i386 and aarch64, LLVM riscv64. Without LLVM, riscv64 is shown as words, each of the
 * length of an instruction, with its jumps and calls. One owner.
 */
#ifndef DISASSEMBLER_H
#define DISASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

struct disassembler;
struct instruction;

/* It may wait for a disk. NULL: there is no memory for it. Code of any other architecture is shown as bytes. */
struct disassembler *disassembler_new(enum arch_id arch);
void disassembler_free(struct disassembler *disassembler);	/* NULL is allowed */

/* Why code is words or bytes, and what to do; NULL: it has text. */
const char *disassembler_lacks(const struct disassembler *disassembler);

/*
 * The instruction at the first of `size` bytes, at least one. It takes no more bytes than there are. The calls are in
 * order of address: a call of riscv64 is a pair of instructions.
 */
void disassembler_next(struct disassembler *disassembler, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction);

/* ---- one instruction ---- */

/* One instruction as text, in the syntax of objdump. */

enum { INSTRUCTION_TEXT = 160 };

enum instruction_kind { INSTRUCTION_PLAIN, INSTRUCTION_JUMP, INSTRUCTION_CALL };

struct instruction {
	uint8_t size;
	bool known;			/* false: these bytes are no instruction, or nothing here knows it */
	enum instruction_kind kind;	/* jumps and calls whose target is not known are plain */
	uint64_t target;		/* of a jump or a call */
	char text[INSTRUCTION_TEXT];	/* printable */
};

#endif
