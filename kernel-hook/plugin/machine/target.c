/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "../../wire.h"
#include "target.h"

struct target {
	const char *name, *function;
	bool (*read)(const struct target_cpu *cpu, struct target_state *state);
	unsigned pc;
	const char *description, *fields[TARGET_FIELDS];
};

/* False: there is none of this size. */
static bool get(const struct target_cpu *cpu, unsigned number, unsigned size, uint64_t *value)
{
	*value = 0;
	return cpu->get(cpu, number, size, value);
}

static bool field(const struct target_cpu *cpu, enum target_field which, uint64_t *value)
{
	*value = 0;
	return cpu->field && cpu->field(cpu, which, value);
}

/* DWARF's register i is the debugger's numbers[i]. */
static bool get_all(const struct target_cpu *cpu, const uint8_t *numbers, uint32_t count, unsigned size,
	struct target_state *state)
{
	bool good = true;

	for (state->count = 0; state->count < count && good; state->count++)
		good = get(cpu, numbers[state->count], size, &state->registers[state->count]);
	return good;
}

/* ---- x86; DWARF: AMD64 supplement, figure 3.36; i386 supplement, table 2.14 ---- */

enum { CR0_PE = 1, EFER_LMA = 1 << 10, CPL = 3 };

#define CR3_ROOT UINT64_C(0x000ffffffffff000)

/* The debugger's numbers: of x86_64 QEMU, which counts so in each mode; of i386 QEMU. */
struct x86 {
	unsigned word;			/* bytes */
	uint8_t cs, gs_base, cr0, cr3, efer;
	const uint8_t *dwarf_i386;
};
static const uint8_t x86_64_dwarf[] = { 0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static const struct x86 x86_64 = {
	.word = 8, .cs = 18, .gs_base = 25, .cr0 = 27, .cr3 = 29, .efer = 32,
	.dwarf_i386 = (const uint8_t[]) { 0, 2, 3, 1, 7, 6, 4, 5, 16 },
};
static const struct x86 i386 = {
	.word = 4, .cs = 10, .gs_base = 17, .cr0 = 19, .cr3 = 21, .efer = 24,
	.dwarf_i386 = (const uint8_t[]) { 0, 1, 2, 3, 4, 5, 6, 7, 8 },
};

/* It is in the upper half. In user mode, and for a few instructions in the kernel, it is the one kept aside. */
static uint64_t kernel_gs_base(const struct target_cpu *cpu, const struct x86 *x86, bool user)
{
	uint64_t gs, aside;

	if (!get(cpu, x86->gs_base, 8, &gs) || !get(cpu, x86->gs_base + 1, 8, &aside))
		return 0;
	if (user || gs >> 63 == 0)
		gs = aside;
	return gs >> 63 ? gs : 0;
}

static bool get_x86_registers(const struct target_cpu *cpu, const struct x86 *x86, struct target_state *state)
{
	bool wide = state->arch == KTOP_X86_64;
	const uint8_t *numbers = wide ? x86_64_dwarf : x86->dwarf_i386;
	uint32_t pc = wide ? 16 : 8;

	if (!get_all(cpu, numbers, pc + 1, x86->word, state))
		return false;
	state->pc = state->registers[pc];
	state->sp = state->registers[wide ? 7 : 4];
	return true;
}

/* Without protection, an address is an offset from 16 times the number of its segment. */
static bool read_x86(const struct target_cpu *cpu, const struct x86 *x86, struct target_state *state)
{
	uint64_t cs, cr0, cr3, efer;
	bool user;

	if (!get(cpu, x86->cs, 4, &cs) || !get(cpu, x86->cr0, x86->word, &cr0) ||
			!get(cpu, x86->cr3, x86->word, &cr3) || !get(cpu, x86->efer, x86->word, &efer))
		return false;
	state->arch = efer & EFER_LMA ? KTOP_X86_64 : KTOP_I386;
	if (!get_x86_registers(cpu, x86, state))
		return false;
	state->flat = cr0 & CR0_PE;
	if (!state->flat)
		state->pc = state->registers[state->count - 1] += cs << 4;
	user = state->flat && (cs & CPL) == CPL;
	state->mode = user ? KTOP_MODE_USER : KTOP_MODE_KERNEL;
	state->space = cr3 & CR3_ROOT;
	state->base = state->arch == KTOP_X86_64 ? kernel_gs_base(cpu, x86, user) : 0;
	return true;
}

static bool read_x86_64(const struct target_cpu *cpu, struct target_state *state)
{
	return read_x86(cpu, &x86_64, state);
}

static bool read_i386(const struct target_cpu *cpu, struct target_state *state)
{
	return read_x86(cpu, &i386, state);
}

/* ---- those of whose registers x0 on come first, then the program counter; DWARF counts as the debugger ---- */

static const uint8_t in_order[TARGET_REGISTERS] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

static bool read_in_order(const struct target_cpu *cpu, enum ktop_arch arch, uint32_t sp, struct target_state *state)
{
	if (!get_all(cpu, in_order, TARGET_REGISTERS, 8, state))
		return false;
	state->arch = (uint8_t)arch;
	state->pc = state->registers[32];
	state->sp = state->registers[sp];
	state->flat = true;
	state->space = state->base = 0;
	return true;
}

/*
 * RISC-V ELF psABI, "DWARF register numbers". Which of its modes the CPU is in, no register here tells. The firmware's,
 * too, is not a program's. Privileged ISA, 4.1.11: satp has the number of the root's page, and a mode above it, 0 for
 * none.
 */
static bool read_riscv64(const struct target_cpu *cpu, struct target_state *state)
{
	uint64_t mode, satp;

	if (!read_in_order(cpu, KTOP_RISCV64, 2, state))
		return false;
	state->mode = KTOP_MODES;
	if (field(cpu, TARGET_FIELD_MODE, &mode))
		state->mode = mode ? KTOP_MODE_KERNEL : KTOP_MODE_USER;
	if (field(cpu, TARGET_FIELD_SPACE, &satp) && satp >> 60)
		state->space = (satp & ((UINT64_C(1) << 44) - 1)) << 12;
	return true;
}

/* Arm's AADWARF64, section 4.1. Number 33 is the processor state, with the exception level in it. */
static bool read_aarch64(const struct target_cpu *cpu, struct target_state *state)
{
	uint64_t pstate, base;

	if (!get(cpu, 33, 4, &pstate) || !read_in_order(cpu, KTOP_AARCH64, 31, state))
		return false;
	state->mode = pstate >> 2 & 3 ? KTOP_MODE_KERNEL : KTOP_MODE_USER;
	if (state->mode == KTOP_MODE_KERNEL && field(cpu, TARGET_FIELD_BASE, &base) && base >> 63)
		state->base = base;
	return true;
}

/* ---- which one ---- */

static const struct target targets[] = {
	{ .name = "x86_64", .function = "x86_cpu_gdb_read_register", .read = read_x86_64, .pc = 16 },
	{ .name = "i386", .function = "x86_cpu_gdb_read_register", .read = read_i386, .pc = 8 },
	{
		.name = "riscv64", .function = "riscv_cpu_gdb_read_register", .read = read_riscv64, .pc = 32,
		.description = "vmstate_riscv_cpu",
		.fields = { "env.pc", [TARGET_FIELD_MODE] = "env.priv", [TARGET_FIELD_SPACE] = "env.satp" },
	}, {
		.name = "aarch64", .function = "aarch64_cpu_gdb_read_register", .read = read_aarch64, .pc = 32,
		.description = "vmstate_arm_cpu",
		.fields = { "env.pc", [TARGET_FIELD_BASE] = "env.sp_el" },	/* an array; the first is SP_EL0 */
	},
};

const struct target *target_find(const char *name)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(targets[i].name, name) == 0)
			return &targets[i];
	return NULL;
}

const char *target_function(const struct target *target)
{
	return target->function;
}

const char *target_description(const struct target *target)
{
	return target->description;
}

const char *target_field(const struct target *target, enum target_field field)
{
	return target->fields[field];
}

unsigned target_pc(const struct target *target)
{
	return target->pc;
}

bool target_read(const struct target *target, const struct target_cpu *cpu, struct target_state *state)
{
	return target->read(cpu, state);
}
