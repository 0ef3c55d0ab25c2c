/* SPDX-License-Identifier: MIT */
/*
 * One sample: the registers of all CPUs; then their stacks and threads; then what these lead to. Each of the three is
 * one way there and back, for which the machine stands, so each question is asked as early as it can be.
 */
#include <inttypes.h>
#include <string.h>

#include "gdb_stub_state.h"
#include "kernel-hook/wire.h"

enum { PAGE = 4096, LOWEST = 1 << 20, LONGEST = 4, SAID = 256 };
enum { X86_64_CR4 = 30, CR4_LA57 = 1 << 12 };	/* its number in QEMU; Intel SDM, volume 3, section 2.5 */

/* ---- registers ---- */

/* Asks that it be the CPU of the next questions. */
static void choose(struct gdb_stub *stub, uint32_t cpu)
{
	if (stub->chooses == cpu)
		return;
	stub->chooses = cpu;
	stub->cpus[cpu].chosen = false;
	gdb_ask(stub, GDB_ASK_CHOICE, cpu, "Hg%s", stub->cpus[cpu].id);
}

/*
 * Registers that `g` does not have: to find a thread's record, and to read a file by the page tables. On riscv64 also
 * the mode, and which page tables there are.
 */
static void ask_for_named(struct gdb_stub *stub, uint32_t index)
{
	bool walks = gdb_stub_is_direct(stub) || gdb_direct_judges(stub) || stub->map.count;
	bool follows = stub->places.known && stub->places.itself;

	const bool wanted[GDB_NAMED] = {
		[GDB_SP_EL0] = follows, [GDB_TCR_EL1] = follows || walks, [GDB_TTBR1_EL1] = walks,
		[GDB_PRIV] = true, [GDB_SATP] = true,
	};

	stub->cpus[index].named_known = 0;
	for (unsigned i = 0; i < GDB_NAMED; i++) {
		stub->cpus[index].named[i] = 0;
		if (wanted[i] && stub->target.named[i])
			gdb_ask(stub, GDB_ASK_NAMED, index * GDB_NAMED + i, "p%x", stub->target.named[i]);
	}
}

void gdb_ask_registers(struct gdb_stub *stub, bool fresh)
{
	gdb_keep_words(stub);
	for (uint32_t i = 0; i < stub->cpu_count; i++) {
		struct gdb_cpu *cpu = &stub->cpus[i];
		uint64_t base = fresh && cpu->known ? cpu->state.base : 0;

		cpu->known = cpu->idle = cpu->direct = cpu->late = cpu->ended = cpu->guessed = false;
		cpu->stack_size = cpu->linked_size = cpu->user_size = cpu->record_size = 0;
		cpu->linked_address = cpu->user_address = cpu->base = cpu->task = 0;
		choose(stub, i);
		if (!gdb_stub_is_direct(stub))
			gdb_ask(stub, GDB_ASK_HALTED, i, "qThreadExtraInfo,%s", cpu->id);
		ask_for_named(stub, i);
		gdb_keep_frames(stub, i);
		gdb_ask(stub, GDB_ASK_REGISTERS, i, "g");
		if (!gdb_stub_is_direct(stub))
			gdb_ask_pointer(stub, i, base);
	}
	gdb_end_memory(stub);
}

/* The answer to `g` has all registers. For target.h it is a CPU whose registers can be read one by one. */
struct told {
	struct target_cpu target;	/* the first member */
	const struct gdb_cpu *cpu;
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

static bool field(const struct target_cpu *cpu, enum target_field field, uint64_t *value)
{
	const struct told *told = (const struct told *)cpu;
	enum gdb_named named = field == TARGET_FIELD_MODE ? GDB_PRIV : field == TARGET_FIELD_SPACE ? GDB_SATP :
		GDB_SP_EL0;

	*value = told->cpu->named[named];
	return told->cpu->named_known >> named & 1;
}

static void take_registers(struct gdb_stub *stub, struct gdb_cpu *cpu, const char *body, size_t size)
{
	const struct told told = {
		.target = { .get = get, .field = field }, .cpu = cpu,
		.description = &stub->target, .digits = body, .size = size,
	};
	uint64_t cr4 = 0;

	memset(&cpu->state, 0, sizeof(cpu->state));
	cpu->known = target_read(stub->cpu_target, &told.target, &cpu->state);
	cpu->wide = strcmp(gdb_stub_arch(stub), "x86_64") == 0 &&
		get(&told.target, X86_64_CR4, sizeof(cr4), &cr4) && cr4 & CR4_LA57;
}

/* ---- stacks ---- */

/* On x86, firmware and boot loaders have their stacks where RAM may change into something else (ram_map.h). */
static bool is_low(const struct target_state *state)
{
	return (state->arch == KTOP_X86_64 || state->arch == KTOP_I386) && state->sp < LOWEST;
}

/*
 * A kernel's code and its stack are in the same half of the address space, and so are a program's. On aarch64 the
 * tables of a program's half are not walked.
 */
static bool has_stack(struct gdb_stub *stub, const struct target_state *state)
{
	bool wide = state->arch != KTOP_I386;
	unsigned top = wide ? 63 : 31;

	if (!state->flat || is_low(state))
		return false;
	if (state->mode == KTOP_MODE_USER && gdb_stub_walks(stub))
		return false;
	if (state->mode == KTOP_MODES && state->pc >> top == 0) {
		stub->refused |= !stub->seeks;
		return false;
	}
	return !wide || state->pc >> top == state->sp >> top;
}

/* While a CPU waits, its program counter is just behind that instruction. */
uint32_t gdb_waits_by(uint8_t arch, uint32_t *instruction)
{
	static const struct { uint32_t size, bytes; } known[KTOP_ARCHS] = {
		[KTOP_X86_64] = { 1, 0xf4 }, [KTOP_I386] = { 1, 0xf4 },
		[KTOP_RISCV64] = { 4, 0x10500073 }, [KTOP_AARCH64] = { 4, 0xd503207f },
	};

	*instruction = known[arch].bytes;
	return known[arch].size;
}

/*
 * The stack of an idle CPU is of no use. Is it idle? QEMU tells whether a CPU is halted. Until it has said so of one,
 * its code is asked for: where the CPU waited before, it is likely to wait again.
 */
static void ask_for_code_and_stack(struct gdb_stub *stub, uint32_t index)
{
	const struct gdb_cpu *cpu = &stub->cpus[index];
	const struct target_state *state = &cpu->state;
	uint32_t code, size = gdb_waits_by(state->arch, &code);

	if (!stub->tells_halted && state->pc % PAGE >= size)
		gdb_ask_memory(stub, GDB_ASK_CODE, index, state->pc - size, size);
	if (stub->tells_halted ? !cpu->idle : state->pc != cpu->waited_at)
		gdb_ask_stack(stub, index);
}

/* The kernel's pages may not be mapped while a program runs, so a CPU in its kernel is chosen. */
static void ask_for_pages(struct gdb_stub *stub)
{
	stub->page_cpu = 0;
	for (uint32_t i = stub->cpu_count; i-- > 0;)
		if (stub->cpus[i].known && stub->cpus[i].state.mode == KTOP_MODE_KERNEL)
			stub->page_cpu = i;
	if (gdb_stub_is_direct(stub)) {
		for (uint32_t i = 0; i < stub->page_count && !stub->seeks; i++)
			stub->pages[i].size = gdb_direct_bytes(stub, stub->page_cpu, stub->pages[i].address,
				stub->pages[i].bytes, GDB_PAGE);
		return;
	}
	for (uint32_t i = 0; i < stub->page_count * GDB_HALVES; i++)
		gdb_ask_memory(stub, GDB_ASK_PAGE, i,
			stub->pages[i / GDB_HALVES].address + i % GDB_HALVES * GDB_AT_ONCE, GDB_AT_ONCE);
}

static void ask_for_place(struct gdb_stub *stub)
{
	stub->seen_size = 0;
	if (stub->place && gdb_stub_is_direct(stub)) {
		stub->seen_size = gdb_direct_bytes(stub, 0, stub->place, stub->seen, stub->place_size);
	} else if (stub->place) {
		gdb_ask_memory(stub, GDB_ASK_PLACE, 0, stub->place, stub->place_size);
	}
	if (!stub->seeks)
		stub->place = 0;
}

void gdb_ask_stacks(struct gdb_stub *stub)
{
	ask_for_pages(stub);
	ask_for_place(stub);
	for (uint32_t i = 0; i < stub->cpu_count; i++) {
		struct gdb_cpu *cpu = &stub->cpus[i];

		if (!cpu->known || cpu->direct || gdb_direct_read(stub, i))
			continue;
		if (has_stack(stub, &cpu->state))
			ask_for_code_and_stack(stub, i);
		gdb_guess_program(stub, i);
		if (cpu->task || stub->places.itself) {
			gdb_ask_task(stub, i);
		} else if (cpu->base != cpu->state.base) {
			gdb_ask_pointer(stub, i, cpu->state.base);
			cpu->late = cpu->base == cpu->state.base;
		}
	}
}

/* ---- what they lead to ---- */

bool gdb_leads_further(const struct gdb_stub *stub)
{
	for (uint32_t i = 0; i < stub->cpu_count; i++)
		if (stub->cpus[i].late || gdb_expects_link(stub, &stub->cpus[i]))
			return true;
	return false;
}

void gdb_ask_further(struct gdb_stub *stub)
{
	if (gdb_direct_judges(stub) && !stub->seeks)
		gdb_direct_judge(stub);
	for (uint32_t i = 0; i < stub->cpu_count; i++) {
		if (stub->cpus[i].late)
			gdb_ask_task(stub, i);
		if (gdb_expects_link(stub, &stub->cpus[i]))
			gdb_ask_linked(stub, i);
	}
}

/* ---- the programs for which kernels work ---- */

bool gdb_leads_to_programs(const struct gdb_stub *stub)
{
	for (uint32_t i = 0; i < stub->cpu_count; i++)
		if (gdb_expects_program(stub, &stub->cpus[i]))
			return true;
	return false;
}

void gdb_ask_programs(struct gdb_stub *stub)
{
	for (uint32_t i = 0; i < stub->cpu_count; i++)
		if (gdb_expects_program(stub, &stub->cpus[i]))
			gdb_ask_program(stub, i);
}

void gdb_end_sample(struct gdb_stub *stub)
{
	for (uint32_t i = 0; i < stub->cpu_count; i++)
		gdb_learn_stack(stub, &stub->cpus[i]);
}

/* ---- answers ---- */

/* The text has "[halted ]" or "[running]". */
static void take_halted(struct gdb_stub *stub, struct gdb_cpu *cpu, const char *body, size_t size)
{
	char text[SAID] = "";

	gdb_bytes(body, size, (uint8_t *)text, sizeof(text) - 1);
	cpu->idle = strstr(text, "[halted");
	stub->tells_halted |= cpu->idle;
}

static void take_code(struct gdb_cpu *cpu, const char *body, size_t size)
{
	uint32_t waits, length = gdb_waits_by(cpu->state.arch, &waits), code = 0;
	uint8_t bytes[LONGEST] = { 0 };

	if (gdb_bytes(body, size, bytes, length) != length)
		return;
	memcpy(&code, bytes, sizeof(code));
	cpu->idle = code == waits;
	if (cpu->idle)
		cpu->waited_at = cpu->state.pc;
	else if (cpu->waited_at == cpu->state.pc)
		cpu->waited_at = 0;
}

/* The second half is of use only behind the first one. */
static void take_page(struct gdb_stub *stub, uint32_t half, const char *body, size_t size)
{
	struct gdb_page *page = &stub->pages[half / GDB_HALVES];
	uint32_t at = half % GDB_HALVES * GDB_AT_ONCE;

	if (page->size == at)
		page->size += (uint32_t)gdb_bytes(body, size, page->bytes + at, GDB_AT_ONCE);
}

static bool is_error(const char *body, size_t size)
{
	return size == 0 || body[0] == 'E';
}

/* The CPU whose memory or registers were asked for. */
static uint32_t cpu_of(const struct gdb_stub *stub, const struct gdb_asked *asked)
{
	return asked->question == GDB_ASK_PAGE ? stub->page_cpu :
		asked->question == GDB_ASK_NAMED ? asked->cpu / GDB_NAMED : asked->cpu;
}

/* It is answered by OK; what a command prints comes before. */
static bool wants_ok(enum gdb_question question)
{
	return question == GDB_ASK_CHOICE || question == GDB_ASK_COMMAND || question == GDB_ASK_FRAME ||
		question == GDB_ASK_PHYSICAL || question == GDB_ASK_GO_ON;
}

static void take_ok(struct gdb_stub *stub, struct gdb_asked asked, bool good)
{
	if (asked.question == GDB_ASK_CHOICE)
		stub->cpus[asked.cpu].chosen = good;
	else if (asked.question == GDB_ASK_COMMAND)
		gdb_take_command(stub, asked.cpu);
	else if (asked.question == GDB_ASK_FRAME)
		gdb_take_frame(stub, asked.cpu, good);
	else if (asked.question == GDB_ASK_GO_ON)
		stub->print_size = 0;		/* why it does not, if so: the next sample finds it stopped */
	else if (!good)
		stub->map.count = 0;
}

static void take_bytes(struct gdb_stub *stub, struct gdb_asked asked, const char *body, size_t size)
{
	struct gdb_cpu *cpu = &stub->cpus[cpu_of(stub, &asked)];

	unsigned named = asked.cpu % GDB_NAMED;

	if (asked.question == GDB_ASK_NAMED)
		cpu->named_known |= (uint8_t)(gdb_bytes(body, size, (uint8_t *)&cpu->named[named],
			sizeof(cpu->named[0])) > 0) << named;
	else if (asked.question == GDB_ASK_REGISTERS)
		take_registers(stub, cpu, body, size);
	else if (asked.question == GDB_ASK_HALTED)
		take_halted(stub, cpu, body, size);
	else if (asked.question == GDB_ASK_CODE)
		take_code(cpu, body, size);
	else if (asked.question == GDB_ASK_PLACE)
		stub->seen_size = (uint32_t)gdb_bytes(body, size, stub->seen, stub->place_size);
	else if (asked.question == GDB_ASK_PAGE)
		take_page(stub, asked.cpu, body, size);
	else if (asked.question == GDB_ASK_POINTER)
		gdb_take_pointer(stub, asked.cpu, body, size);
	else if (asked.question == GDB_ASK_TASK)
		gdb_take_task(cpu, body, size);
}

void gdb_take_sample(struct gdb_stub *stub, struct gdb_asked asked, const char *body, size_t size)
{
	bool good = !is_error(body, size), is_ok = strcmp(body, "OK") == 0;
	struct gdb_cpu *cpu;

	if (good && is_ok != wants_ok(asked.question)) {
		gdb_confuse(stub);
		return;
	}
	if (asked.question == GDB_ASK_WORD) {
		gdb_take_word(stub, asked.cpu, body, good ? size : 0);
		return;
	}
	if (wants_ok(asked.question)) {
		take_ok(stub, asked, good);
		return;
	}
	cpu = &stub->cpus[cpu_of(stub, &asked)];
	if (cpu->chosen && (asked.question == GDB_ASK_STACK || asked.question == GDB_ASK_LINKED ||
			asked.question == GDB_ASK_USER))
		gdb_take_stack(cpu, &asked, body, good ? size : 0);
	else if (cpu->chosen && good)
		take_bytes(stub, asked, body, size);
}
