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

#include "agent/base/arch_id.h"
#include "agent/names/bare/flow.h"

/* ---- arch ---- */

/*
 * What unwinding must know of an architecture: which register is which, and where a frame keeps its caller's.
 * Registers have DWARF's numbers: System V ABI, AMD64 supplement, figure 3.36; i386 supplement, table 2.14;
 * RISC-V ELF psABI, "DWARF register numbers"; Arm's AADWARF64, section 4.1. If DWARF has no number for the
 * program counter, it gets the one after the last.
 */

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

/* ---- unwind ---- */

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
