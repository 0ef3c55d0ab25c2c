/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/vm/ram/page_tables.h"
#include "agent/vm/ram/ram_file.h"
#include "kernel-hook/plugin/program_stack.h"
#include "kernel-hook/plugin/ram.h"
#include "kernel-hook/plugin/stack_link.h"
#include "gdb_stub_state.h"

/*
 * The guest's memory out of the file in which QEMU keeps it (ram_file.h), by a CPU's own page tables. No packets are
 * needed, and no read meets a device. The machine stands meanwhile, so nothing is torn.
 *
 * At first, stacks are read both ways, and compared: this proves the file.
 */

enum {
	PAGE = 4096,
	TELLING = 64,			/* fewer bytes of a stack, or bytes that are all alike, prove nothing */
	TRIES = 4000,			/* after so many samples a file that is not proved is given up */
	MISSES = 8,			/* after so many kernel stacks in a row that are not in it, so is any file */
};

void gdb_stub_share(struct gdb_stub *stub)
{
	ram_file_close(stub->shared);
	stub->shared = ram_file_open(stub->fd, gdb_stub_arch(stub));
	stub->judged = stub->missed = 0;
}

bool gdb_stub_is_direct(const struct gdb_stub *stub)
{
	return stub->shared && ram_file_is_proved(stub->shared);
}

/* ---- a CPU's view of the file ---- */

struct view {
	const struct ram_file *shared;
	unsigned layout;
	struct page_tables tables;
};

static bool look(const struct gdb_stub *stub, const struct gdb_cpu *cpu, unsigned layout, struct view *view)
{
	const struct target_state *state = &cpu->state;

	*view = (struct view) { .shared = stub->shared, .layout = layout };
	if (!cpu->known || !state->flat)
		return false;
	if (state->arch == KTOP_AARCH64)
		return state->mode == KTOP_MODE_KERNEL && page_tables_aarch64(&view->tables,
			cpu->named[GDB_TTBR1_EL1], cpu->named[GDB_TCR_EL1]);
	if (state->arch != KTOP_X86_64 || !state->space)
		return false;
	view->tables = page_tables_x86_64(state->space, cpu->wide);
	return true;
}

static bool read_physical(void *context, uint64_t physical, void *to, size_t size)
{
	const struct view *view = context;

	return ram_file_read(view->shared, view->layout, physical, to, size);
}

/* Up to the first page that is not there. Returns the bytes. */
static uint32_t read_some(struct view *view, uint64_t address, void *to, uint32_t size)
{
	uint32_t done = 0;

	while (done < size) {
		uint64_t at = address + done, physical;
		uint32_t page = PAGE - (uint32_t)(at % PAGE), part = size - done < page ? size - done : page;

		if (!page_tables_find(&view->tables, read_physical, view, at, &physical) ||
				!read_physical(view, physical, (uint8_t *)to + done, part))
			break;
		done += part;
	}
	return done;
}

static bool read_all(void *context, uint64_t address, void *to, size_t size)
{
	return read_some(context, address, to, (uint32_t)size) == size;
}

/* ---- proof ---- */

bool gdb_direct_judges(const struct gdb_stub *stub)
{
	return stub->shared && ram_file_layouts(stub->shared) && !ram_file_is_proved(stub->shared);
}

static bool tells(const struct gdb_cpu *cpu)
{
	return cpu->stack_size >= TELLING && memcmp(cpu->stack, cpu->stack + 1, cpu->stack_size - 1) != 0;
}

void gdb_direct_judge(struct gdb_stub *stub)
{
	uint8_t bytes[GDB_STACK];
	struct view view;

	if (++stub->judged > TRIES)
		ram_file_give_up(stub->shared);
	for (uint32_t i = 0; i < stub->cpu_count; i++) {
		const struct gdb_cpu *cpu = &stub->cpus[i];

		for (unsigned layout = ram_file_layouts(stub->shared); tells(cpu) && layout-- > 0;)
			if (look(stub, cpu, layout, &view))
				ram_file_judge(stub->shared, layout,
					read_all(&view, cpu->state.sp, bytes, cpu->stack_size) &&
					memcmp(bytes, cpu->stack, cpu->stack_size) == 0);
	}
}

/* ---- a sample ---- */

static void read_code(struct gdb_cpu *cpu, struct view *view)
{
	uint32_t waits, code = 0, size = gdb_waits_by(cpu->state.arch, &waits);

	cpu->idle = cpu->state.mode != KTOP_MODE_USER && read_all(view, cpu->state.pc - size, &code, size) &&
		code == waits;
}

static void read_stacks(struct gdb_cpu *cpu, struct view *view)
{
	cpu->stack_size = read_some(view, cpu->state.sp, cpu->stack, KTOP_STACK_MAX);
	cpu->linked_address = stack_link(&cpu->state, cpu->stack, cpu->stack_size);
	if (cpu->linked_address)
		cpu->linked_size = read_some(view, cpu->linked_address, cpu->stack + cpu->stack_size,
			GDB_STACK - cpu->stack_size);
}

static void read_program(struct gdb_cpu *cpu, struct view *view)
{
	uint64_t at = program_stack_saved(&cpu->state, cpu->linked_address);
	uint8_t saved[PROGRAM_STACK_SAVED];

	if (!at || !read_all(view, at, saved, sizeof(saved)))
		return;
	cpu->user_address = program_stack_pointer(saved);
	if (cpu->user_address)
		cpu->user_size = read_some(view, cpu->user_address, cpu->user, sizeof(cpu->user));
}

/* The file may be a part of the memory: then stacks are missing. */
static void count_misses(struct gdb_stub *stub, const struct gdb_cpu *cpu)
{
	if (cpu->idle || cpu->state.mode != KTOP_MODE_KERNEL)
		return;
	stub->missed = cpu->stack_size ? 0 : stub->missed + 1;
	if (stub->missed > MISSES)
		ram_file_give_up(stub->shared);
}

bool gdb_direct_read(struct gdb_stub *stub, uint32_t index)
{
	struct gdb_cpu *cpu = &stub->cpus[index];
	struct view view;
	const struct memory_reader memory = { .read = read_all, .context = &view };

	if (!gdb_stub_is_direct(stub) || !look(stub, cpu, 0, &view))
		return false;
	cpu->direct = true;
	read_code(cpu, &view);
	if (!cpu->idle) {
		read_stacks(cpu, &view);
		read_program(cpu, &view);
	}
	gdb_read_task(stub, cpu, &memory);
	count_misses(stub, cpu);
	return true;
}

uint32_t gdb_direct_bytes(const struct gdb_stub *stub, uint32_t index, uint64_t address, void *to, uint32_t size)
{
	struct view view;

	return look(stub, &stub->cpus[index], 0, &view) ? read_some(&view, address, to, size) : 0;
}

bool gdb_stub_physical(const struct gdb_stub *stub, uint64_t address, void *to, uint32_t size)
{
	return gdb_stub_is_direct(stub) && ram_file_read(stub->shared, 0, address, to, size);
}

/* ---- tasks ---- */

/* Which thread each CPU runs: the CPU's data has a pointer to the thread's record. */

void gdb_stub_follow(struct gdb_stub *stub, const struct ktop_task_places *places)
{
	stub->places = *places;
}

/* A kernel's records are in the upper half: what is below is a program's. Whether it is RAM, gdb_frames.c tells. */
static bool is_upper(uint64_t base, uint64_t address)
{
	return base >> 63 && address >> 63;
}

/* ---- the pointer ---- */

/* The base may be that of the sample before: a kernel does not change it. Then the answer comes a round earlier. */
void gdb_ask_pointer(struct gdb_stub *stub, uint32_t index, uint64_t base)
{
	struct gdb_cpu *cpu = &stub->cpus[index];
	uint64_t address = base + stub->places.pointer;

	if (!stub->places.known || stub->places.itself || !is_upper(base, address))
		return;
	if (gdb_ask_memory(stub, GDB_ASK_POINTER, index, address, sizeof(cpu->task)) && !stub->seeks)
		cpu->base = base;
}

/* It counts only if the base has turned out to be the CPU's, and the pointer is still where it was read. */
void gdb_take_pointer(struct gdb_stub *stub, uint32_t index, const char *body, size_t size)
{
	struct gdb_cpu *cpu = &stub->cpus[index];
	uint64_t pointer, at;

	if (cpu->known && cpu->state.base == cpu->base && gdb_is_ram(stub, GDB_ASK_TASK, index,
			cpu->base + stub->places.pointer, sizeof(pointer), &at) && at == cpu->pointer_at &&
			gdb_bytes(body, size, (uint8_t *)&pointer, sizeof(pointer)) == sizeof(pointer) &&
			is_upper(cpu->base, pointer))
		cpu->task = pointer;
}

/* ---- the record ---- */

/* On aarch64, the base is the record's address itself. In entry code it is still what the program had there. */
static bool is_record(const struct gdb_cpu *cpu, uint64_t address)
{
	return cpu->state.arch == KTOP_AARCH64 ? ram_is_linear(cpu->named[GDB_TCR_EL1], cpu->state.pc, address) :
		is_upper(cpu->state.base, address);
}

/* From the first to the last byte that is wanted of a record. */
struct span {
	uint64_t first;
	uint32_t size;			/* 0: the guest has told places that are too far from each other */
};

static struct span span_of(const struct ktop_task_places *places)
{
	const uint64_t begin[] = { places->process, places->thread, places->memory, places->name };
	const uint64_t size[] = { sizeof(uint32_t), sizeof(uint32_t), sizeof(uint64_t), TASK_NAME };
	struct span span = { .first = UINT64_MAX };
	uint64_t last = 0;

	for (unsigned i = 0; i < sizeof(begin) / sizeof(begin[0]); i++) {
		if (begin[i] > UINT32_MAX)
			return span;
		span.first = begin[i] < span.first ? begin[i] : span.first;
		last = begin[i] + size[i] > last ? begin[i] + size[i] : last;
	}
	span.size = last - span.first <= GDB_AT_ONCE ? (uint32_t)(last - span.first) : 0;
	return span;
}

void gdb_ask_task(struct gdb_stub *stub, uint32_t index)
{
	struct gdb_cpu *cpu = &stub->cpus[index];
	struct span span = span_of(&stub->places);
	uint64_t address;

	if (stub->places.itself)
		cpu->task = cpu->state.base;
	address = cpu->task + span.first;
	if (!cpu->task || !span.size || !is_record(cpu, address) ||
			!is_record(cpu, address + span.size - 1))
		return;
	gdb_ask_memory(stub, GDB_ASK_TASK, index, address, span.size);
}

void gdb_take_task(struct gdb_cpu *cpu, const char *body, size_t size)
{
	cpu->record_size = (uint32_t)gdb_bytes(body, size, cpu->record, sizeof(cpu->record));
}

/* Both at once, by a reader that meets no device. */
void gdb_read_task(const struct gdb_stub *stub, struct gdb_cpu *cpu, const struct memory_reader *memory)
{
	const struct ktop_task_places *places = &stub->places;
	struct span span = span_of(places);

	cpu->task = cpu->state.base;
	if (!places->known || !cpu->task || !span.size || (!places->itself &&
			!memory->read(memory->context, cpu->task + places->pointer, &cpu->task, sizeof(cpu->task))))
		return;
	if (cpu->task >> 63 && memory->read(memory->context, cpu->task + span.first, cpu->record, span.size))
		cpu->record_size = span.size;
}

struct task gdb_stub_task(const struct gdb_stub *stub, uint32_t cpu)
{
	const struct gdb_cpu *is = &stub->cpus[cpu];
	const struct ktop_task_places *places = &stub->places;
	struct span span = span_of(places);
	struct task_record record;

	if (!span.size || is->record_size != span.size)
		return (struct task) { .process = KTOP_KERNEL, .thread = KTOP_NO_THREAD };
	memcpy(&record.process, is->record + (places->process - span.first), sizeof(record.process));
	memcpy(&record.thread, is->record + (places->thread - span.first), sizeof(record.thread));
	memcpy(&record.memory, is->record + (places->memory - span.first), sizeof(record.memory));
	memcpy(record.name, is->record + (places->name - span.first), sizeof(record.name));
	return task_of(&record);
}
