/* SPDX-License-Identifier: MIT */
/*
 * What is read of a CPU of the guest, by the CPU's architecture, from the registers that QEMU shows a debugger. Called
 * while that CPU does nothing else.
 */
#ifndef PLUGIN_TARGET_H
#define PLUGIN_TARGET_H

#include <stdbool.h>
#include <stdint.h>

enum { TARGET_REGISTERS = 33 };

struct target_state {
	uint8_t mode;			/* enum ktop_mode but idle; KTOP_MODES: unknown */
	uint8_t arch;			/* enum ktop_arch */
	uint64_t space, base;		/* as a raw sample has them */
	uint64_t pc;			/* as an address in the guest's memory, whatever segment it is in */
	uint64_t sp;
	bool flat;			/* sp is an address as well */
	uint32_t count;			/* of registers */
	uint64_t registers[TARGET_REGISTERS];
};

/* What no register tells: 8 bytes each, in QEMU's own CPU. The first one tells where the others can be believed. */
enum target_field { TARGET_FIELD_PC, TARGET_FIELD_MODE, TARGET_FIELD_SPACE, TARGET_FIELD_BASE, TARGET_FIELDS };

/* A CPU that can be read. `number`: a register, as QEMU counts them for a debugger. False: none of so many bytes. */
struct target_cpu {
	bool (*get)(const struct target_cpu *cpu, unsigned number, unsigned size, uint64_t *value);
	bool (*field)(const struct target_cpu *cpu, enum target_field field, uint64_t *value);	/* NULL: has none */
};

struct target;

/* By QEMU's name of it; NULL: not one that is known here. */
const struct target *target_find(const char *name);

/* The name of the function of QEMU that reads a register. */
const char *target_function(const struct target *target);

/* The names of the fields' description and of a field in it, in QEMU; NULL: none is needed. */
const char *target_description(const struct target *target);
const char *target_field(const struct target *target, enum target_field field);

/* The number of the program counter, by which target_cpu reads it. */
unsigned target_pc(const struct target *target);

/* False: QEMU does not give its registers as is known here. */
bool target_read(const struct target *target, const struct target_cpu *cpu, struct target_state *state);

#endif
