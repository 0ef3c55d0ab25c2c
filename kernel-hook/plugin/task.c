/* SPDX-License-Identifier: MIT */
#include "../ktop.h"
#include "machine/memory.h"
#include "machine/target.h"
#include "ram.h"
#include "task.h"

enum { RECORD_MOST = 1 << 16 };		/* bytes of a thread's record */

static uint32_t word_of(const struct task_cpu *cpu)
{
	return cpu->state->arch == KTOP_I386 ? 4 : 8;
}

/*
 * Where nothing tells a device from RAM: on x86-64 the records are near the CPU's data; elsewhere a register has their
 * address, but on i386.
 */
static bool is_ram(const struct task_cpu *cpu, uint64_t address)
{
	uint64_t base = cpu->state->base;

	switch (cpu->state->arch) {
	case KTOP_X86_64:
		return ram_is_record("x86_64", base, address);
	case KTOP_I386:
		return false;
	default:
		return base >> 63 && address - base < RECORD_MOST;
	}
}

static bool get(const struct task_cpu *cpu, uint64_t address, void *to, uint32_t size)
{
	return (!cpu->qemu->read_virtual || is_ram(cpu, address)) &&
		memory_read(cpu->qemu, cpu->cpu, address, to, size) == size;
}

static bool get_pointer(const struct task_cpu *cpu, uint64_t address, uint64_t *pointer)
{
	uint32_t word = word_of(cpu);

	*pointer = 0;
	return get(cpu, word == 4 ? (uint32_t)address : address, pointer, word);
}

static uint64_t base_of(const struct task_cpu *cpu)
{
	if (cpu->state->arch != KTOP_I386)
		return cpu->state->base;
	if (cpu->state->base)
		cpu->kept->base = cpu->state->base;
	return cpu->kept->base;
}

static bool get_record(const struct ktop_task_places *places, const struct task_cpu *cpu, uint64_t at,
	struct task *task)
{
	struct task_record record;

	if (!get(cpu, at + places->process, &record.process, sizeof(record.process)) ||
			!get(cpu, at + places->thread, &record.thread, sizeof(record.thread)) ||
			!get_pointer(cpu, at + places->memory, &record.memory) ||
			!get(cpu, at + places->name, record.name, sizeof(record.name)))
		return false;
	*task = task_of(&record);
	return true;
}

/* A kernel's records are in the upper half: what is below is a program's. */
uint64_t task_read(const struct ktop_task_places *places, const struct task_cpu *cpu, struct task *task)
{
	struct task_kept *kept = cpu->kept;
	uint64_t base = base_of(cpu), at = base;

	*task = (struct task) { .process = KTOP_KERNEL, .thread = KTOP_NO_THREAD };
	if (!places->known || !base || (!places->itself && !get_pointer(cpu, base + places->pointer, &at)) ||
			!(at >> (8 * word_of(cpu) - 1)))
		return base;
	if (get_record(places, cpu, at, task)) {
		kept->record = at;
		kept->task = *task;
	} else if (kept->record == at) {
		*task = kept->task;
	}
	return base;
}
