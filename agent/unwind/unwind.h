/* SPDX-License-Identifier: MIT */
/*
 * Turns the registers and the stack of one sample into its frames. All input comes from outside and is
 * hostile: a walk ends after UNWIND_FRAMES frames, and reads only what struct stack_memory gives. Nothing is
 * guessed: where the next frame is not certain, the stack is cut.
 */
#ifndef UNWIND_H
#define UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/names/bare/flow.h"
#include "arch.h"

/* ---- the stack's memory ---- */

/*
 * The memory that a walk may read: the bytes of stacks in the sample; and the guest's memory, if the source
 * can read it as it was at that instant.
 */

struct memory_reader;

enum { STACK_MEMORY_PIECES = 4, STACK_MEMORY_READS = 256 };

struct stack_piece {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};

struct stack_memory {
	size_t count;
	struct stack_piece pieces[STACK_MEMORY_PIECES];

	/* Reads other memory, STACK_MEMORY_READS times a walk at most. NULL: the source cannot. */
	const struct memory_reader *elsewhere;
	unsigned reads;			/* reads of `elsewhere` so far */
};

/* ---- unwind ---- */

enum { UNWIND_FRAMES = 64 };		/* in each of the two stacks, as in a sample on the wire */

struct frame_rules;
struct orc_entry;

/* What is known of the code at an address. Each function may be NULL: nothing is known. */
struct unwind_code {
	void *context;
	bool (*is_kernel)(void *context, uint64_t pc);
	/* Finds the start of the kernel's function that has this address. False: none is known. */
	bool (*function)(void *context, uint64_t pc, uint64_t *start);
	/* Linux's ORC entry for this address. False: none. */
	bool (*orc)(void *context, uint64_t pc, struct orc_entry *entry);
	/*
	 * riscv64: is this the code where the kernel is entered? It calls on with Linux's struct pt_regs on top of its
	 * stack, and has no frame.
	 */
	bool (*entry)(void *context, uint64_t pc);
	/* Call frame information for this address, of the kernel or of a program. False: none. */
	bool (*rules)(void *context, uint64_t pc, struct frame_rules *rules);
	/* What the frame pointer is where the code was interrupted. */
	enum calls_frame (*frame)(void *context, uint64_t pc);
	/* Is there a call behind which `returns` is, and which names the function of `callee`? */
	bool (*calls)(void *context, uint64_t returns, uint64_t callee);
};

/* The frames of one mode, the interrupted one first. */
struct unwound_frames {
	uint32_t count;
	uint64_t exact;			/* bit i: frames[i] is an interrupted PC, not a return address */
	bool cut;			/* callers are missing */
	uint64_t frames[UNWIND_FRAMES];
};

struct unwound {
	struct unwound_frames kernel, user;
};

/* Changes `registers`, which are those of the sample. The walk begins in the mode of their pc. */
void unwind(struct registers *registers, const struct unwind_code *code, struct stack_memory *memory,
	struct unwound *result);

#endif
