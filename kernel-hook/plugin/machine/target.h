/* SPDX-License-Identifier: MIT */
/*
 * Reads the state of a guest's CPU from the registers that QEMU shows a debugger. What is in which register depends on
 * the CPU's architecture. All calls are made while that CPU does nothing else.
 */
#ifndef PLUGIN_TARGET_H
#define PLUGIN_TARGET_H

#include <stdbool.h>
#include <stdint.h>

enum { TARGET_REGISTERS = 33, TARGET_NUMBERS = 34 };	/* of a sample; of those that a debugger numbers */

struct target_state {
	uint8_t mode;			/* enum ktop_mode, but never idle; KTOP_MODES: unknown */
	uint8_t arch;			/* enum ktop_arch */
	uint64_t space, base;		/* as a raw sample has them */
	uint64_t pc;			/* a linear address: the base of its segment is added */
	uint64_t sp;
	bool flat;			/* segments have no base, so sp is a linear address, too */
	uint32_t count;			/* of `registers` */
	uint64_t registers[TARGET_REGISTERS];	/* by DWARF's numbers */
};

/*
 * Facts that no register has: fields of 8 bytes in QEMU's own CPU structure (debugger.c). The first one is there to be
 * compared with the register: if they agree, the other fields are where they are thought to be.
 */
enum target_field { TARGET_FIELD_PC, TARGET_FIELD_MODE, TARGET_FIELD_SPACE, TARGET_FIELD_BASE, TARGET_FIELDS };

/* A CPU that can be read. */
struct target_cpu {
	/* `number`: of a register, as QEMU counts them for a debugger. False: there is none of so many bytes. */
	bool (*get)(const struct target_cpu *cpu, unsigned number, unsigned size, uint64_t *value);
	/* NULL: fields cannot be read. False: this one is not known. */
	bool (*field)(const struct target_cpu *cpu, enum target_field field, uint64_t *value);
};

struct target;

/* `name`: QEMU's name of the architecture. NULL: it is not known here. */
const struct target *target_find(const char *name);

/* The name of QEMU's function that reads a register. */
const char *target_function(const struct target *target);

/* QEMU's names of the description that has the fields, and of a field in it. NULL: there is none. */
const char *target_description(const struct target *target);
const char *target_field(const struct target *target, enum target_field field);

/*
 * QEMU's interface for plugins numbers no registers: it names them. The names of the register with this number, below
 * TARGET_NUMBERS, and of the one that has the field. NULL: there is none.
 */
const char *target_register(const struct target *target, unsigned number);
const char *target_field_register(const struct target *target, enum target_field field);

/* The numbers of the program counter and of the stack pointer, for target_cpu.get. */
unsigned target_pc(const struct target *target);
unsigned target_sp(const struct target *target);

/* That of the register in which C has a function's argument at its entry, of 64 bits; of the first TARGET_ARGUMENTS. */
enum { TARGET_ARGUMENTS = 4 };
unsigned target_argument(const struct target *target, unsigned number);

/* False: QEMU's registers are not those that are known here. */
bool target_read(const struct target *target, const struct target_cpu *cpu, struct target_state *state);

#endif
