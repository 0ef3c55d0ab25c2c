/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "../ktop.h"
#include "../wire.h"
#include "machine/memory.h"
#include "task.h"

/* A CPU of the guest, whose memory is read. */
struct guest {
	const struct qemu *qemu;
	struct qemu_cpu *cpu;
};

static bool get(const struct guest *guest, uint64_t address, void *to, uint32_t size)
{
	return memory_read(guest->qemu, guest->cpu, address, to, size) == size;
}

void task_read(const struct ktop_task_places *places, const struct qemu *qemu, struct qemu_cpu *cpu, uint64_t base,
	struct task *task)
{
	const struct guest guest = { .qemu = qemu, .cpu = cpu };
	uint64_t at = base, memory;

	*task = (struct task) { .process = KTOP_KERNEL, .thread = KTOP_NO_THREAD };
	if (!places->known || !base || (!places->itself && !get(&guest, base + places->pointer, &at, sizeof(at))))
		return;
	/* A kernel's records are in the upper half: what is below is a program's. */
	if (at >> 63 == 0 || !get(&guest, at + places->process, &task->process, sizeof(task->process)) ||
			!get(&guest, at + places->thread, &task->thread, sizeof(task->thread)) ||
			!get(&guest, at + places->memory, &memory, sizeof(memory)) ||
			!get(&guest, at + places->name, task->name, sizeof(task->name)))
		return;
	task->size = (uint32_t)strnlen(task->name, sizeof(task->name));
	if (!memory)
		task->process = KTOP_KERNEL;
}
