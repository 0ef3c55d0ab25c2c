/* SPDX-License-Identifier: MIT */
/* Which thread each CPU runs: the CPU's data has a pointer to the thread's record. */
#include <inttypes.h>
#include <string.h>

#include "agent/base/memory_reader.h"
#include "gdb_stub_state.h"
#include "kernel-hook/plugin/ram.h"

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
