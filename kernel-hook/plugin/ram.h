/* SPDX-License-Identifier: MIT */
/*
 * Which of a Linux guest's memory is RAM, or nothing, and surely no device. A device would act on a read, and a
 * debugger's read of one may crash QEMU. Only the guest knows where its devices are. `arch`: QEMU's name of it.
 */
#ifndef PLUGIN_RAM_H
#define PLUGIN_RAM_H

#include <stdbool.h>
#include <stdint.h>

struct target_state;

bool ram_is(const char *arch, uint64_t address);

/* The kernel keeps the data of a CPU at `base`. Is this address such data, or may a thread's record be there? */
bool ram_is_record(const char *arch, uint64_t base, uint64_t address);

/*
 * aarch64: is this address in the kernel's map of all RAM? `tcr`: the register TCR_EL1; `pc`: of a CPU in its kernel.
 */
bool ram_is_linear(uint64_t tcr, uint64_t pc, uint64_t address);

/*
 * Stacks on which CPUs have run in their kernel lately: aligned blocks of memory, that no stack shares with a device.
 * All 0: none yet.
 */
enum { RAM_STACKS = 64 };
struct ram_stacks {
	uint64_t blocks[RAM_STACKS];
	uint32_t next;			/* the place of the block that is forgotten next */
};

/*
 * How many bytes from the CPU's stack pointer on are of its stack, which is remembered. 0: the CPU does not run in its
 * kernel, or its stack may be anywhere: only addresses in the upper half, by page tables, are surely a kernel's own.
 */
uint32_t ram_stack(struct ram_stacks *stacks, const struct target_state *state);

/* Likewise from this address on, which the guest's memory has told. 0: it is in no stack that is remembered. */
uint32_t ram_stack_at(const struct ram_stacks *stacks, const struct target_state *state, uint64_t address);

/* x86: the stack is one for entries into the kernel alone. */
bool ram_is_entry(const struct target_state *state);

/*
 * Do the CPU's page tables map all of its kernel? With page table isolation those of a program do not, and the kernel's
 * entry code still runs by them: there its stack is not mapped, or is one for entries alone. `stack`: memory at the
 * stack pointer was read.
 */
bool ram_maps_kernel(const struct target_state *state, bool stack);

#endif
