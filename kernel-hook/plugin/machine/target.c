/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "../../wire.h"
#include "target.h"

struct target {
	const char *name, *function;
	bool (*read)(const struct target_cpu *cpu, struct target_state *state);
	unsigned pc, sp;
	uint8_t arguments[TARGET_ARGUMENTS];	/* calling conventions: rdi, rsi, rdx, rcx; a0 to a3; x0 to x3 */
	const char *description, *fields[TARGET_FIELDS], *field_registers[TARGET_FIELDS];
	const char *const *names;	/* of registers, up to NULL */
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

#define CR0_PG (UINT64_C(1) << 31)
enum { CR0_PE = 1, EFER_LMA = 1 << 10, CPL = 3, SELECTOR_KIND = 7 };	/* table and level */

#define CR3_ROOT UINT64_C(0x000ffffffffff000)

/* The numbers of registers, as QEMU counts them for a debugger: in qemu-system-x86_64, in all modes; in -i386. */
struct x86 {
	unsigned word;			/* bytes */
	uint8_t cs, fs, fs_base, gs_base, cr0, cr3, efer;
	const uint8_t *dwarf_i386;
};
static const uint8_t x86_64_dwarf[] = { 0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static const struct x86 x86_64 = {
	.word = 8, .cs = 18, .fs = 22, .fs_base = 24, .gs_base = 25, .cr0 = 27, .cr3 = 29, .efer = 32,
	.dwarf_i386 = (const uint8_t[]) { 0, 2, 3, 1, 7, 6, 4, 5, 16 },
};
static const struct x86 i386 = {
	.word = 4, .cs = 10, .fs = 14, .fs_base = 16, .gs_base = 17, .cr0 = 19, .cr3 = 21, .efer = 24,
	.dwarf_i386 = (const uint8_t[]) { 0, 1, 2, 3, 4, 5, 6, 7, 8 },
};

/*
 * The kernel's GS base is in the upper half of the addresses. In user mode, and in the kernel before its entry has
 * executed swapgs, the CPU has it in the register behind gs_base. A program can put any address into its own base.
 * Where both are in the upper half, nothing tells which is the kernel's.
 */
static uint64_t kernel_gs_base(const struct target_cpu *cpu, const struct x86 *x86, bool user)
{
	uint64_t gs, aside;

	if (!get(cpu, x86->gs_base, 8, &gs) || !get(cpu, x86->gs_base + 1, 8, &aside))
		return 0;
	if (!user && gs >> 63 && aside >> 63)
		return 0;
	if (user || gs >> 63 == 0)
		gs = aside;
	return gs >> 63 ? gs : 0;
}

/*
 * A 32-bit kernel's data of this CPU is where FS begins, while FS is a segment of the kernel's: one of the global table
 * (Intel SDM, volume 3, 3.4.2), with privilege level 0. A program's has level 3.
 */
static uint64_t kernel_fs_base(const struct target_cpu *cpu, const struct x86 *x86)
{
	uint64_t fs, base;

	return get(cpu, x86->fs, 4, &fs) && fs && !(fs & SELECTOR_KIND) && get(cpu, x86->fs_base, x86->word, &base) ?
		base : 0;
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

/* In real mode an address is an offset from its segment's base, which is 16 times the segment's number. */
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
	state->space = cr0 & CR0_PG ? cr3 & CR3_ROOT : 0;
	if (state->arch == KTOP_X86_64)
		state->base = kernel_gs_base(cpu, x86, user);
	else
		state->base = state->flat && !user ? kernel_fs_base(cpu, x86) : 0;
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

/* ---- riscv64, aarch64: general registers, then the program counter; QEMU numbers them as DWARF does ---- */

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

enum { RISCV_TP = 4 };

/*
 * RISC-V ELF psABI, "DWARF register numbers". No register here tells the CPU's mode, but a field of QEMU's does.
 * Machine mode, which firmware has, counts as kernel mode. Privileged ISA, 4.1.11: satp has in its lower 44 bits the
 * page number of the page tables' root, and in its upper 4 bits how addresses are translated: 0 for not at all.
 *
 * While Linux runs, tp has the address of the thread's record; while a program does, sscratch has it (Linux,
 * arch/riscv/kernel/entry.S). All of them are in the upper half of the addresses, and a program's tp is not.
 */
static bool read_riscv64(const struct target_cpu *cpu, struct target_state *state)
{
	uint64_t mode, satp, record;

	if (!read_in_order(cpu, KTOP_RISCV64, 2, state))
		return false;
	state->mode = KTOP_MODES;
	if (field(cpu, TARGET_FIELD_MODE, &mode))
		state->mode = mode ? KTOP_MODE_KERNEL : KTOP_MODE_USER;
	if (field(cpu, TARGET_FIELD_SPACE, &satp) && satp >> 60)
		state->space = (satp & ((UINT64_C(1) << 44) - 1)) << 12;
	record = state->registers[RISCV_TP];
	if (state->mode == KTOP_MODE_USER && !field(cpu, TARGET_FIELD_BASE, &record))
		record = 0;
	state->base = record >> 63 ? record : 0;
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

/* ---- names: as QEMU's descriptions for gdb have them (gdb-xml/) ---- */

#define X86_AFTER_PC "eflags", "cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base", "k_gs_base", \
	"cr0", "cr2", "cr3", "cr4", "cr8", "efer", NULL
static const char *const x86_64_names[] = {
	"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	"rip", X86_AFTER_PC,
};
static const char *const i386_names[] = { "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", X86_AFTER_PC };
static const char *const riscv64_names[] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
	"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc", NULL,
};
static const char *const aarch64_names[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
	"x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp", "pc",
	"cpsr", NULL,
};

_Static_assert(sizeof(aarch64_names) / sizeof(aarch64_names[0]) == TARGET_NUMBERS + 1, "the longest list");

/* ---- which one ---- */

static const struct target targets[] = {
	{
		.name = "x86_64", .function = "x86_cpu_gdb_read_register", .read = read_x86_64, .pc = 16, .sp = 7,
		.arguments = { 5, 4, 3, 2 }, .names = x86_64_names,
	}, {
		.name = "i386", .function = "x86_cpu_gdb_read_register", .read = read_i386, .pc = 8, .sp = 4,
		.names = i386_names,
	}, {
		.name = "riscv64", .function = "riscv_cpu_gdb_read_register", .read = read_riscv64, .pc = 32, .sp = 2,
		.arguments = { 10, 11, 12, 13 }, .names = riscv64_names, .description = "vmstate_riscv_cpu",
		.fields = { "env.pc", [TARGET_FIELD_MODE] = "env.priv", [TARGET_FIELD_SPACE] = "env.satp",
			[TARGET_FIELD_BASE] = "env.sscratch" },
		.field_registers = { [TARGET_FIELD_MODE] = "priv", [TARGET_FIELD_SPACE] = "satp",
			[TARGET_FIELD_BASE] = "sscratch" },
	}, {
		.name = "aarch64", .function = "aarch64_cpu_gdb_read_register", .read = read_aarch64,
		.pc = 32, .sp = 31, .arguments = { 0, 1, 2, 3 },
		.names = aarch64_names, .description = "vmstate_arm_cpu",
		.fields = { "env.pc", [TARGET_FIELD_BASE] = "env.sp_el" },	/* an array; the first is SP_EL0 */
		.field_registers = { [TARGET_FIELD_BASE] = "SP_EL0" },
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

const char *target_register(const struct target *target, unsigned number)
{
	for (unsigned i = 0; target->names[i]; i++)
		if (i == number)
			return target->names[i];
	return NULL;
}

const char *target_field_register(const struct target *target, enum target_field field)
{
	return target->field_registers[field];
}

unsigned target_pc(const struct target *target)
{
	return target->pc;
}

unsigned target_sp(const struct target *target)
{
	return target->sp;
}

unsigned target_argument(const struct target *target, unsigned number)
{
	return target->arguments[number];
}

bool target_read(const struct target *target, const struct target_cpu *cpu, struct target_state *state)
{
	return target->read(cpu, state);
}
