/* SPDX-License-Identifier: MIT */
/*
 * What unwinding must know of an architecture: which register is which, and where a frame keeps its caller's.
 * Registers have DWARF's numbers: System V ABI, AMD64 supplement, figure 3.36; i386 supplement, table 2.14;
 * RISC-V ELF psABI, "DWARF register numbers"; Arm's AADWARF64, section 4.1. If DWARF has no number for the
 * program counter, it gets the one after the last.
 */
#ifndef ARCH_H
#define ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

enum { ARCH_REGISTERS = 33, ARCH_NO_REGISTER = 0xff };

struct arch {
	enum arch_id id;
	uint8_t word;			/* bytes of an address */
	uint8_t registers;		/* how many there are */
	uint8_t pc, sp, fp;		/* their numbers */
	uint8_t link;			/* the register that takes a call's return address; or ARCH_NO_REGISTER */
	int8_t saved_fp, saved_pc;	/* where a frame keeps its caller's, in bytes from the frame pointer */
	uint8_t caller_sp;		/* the caller's stack pointer, in bytes from the frame pointer */
	uint8_t step;			/* addresses of instructions are multiples of this */
};

/* NULL: ktop does not know the architecture. */
const struct arch *arch_get(enum arch_id id);

/* One CPU's registers at one instant. */
struct registers {
	const struct arch *arch;
	uint64_t known;			/* bit i: values[i] is known */
	uint64_t values[ARCH_REGISTERS];
};

static inline bool registers_has(const struct registers *registers, unsigned number)
{
	return number < ARCH_REGISTERS && registers->known >> number & 1;
}

static inline void registers_set(struct registers *registers, unsigned number, uint64_t value)
{
	registers->values[number] = value;
	registers->known |= UINT64_C(1) << number;
}

/* Removes the bits of a saved return address that are not part of it: aarch64 signs return addresses. */
uint64_t arch_code_address(const struct arch *arch, uint64_t value);

#endif
