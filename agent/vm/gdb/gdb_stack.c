/* SPDX-License-Identifier: MIT */
/* The stacks of a CPU: from its pointer on; the one that it leads to; and that of the program it works for. */
#include "gdb_stub_state.h"
#include "kernel-hook/plugin/program_stack.h"
#include "kernel-hook/plugin/stack_link.h"

enum { PAGE = 4096, STACK_SIZE = 16384 };	/* a kernel's stack begins and ends at a multiple of the latter */

/* Each question is for one page alone. Parts behind one that cannot be read are of no use. */
static void ask_parts(struct gdb_stub *stub, enum gdb_question question, uint32_t index, uint64_t address,
	uint32_t size)
{
	while (size) {
		uint32_t page = PAGE - (uint32_t)(address % PAGE), part = size < page ? size : page;

		part = part < GDB_AT_ONCE ? part : GDB_AT_ONCE;
		if (!gdb_ask_memory(stub, question, index, address, part))
			return;
		address += part;
		size -= part;
	}
}

static uint32_t left_of(uint64_t address, uint32_t room)
{
	uint32_t left = STACK_SIZE - (uint32_t)(address % STACK_SIZE);

	return left < room ? left : room;
}

/* A program's stack ends anywhere: behind it, nothing can be read. */
void gdb_ask_stack(struct gdb_stub *stub, uint32_t index)
{
	const struct target_state *state = &stub->cpus[index].state;

	ask_parts(stub, GDB_ASK_STACK, index, state->sp,
		state->mode == KTOP_MODE_USER ? GDB_STACK : left_of(state->sp, GDB_STACK));
}

/* ---- the stack that it leads to ---- */

/*
 * Linux on x86-64 runs interrupts on a stack of their own, one for each CPU. Only what its topmost word points to is
 * read: the kernel alone writes that. Elsewhere a program may have had a hand in it, and a device might be there.
 */
static bool may_lead(const struct gdb_stub *stub, const struct gdb_cpu *cpu)
{
	return stub->places.known && cpu->known && cpu->state.arch == KTOP_X86_64;
}

static uint64_t link_of(const struct gdb_cpu *cpu)
{
	uint64_t link = stack_link(&cpu->state, cpu->stack, cpu->stack_size);

	return link == cpu->state.sp + cpu->stack_size ? 0 : link;
}

/*
 * The machine is let go on behind the last questions. So before the bytes of a stack have come, it has to be known
 * whether they lead to another one: if the sample is on the stack on which an earlier sample did.
 */
bool gdb_expects_link(const struct gdb_stub *stub, const struct gdb_cpu *cpu)
{
	uint64_t left = cpu->interrupts - cpu->state.sp;

	return may_lead(stub, cpu) && !cpu->direct && cpu->interrupts && left && left <= KTOP_STACK_MAX;
}

void gdb_ask_linked(struct gdb_stub *stub, uint32_t index)
{
	struct gdb_cpu *cpu = &stub->cpus[index];

	cpu->linked_address = link_of(cpu);
	cpu->ended = false;
	if (cpu->linked_address)
		ask_parts(stub, GDB_ASK_LINKED, index, cpu->linked_address,
			left_of(cpu->linked_address, GDB_STACK - cpu->stack_size));
}

/* Its end need not be at a multiple of its size. */
void gdb_learn_stack(const struct gdb_stub *stub, struct gdb_cpu *cpu)
{
	if (may_lead(stub, cpu) && cpu->stack_size && link_of(cpu))
		cpu->interrupts = cpu->state.sp + cpu->stack_size;
}

/* ---- the program for which the kernel works ---- */

/* Known before the bytes of its stack have come: so the machine is not let go on too early. */
bool gdb_expects_program(const struct gdb_stub *stub, const struct gdb_cpu *cpu)
{
	return stub->places.known && cpu->known && !cpu->direct && !cpu->idle && cpu->state.pc != cpu->waited_at &&
		program_stack_saved(&cpu->state, 0);
}

static const uint8_t *find_saved(const struct gdb_cpu *cpu, uint64_t address)
{
	uint64_t offset = address - cpu->state.sp, linked = address - cpu->linked_address;

	if (offset < cpu->stack_size && cpu->stack_size - offset >= PROGRAM_STACK_SAVED)
		return cpu->stack + offset;
	if (linked < cpu->linked_size && cpu->linked_size - linked >= PROGRAM_STACK_SAVED)
		return cpu->stack + cpu->stack_size + linked;
	return NULL;
}

static uint64_t program_of(const struct gdb_cpu *cpu)
{
	const uint8_t *saved = find_saved(cpu, program_stack_saved(&cpu->state, cpu->linked_address));

	return saved ? program_stack_pointer(saved) : 0;
}

static void ask_user(struct gdb_stub *stub, uint32_t index, uint64_t address)
{
	stub->cpus[index].user_address = address;
	if (address)
		ask_parts(stub, GDB_ASK_USER, index, address, sizeof(stub->cpus[index].user));
}

/*
 * A program that calls its kernel again and again mostly does so with the same stack pointer. So its stack is asked for
 * with that of the kernel, where it was in the sample before. This saves questions, for which the guest would stand.
 */
void gdb_guess_program(struct gdb_stub *stub, uint32_t index)
{
	struct gdb_cpu *cpu = &stub->cpus[index];

	cpu->guessed = cpu->guess && gdb_expects_program(stub, cpu);
	if (cpu->guessed)
		ask_user(stub, index, cpu->guess);
}

/* The kernel's stack tells of the same moment where the program's is. What was read elsewhere counts for nothing. */
void gdb_ask_program(struct gdb_stub *stub, uint32_t index)
{
	struct gdb_cpu *cpu = &stub->cpus[index];
	uint64_t is = program_of(cpu);

	if (cpu->guessed && is == cpu->user_address)
		return;
	cpu->guessed = cpu->ended = false;
	cpu->user_size = 0;
	ask_user(stub, index, is);
	if (is)
		cpu->guess = is;
}

/* ---- answers ---- */

static void take_user(struct gdb_cpu *cpu, const struct gdb_asked *asked, const char *body, size_t size)
{
	uint32_t room = sizeof(cpu->user) - cpu->user_size, got;

	got = (uint32_t)gdb_bytes(body, size, cpu->user + cpu->user_size, asked->size < room ? asked->size : room);
	cpu->ended = got != asked->size;
	cpu->user_size += got;
}

void gdb_take_stack(struct gdb_cpu *cpu, const struct gdb_asked *asked, const char *body, size_t size)
{
	uint32_t at = cpu->stack_size + cpu->linked_size, room = GDB_STACK - at, got;

	if (cpu->ended)
		return;
	if (asked->question == GDB_ASK_USER) {
		take_user(cpu, asked, body, size);
		return;
	}
	got = (uint32_t)gdb_bytes(body, size, cpu->stack + at, asked->size < room ? asked->size : room);
	cpu->ended = got != asked->size;
	*(asked->question == GDB_ASK_STACK ? &cpu->stack_size : &cpu->linked_size) += got;
}
