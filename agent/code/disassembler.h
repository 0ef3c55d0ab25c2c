/* SPDX-License-Identifier: MIT */
/*
 * Machine code as text, in the syntax of objdump. The bytes may be anything: what is no instruction is shown as
 * bytes. capstone knows x86-64, i386 and aarch64; riscv64 is shown as words, each of the length of an instruction.
 * One owner.
 */
#ifndef DISASSEMBLER_H
#define DISASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

struct disassembler;
struct instruction;

/* NULL: there is no memory for it. Code of other architectures than the above is shown as bytes. */
struct disassembler *disassembler_new(enum arch_id arch);
bool disassembler_knows(const struct disassembler *disassembler);	/* false: code is words or bytes */
void disassembler_free(struct disassembler *disassembler);	/* NULL is allowed */

/* The instruction at the first of `size` bytes, at least one. It takes no more bytes than there are. */
void disassembler_next(struct disassembler *disassembler, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction);

#endif
