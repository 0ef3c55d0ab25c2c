/* SPDX-License-Identifier: MIT */
/*
 * What an instruction does to the flow of control, in machine code that may be any bytes. It says no more of an
 * instruction: agent/code disassembles.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

enum flow_kind {
	FLOW_ON,			/* the next one follows */
	FLOW_PADDING,			/* does nothing; often lies between functions */
	FLOW_CALL,			/* of `target` */
	FLOW_CALL_REGISTER,		/* of what a register or memory names */
	FLOW_BRANCH,			/* maybe to `target` */
	FLOW_JUMP,			/* to `target` */
	FLOW_JUMP_TABLE,		/* to what a table of whole words at `names` has */
	FLOW_JUMP_REGISTER,		/* to what a register names: through a table, or to another function */
	FLOW_RETURN,
	FLOW_END,			/* nothing goes on behind it: a jump to another function, a trap */
};

struct flow {
	enum flow_kind kind;
	unsigned size;			/* bytes */
	uint64_t target;
	uint64_t names;			/* an address that it loads, or FLOW_JUMP_TABLE; else 0 */
};

/*
 * Reads the instruction of `address`, of which `left` bytes are there at most; `left` is not 0. Where they are none, or
 * one that is cut, it is FLOW_ON, and has the size of the smallest one. Of RISC-V, a pair that calls or jumps far
 * counts as one.
 */
typedef void flow_reader(const uint8_t *bytes, size_t left, uint64_t address, struct flow *flow);

flow_reader *flow_reader_of(enum arch_id arch);	/* NULL: it is not known */

#endif
