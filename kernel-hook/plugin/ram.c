/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "../wire.h"
#include "gate.h"
#include "machine/target.h"
#include "ram.h"

enum {
	PAGE = 4096,
	STACK = 16384,			/* bytes of a Linux kernel's, which is aligned so, or has holes around it */
	STACK_I386 = 8192,
};

#define ENTRIES_SIZE (UINT64_C(1) << 39)	/* of the entry areas, from GATE_ADDRESS on */
#define ENTRIES_I386 UINT64_C(0xff000000)	/* from here on: nothing but them and the fixmap */

/*
 * These are the places where Linux maps nothing but RAM: its code, its data and its modules; and the first page of the
 * CPUs' entry area, which is the IDT (linux/Documentation/arch/x86/x86_64/mm.rst, arch/riscv/vm-layout.rst). Linux maps
 * devices by ioremap(), into the area of vmalloc(), and into the fixmap; both lie elsewhere. On other CPUs such places
 * have no fixed address, so nothing is read there.
 */
bool ram_is(const char *arch, uint64_t address)
{
	static const struct { const char *arch; uint64_t from, to; } places[] = {
		{ "x86_64", UINT64_C(0xffffffff80000000), UINT64_C(0xffffffffff000000) },
		{ "x86_64", GATE_ADDRESS, GATE_ADDRESS + PAGE },
		{ "riscv64", UINT64_C(0xffffffff00000000), UINT64_C(0xfffffffffffff000) },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(places[i].arch, arch) == 0 && address >= places[i].from && address < places[i].to)
			return true;
	return false;
}

/*
 * On x86-64, Linux maps all RAM in one piece. The data of the CPUs and the records of threads lie there, or in the
 * kernel's own data. The area of vmalloc() begins 1 TiB behind the beginning of that piece, or later, wherever KASLR
 * puts both (kernel_randomize_memory() in arch/x86/mm/kaslr.c). So what is near a CPU's data is no device, in a machine
 * of up to 512 GiB; in a larger one some threads are not known.
 */
bool ram_is_record(const char *arch, uint64_t base, uint64_t address)
{
	const uint64_t near = UINT64_C(1) << 39;

	if (strcmp(arch, "x86_64") != 0 || base >> 63 == 0 || address >> 63 == 0)
		return false;
	return ram_is(arch, address) || (address - base < near || base - address < near);
}

/*
 * On aarch64, Linux has two halves of addresses: in one is the map of all RAM, in the other all else, its code and its
 * devices among it (linux/Documentation/arch/arm64/memory.rst). Which is which has changed in 5.4. TCR_EL1.T1SZ tells
 * how many bits are ones in all of the kernel's addresses.
 */
bool ram_is_linear(uint64_t tcr, uint64_t pc, uint64_t address)
{
	unsigned bits = 64 - (tcr >> 16 & 63);

	if (bits < 25 || bits > 52 || pc >> bits != UINT64_MAX >> bits || address >> bits != UINT64_MAX >> bits)
		return false;
	return (pc ^ address) >> (bits - 1) & 1;
}

static uint32_t block_size(const struct target_state *state)
{
	return state->arch == KTOP_I386 ? STACK_I386 : STACK;
}

static bool is_remembered(const struct ram_stacks *stacks, uint64_t block)
{
	for (uint32_t i = 0; i < RAM_STACKS; i++)
		if (stacks->blocks[i] == block)
			return true;
	return false;
}

/* On i386, without page tables, devices are in the upper half. */
static bool is_upper(const struct target_state *state, uint64_t address)
{
	return state->arch == KTOP_I386 ? state->space && address >> 31 == 1 : address >> 63;
}

uint32_t ram_stack(struct ram_stacks *stacks, const struct target_state *state)
{
	uint64_t offset = state->sp % block_size(state), block = state->sp - offset;

	if (!state->flat || state->mode != KTOP_MODE_KERNEL || !is_upper(state, state->sp))
		return 0;
	if (!is_remembered(stacks, block)) {
		stacks->blocks[stacks->next] = block;
		stacks->next = (stacks->next + 1) % RAM_STACKS;
	}
	return (uint32_t)(block_size(state) - offset);
}

uint32_t ram_stack_at(const struct ram_stacks *stacks, const struct target_state *state, uint64_t address)
{
	uint64_t offset = address % block_size(state);

	return is_upper(state, address) && is_remembered(stacks, address - offset) ?
		(uint32_t)(block_size(state) - offset) : 0;
}

/*
 * Linux on x86 has stacks for entries in the CPUs' entry areas; on x86-64 they begin with the IDT
 * (linux/Documentation/arch/x86/x86_64/mm.rst), on i386 they lie just below the fixmap
 * (linux/arch/x86/include/asm/pgtable_32_areas.h).
 */
bool ram_is_entry(const struct target_state *state)
{
	return state->arch == KTOP_I386 ? state->sp >= ENTRIES_I386 :
		state->arch == KTOP_X86_64 && state->sp - GATE_ADDRESS < ENTRIES_SIZE;
}

bool ram_maps_kernel(const struct target_state *state, bool stack)
{
	return stack && state->flat && state->mode == KTOP_MODE_KERNEL && is_upper(state, state->sp) &&
		!ram_is_entry(state);
}
