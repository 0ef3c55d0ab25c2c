/* SPDX-License-Identifier: MIT */
/*
 * What the bits of a RISC-V instruction tell: its length, and where it jumps. From The RISC-V Instruction Set Manual,
 * volume I: 1.5, 2.4.2, 2.5 and "RVC Instruction Set Listings". It needs no library, so code that is shown as words has
 * its jumps and calls, too.
 */
#ifndef RISCV64_H
#define RISCV64_H

#include <stddef.h>
#include <stdint.h>

#include "instruction.h"

/*
 * A call far away is a pair: auipc puts the upper part of an address into a register, and jalr, right behind it, jumps
 * to that register plus a number.
 */
struct riscv64 {
	unsigned into;			/* the register of the last auipc; 0: there was none yet */
	uint64_t upper;			/* what it holds */
	uint64_t next;			/* the address behind that auipc */
};

/* 2 or 4, as the first of the bytes tells, at least one. */
size_t riscv64_length(const uint8_t *bytes);

/* Sets kind and target of the instruction. It is given in order, whole, and its bytes may be no instruction at all. */
void riscv64_follow(struct riscv64 *riscv64, const uint8_t *bytes, uint64_t address, struct instruction *instruction);

#endif
