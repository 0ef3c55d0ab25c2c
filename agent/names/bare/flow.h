/* SPDX-License-Identifier: MIT */
/*
 * What an instruction does to the flow of control, in machine code that may be any bytes. It says no more of an
 * instruction: agent/code disassembles.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>
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

/* ---- calls ---- */

/*
 * Calls in machine code, which may be any bytes: what a return address has before it, what a call comes back to, and
 * where a called function has laid its frame.
 */

enum { CALLS_BEFORE = 10, CALLS_BEHIND = 16 };	/* bytes around a return address that tell all */

/*
 * May a call, or a signal's frame, have left `address` on the stack? `bytes`: the code from `before` bytes before it
 * on; it may be cut on both sides. `*target`: what a direct call names; 0: another one. An architecture that is not
 * known: true.
 */
bool calls_return(enum arch_id arch, const uint8_t *bytes, size_t before, size_t size, uint64_t address,
	uint64_t *target);

/*
 * What follows the instruction at `address`, for code that leaves an interrupt. True: it does. False: it does not, if
 * `*next` is 0; else the code goes on at `*next`.
 */
bool calls_leave_interrupt(enum arch_id arch, const uint8_t *bytes, size_t size, uint64_t address, uint64_t *next);

/* What the frame pointer is for code that was interrupted at an address of its function. */
enum calls_frame {
	CALLS_FRAME_UNKNOWN,
	CALLS_FRAME_LAID,		/* the function's own */
	CALLS_FRAME_NONE,		/* its caller's: the function has not laid its frame, or lays none */
	CALLS_FRAME_LEFT,		/* x86: likewise; the return address is on top of the stack */
};

/* `bytes`: the code of the function, from its start on. `at`: how far from there it was interrupted. */
enum calls_frame calls_frame(enum arch_id arch, const uint8_t *bytes, size_t size, size_t at);

#endif
