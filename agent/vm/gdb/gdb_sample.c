/* SPDX-License-Identifier: MIT */
/* One sample: the registers of all CPUs, then their stacks. */
#include <inttypes.h>
#include <string.h>

#include "gdb_stub_state.h"
#include "kernel-hook/wire.h"

enum { PAGE = 4096, STACK_SIZE = 16384, LOWEST = 1 << 20, LONGEST = 4 };

/* ---- registers ---- */

void gdb_ask_registers(struct gdb_stub *stub)
{
	for (uint32_t i = 0; i < stub->cpu_count; i++) {
		struct gdb_cpu *cpu = &stub->cpus[i];

		cpu->known = cpu->idle = cpu->chosen = false;
		cpu->stack_size = 0;
		gdb_ask(stub, GDB_ASK_CHOICE, i, "Hg%s", cpu->id);
		gdb_ask(stub, GDB_ASK_REGISTERS, i, "g");
	}
}

/* The answer to `g` has all registers. For target.h it is a CPU whose registers can be read one by one. */
struct told {
	struct target_cpu target;	/* the first member */
	const struct gdb_target *description;
	const char *digits;
	size_t size;
};

static bool get(const struct target_cpu *cpu, unsigned number, unsigned size, uint64_t *value)
{
	const struct told *told = (const struct told *)cpu;
	long offset = gdb_target_offset(told->description, number);
	uint8_t bytes[sizeof(*value)] = { 0 };

	if (offset < 0 || size > sizeof(bytes) || told->description->sizes[number] != size ||
			2 * ((size_t)offset + size) > told->size ||
			gdb_bytes(told->digits + 2 * offset, 2 * (size_t)size, bytes, size) != size)
		return false;
	memcpy(value, bytes, sizeof(bytes));
	return true;
}

static void take_registers(struct gdb_stub *stub, struct gdb_cpu *cpu, const char *body, size_t size)
{
	const struct told told = {
		.target = { .get = get }, .description = &stub->target, .digits = body, .size = size,
	};

	memset(&cpu->state, 0, sizeof(cpu->state));
	cpu->known = cpu->chosen && target_read(stub->cpu_target, &told.target, &cpu->state);
}

/* ---- stacks ---- */

/* A kernel's code and its stack are in the same half of the address space. */
static bool is_kernels(const struct target_state *state)
{
	bool wide = state->arch != KTOP_I386;
	unsigned top = wide ? 63 : 31;

	if (!state->flat || state->mode == KTOP_MODE_USER || state->sp < LOWEST)
		return false;
	if (state->mode == KTOP_MODES && state->pc >> top == 0)
		return false;
	return !wide || state->pc >> top == state->sp >> top;
}

/* The instruction that waits for an interrupt. While a CPU waits, its program counter is just behind it. */
static uint32_t waits_by(uint8_t arch, uint32_t *instruction)
{
	static const struct { uint32_t size, bytes; } known[KTOP_ARCHS] = {
		[KTOP_X86_64] = { 1, 0xf4 }, [KTOP_I386] = { 1, 0xf4 },
		[KTOP_RISCV64] = { 4, 0x10500073 }, [KTOP_AARCH64] = { 4, 0xd503207f },
	};

	*instruction = known[arch].bytes;
	return known[arch].size;
}

static void ask_for_stack(struct gdb_stub *stub, uint32_t index)
{
	struct gdb_cpu *cpu = &stub->cpus[index];
	const struct target_state *state = &cpu->state;
	uint32_t code, size = waits_by(state->arch, &code);
	uint32_t left = STACK_SIZE - (uint32_t)(state->sp % STACK_SIZE), page = PAGE - (uint32_t)(state->sp % PAGE);
	uint32_t most = left < GDB_STACK ? left : GDB_STACK;

	if (!cpu->known || !is_kernels(state))
		return;
	cpu->chosen = false;
	cpu->first = most < page ? most : page;
	gdb_ask(stub, GDB_ASK_CHOICE, index, "Hg%s", cpu->id);
	if (state->pc % PAGE >= size)
		gdb_ask(stub, GDB_ASK_CODE, index, "m%" PRIx64 ",%x", state->pc - size, size);
	gdb_ask(stub, GDB_ASK_STACK, index, "m%" PRIx64 ",%x", state->sp, cpu->first);
	if (cpu->first < most)
		gdb_ask(stub, GDB_ASK_STACK, index, "m%" PRIx64 ",%x", state->sp + cpu->first, most - cpu->first);
}

void gdb_ask_stacks(struct gdb_stub *stub)
{
	stub->seen_size = 0;
	if (stub->place) {
		gdb_ask(stub, GDB_ASK_CHOICE, 0, "Hg%s", stub->cpus[0].id);
		gdb_ask(stub, GDB_ASK_PLACE, 0, "m%" PRIx64 ",%x", stub->place, stub->place_size);
	}
	stub->place = 0;
	for (uint32_t i = 0; i < stub->cpu_count; i++)
		ask_for_stack(stub, i);
}

static void take_code(struct gdb_cpu *cpu, const char *body, size_t size)
{
	uint32_t waits, length = waits_by(cpu->state.arch, &waits), code = 0;
	uint8_t bytes[LONGEST] = { 0 };

	if (gdb_bytes(body, size, bytes, length) != length)
		return;
	memcpy(&code, bytes, sizeof(code));
	cpu->idle = code == waits;
}

/* The stack is read in two parts. The second one is of use only if the first one was complete. */
static void take_stack(struct gdb_cpu *cpu, const char *body, size_t size)
{
	if (cpu->stack_size == 0 || cpu->stack_size == cpu->first)
		cpu->stack_size += (uint32_t)gdb_bytes(body, size, cpu->stack + cpu->stack_size,
			GDB_STACK - cpu->stack_size);
}

/* ---- answers ---- */

static bool is_error(const char *body, size_t size)
{
	return size == 0 || body[0] == 'E';
}

void gdb_take_sample(struct gdb_stub *stub, struct gdb_asked asked, const char *body, size_t size)
{
	struct gdb_cpu *cpu = &stub->cpus[asked.cpu];
	bool good = !is_error(body, size), is_ok = strcmp(body, "OK") == 0;

	if (good && is_ok != (asked.question == GDB_ASK_CHOICE)) {
		gdb_confuse(stub);
		return;
	}
	if (asked.question == GDB_ASK_CHOICE)
		cpu->chosen = good;
	else if (asked.question == GDB_ASK_REGISTERS && good)
		take_registers(stub, cpu, body, size);
	else if (asked.question == GDB_ASK_CODE && good && cpu->chosen)
		take_code(cpu, body, size);
	else if (asked.question == GDB_ASK_PLACE && good && cpu->chosen)
		stub->seen_size = (uint32_t)gdb_bytes(body, size, stub->seen, stub->place_size);
	else if (asked.question == GDB_ASK_STACK && good && cpu->chosen)
		take_stack(cpu, body, size);
}
