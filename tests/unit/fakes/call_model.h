/* SPDX-License-Identifier: MIT */
/*
 * A CPU that calls functions. It writes frames to a stack, as compiled code of each CPU does, and notes
 * what a walk of that stack must find.
 */
#ifndef CALL_MODEL_H
#define CALL_MODEL_H

#include "agent/unwind/unwind.h"
#include "random.h"

enum { CALL_MODEL_FUNCTIONS = 40, CALL_MODEL_FUNCTION_SIZE = 256, CALL_MODEL_STACK = 8192 };

struct call_model {
	const struct arch *arch;
	struct random random;
	uint64_t text;			/* the address of the first function */
	uint64_t stack;			/* the lowest address of the stack */
	uint8_t bytes[CALL_MODEL_STACK];
	struct registers registers;
	bool orc;			/* there are no frame pointers, but an ORC table: x86-64 */
	struct unwound_frames expected;	/* the interrupted one first */
	struct stack_memory memory;
	struct unwind_code code;
};

/* The first function runs. It has no caller. */
void call_model_begin(struct call_model *model, enum arch_id arch, uint64_t seed);

/* The same on x86-64, as if compiled without frame pointers. An ORC table tells where the frames are. */
void call_model_begin_orc(struct call_model *model, uint64_t seed);

/* The function that runs calls another one. `frame`: that one makes its frame. */
void call_model_call(struct call_model *model, bool frame);

/* riscv64: likewise, and that one stores the frame pointer alone. */
void call_model_call_last(struct call_model *model);

/*
 * x86, riscv64: the entry code of an interrupt writes a struct pt_regs, marks it in the frame pointer or in the
 * table, or nowhere, and calls a handler.
 */
void call_model_interrupt(struct call_model *model);

/* Fills in everything that a walk is given. */
void call_model_sample(struct call_model *model);

#endif
