/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/vm/ram/page_tables.h"
#include "kernel-hook/plugin/program_stack.h"
#include "kernel-hook/plugin/stack_link.h"
#include "kernel-hook/wire.h"
#include "gdb_stub_state.h"

/*
 * One sample: the registers of all CPUs; then their stacks and threads; then what these lead to. Each of the three is
 * one way there and back, for which the machine stands, so each question is asked as early as it can be.
 */

enum { PAGE = GDB_PAGE, LOWEST = 1 << 20, LONGEST = 4, SAID = 256 };
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

/* On x86, firmware and boot loaders have their stacks where RAM may change into something else (ram_file.h). */
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

/* ---- stacks ---- */

/* The stacks of a CPU: from its pointer on; the one that it leads to; and that of the program it works for. */

enum { STACK_SIZE = 16384 };	/* a kernel's stack begins and ends at a multiple of the latter */

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

/* ---- frames ---- */

/*
 * Where the guest's virtual memory is. All memory is read by physical addresses, and of RAM alone: a debugger's read of
 * a device may crash QEMU. Each page is translated anew in each sample, while the machine stands: the guest may have
 * put a device there meanwhile. What the sample before has used is asked for with the registers, so mostly the answers
 * are there in time.
 *
 * QEMU translates, and reads the guest's page tables for it. On aarch64 it crashes if one of them is on a device, an
 * interrupt controller. So there the tables are walked here, in RAM alone.
 */

#define NOWHERE UINT64_MAX

/* ---- the monitor ---- */

/* QEMU runs a command of its monitor for us. What it prints comes in packets before the answer. */
void gdb_ask_monitor(struct gdb_stub *stub, enum gdb_question question, uint32_t cpu, const char *line)
{
	char digits[2 * GDB_COMMAND + 1], *at = digits;

	for (; *line && at < digits + 2 * GDB_COMMAND; line++)
		at += sprintf(at, "%02x", (unsigned char)*line);
	gdb_ask(stub, question, cpu, "qRcmd,%s", digits);
}

void gdb_take_print(struct gdb_stub *stub, const char *digits, size_t size)
{
	uint8_t text[GDB_BODY_MAX / 2];
	size_t count = gdb_bytes(digits, size, text, sizeof(text)), room = sizeof(stub->print) - 1 - stub->print_size;

	if (stub->asked_first < stub->asked_count && stub->asked[stub->asked_first].question == GDB_ASK_MAP) {
		ram_map_take(&stub->map, (const char *)text, count);
		return;
	}
	count = count < room ? count : room;
	memcpy(stub->print + stub->print_size, text, count);
	stub->print_size += count;
	stub->print[stub->print_size] = '\0';
}

/* The monitor has a CPU of its own, which a number chooses: one less than the last part of the stub's name of it. */
static void frames_choose(struct gdb_stub *stub, uint32_t index)
{
	const char *dot = strrchr(stub->cpus[index].id, '.');
	uint64_t number = 0;
	char line[GDB_COMMAND];

	if (stub->monitor_cpu == index)
		return;
	stub->monitor_cpu = index;
	sscanf(dot ? dot + 1 : stub->cpus[index].id, "%" SCNx64, &number);
	snprintf(line, sizeof(line), "cpu %" PRIu64, number - 1);
	gdb_ask_monitor(stub, GDB_ASK_COMMAND, index, line);
}

/* It prints only if there is no such CPU. */
void gdb_take_command(struct gdb_stub *stub, uint32_t index)
{
	stub->told_cpu = stub->print_size ? GDB_CPUS : index;
	stub->print_size = 0;
}

/* ---- frames ---- */

static void ask(struct gdb_stub *stub, uint32_t index, uint32_t number)
{
	char line[GDB_COMMAND];

	frames_choose(stub, index);
	snprintf(line, sizeof(line), "gva2gpa 0x%" PRIx64, stub->cpus[index].frames[number].page);
	gdb_ask_monitor(stub, GDB_ASK_FRAME, index * GDB_FRAMES + number, line);
}

void gdb_take_frame(struct gdb_stub *stub, uint32_t asked, bool good)
{
	uint32_t index = asked / GDB_FRAMES;
	struct gdb_frame *frame = &stub->cpus[index].frames[asked % GDB_FRAMES];
	uint64_t physical;

	frame->known = true;
	frame->physical = NOWHERE;
	if (good && stub->told_cpu == index && stub->print_size &&
			sscanf(stub->print, "gpa: %" SCNx64, &physical) == 1)
		frame->physical = physical / PAGE * PAGE;
	stub->print_size = 0;
}

void gdb_keep_frames(struct gdb_stub *stub, uint32_t index)
{
	struct gdb_cpu *cpu = &stub->cpus[index];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < cpu->frame_count; i++)
		if (cpu->frames[i].used && !gdb_stub_is_direct(stub))
			cpu->frames[kept++] = (struct gdb_frame) {
				.page = cpu->frames[i].page, .physical = cpu->frames[i].physical,
			};
	cpu->frame_count = kept;
	for (uint32_t i = 0; i < kept; i++)
		ask(stub, index, i);
}

/* NULL: it is asked for just now; or there are too many. */
static struct gdb_frame *find(struct gdb_stub *stub, uint32_t index, uint64_t page)
{
	struct gdb_cpu *cpu = &stub->cpus[index];

	for (uint32_t i = 0; i < cpu->frame_count; i++)
		if (cpu->frames[i].page == page)
			return &cpu->frames[i];
	if (stub->seeks && cpu->frame_count < GDB_FRAMES) {
		cpu->frames[cpu->frame_count] = (struct gdb_frame) { .page = page };
		ask(stub, index, cpu->frame_count++);
	}
	return NULL;
}

/* ---- page tables ---- */

static void ask_for_word(struct gdb_stub *stub, uint32_t number)
{
	gdb_begin_memory(stub);
	gdb_ask(stub, GDB_ASK_WORD, number, "m%" PRIx64 ",%zx", stub->words[number].at, sizeof(uint64_t));
}

void gdb_take_word(struct gdb_stub *stub, uint32_t number, const char *digits, size_t size)
{
	struct gdb_word *word = &stub->words[number];

	word->known = gdb_bytes(digits, size, (uint8_t *)&word->value, sizeof(word->value)) == sizeof(word->value);
}

void gdb_keep_words(struct gdb_stub *stub)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < stub->word_count; i++)
		if (stub->words[i].used && stub->map.count && !gdb_stub_is_direct(stub))
			stub->words[kept++] = (struct gdb_word) { .at = stub->words[i].at };
	stub->word_count = kept;
	for (uint32_t i = 0; i < kept; i++)
		ask_for_word(stub, i);
}

/* An entry that is not known yet is asked for, if it is sought. */
static bool read_word(void *context, uint64_t physical, void *to, size_t size)
{
	struct gdb_stub *stub = context;

	stub->outside = size != sizeof(uint64_t) || !ram_map_has(&stub->map, physical, size);
	if (stub->outside)
		return false;
	for (uint32_t i = 0; i < stub->word_count; i++) {
		if (stub->words[i].at != physical)
			continue;
		stub->words[i].used = true;
		memcpy(to, &stub->words[i].value, size);
		return stub->words[i].known;
	}
	if (stub->seeks && stub->word_count < GDB_WORDS) {
		stub->words[stub->word_count] = (struct gdb_word) { .at = physical };
		ask_for_word(stub, stub->word_count++);
	}
	return false;
}

bool gdb_stub_walks(const struct gdb_stub *stub)
{
	return strcmp(gdb_stub_arch(stub), "aarch64") == 0;
}

static bool walk(struct gdb_stub *stub, const struct gdb_cpu *cpu, uint64_t address, uint64_t *physical)
{
	struct page_tables tables;

	stub->outside = address >> 63 == 0;		/* other tables than these */
	return cpu->known && cpu->state.mode == KTOP_MODE_KERNEL &&
		page_tables_aarch64(&tables, cpu->named[GDB_TTBR1_EL1], cpu->named[GDB_TCR_EL1]) &&
		page_tables_find(&tables, read_word, stub, address, physical);
}

/* ---- the whole ---- */

/* `early`: the answer is on its way, and the one of the sample before may do. */
static bool translate(struct gdb_stub *stub, uint32_t index, uint64_t address, bool early, bool keep,
	uint64_t *physical)
{
	struct gdb_frame *frame;

	if (gdb_stub_walks(stub))
		return walk(stub, &stub->cpus[index], address, physical);
	frame = find(stub, index, address / PAGE * PAGE);
	if (frame)
		frame->used |= keep;
	if (!frame || (!frame->known && !early) || frame->physical == NOWHERE)
		return false;
	*physical = frame->physical + address % PAGE;
	return true;
}

/* Both ends are looked at: what is asked for may begin in one page, and end in the next. */
bool gdb_is_ram(struct gdb_stub *stub, enum gdb_question question, uint32_t index, uint64_t address, uint32_t size,
	uint64_t *physical)
{
	bool early = question == GDB_ASK_POINTER && stub->state == GDB_REGISTERS && !stub->seeks;
	bool keep = question != GDB_ASK_PAGE && question != GDB_ASK_PLACE;
	uint64_t last;
	bool first = translate(stub, index, address, early, keep, physical);
	bool both = translate(stub, index, address + size - 1, early, keep, &last) && first &&
		last - *physical == size - 1;

	if (both && ram_map_has(&stub->map, *physical, size))
		return true;
	stub->refused |= question == GDB_ASK_STACK && !stub->seeks &&
		(both || (gdb_stub_walks(stub) && stub->outside));
	return false;
}

bool gdb_seek(struct gdb_stub *stub, void (*ask_all)(struct gdb_stub *))
{
	if (!stub->map.count)
		return false;
	stub->seeks = true;
	ask_all(stub);
	stub->seeks = false;
	gdb_end_memory(stub);
	return stub->asked_count;
}
