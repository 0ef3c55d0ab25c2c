/* SPDX-License-Identifier: MIT */
/* Which thread a CPU of the guest runs. The host has said where the guest's kernel keeps that. */
#ifndef PLUGIN_TASK_H
#define PLUGIN_TASK_H

#include <stdint.h>
#include <string.h>

#include "../wire.h"

struct ktop_task_places;
struct qemu;
struct qemu_cpu;
struct target_state;

enum { TASK_NAME = 16 };		/* bytes of a name, at most */

struct task {
	uint32_t process, thread;	/* process: KTOP_KERNEL if it has no memory of its own */
	uint32_t size;			/* of the name; 0: the thread is not known */
	char name[TASK_NAME];
};

/* What the guest's memory has of a thread. */
struct task_record {
	uint32_t process, thread;
	uint64_t memory;		/* 0: it is a thread of the kernel's own */
	char name[TASK_NAME];		/* ends with a zero byte, or fills its place */
};

static inline struct task task_of(const struct task_record *record)
{
	struct task task = {
		.process = record->memory ? record->process : KTOP_KERNEL, .thread = record->thread,
		.size = (uint32_t)strnlen(record->name, TASK_NAME),
	};

	memcpy(task.name, record->name, TASK_NAME);
	return task;
}

/*
 * What is kept of a CPU from one sample to the next. All 0 when a boot begins. While a program runs, a 32-bit kernel on
 * x86 does not show its base, which is the same for a whole boot; and on riscv64 the CPU cannot read the record.
 */
struct task_kept {
	uint64_t base, record;		/* the kernel's base; the address of the last record that was read */
	struct task task;		/* what it said */
};

/* A CPU whose registers were read. */
struct task_cpu {
	const struct qemu *qemu;
	struct qemu_cpu *cpu;
	const struct target_state *state;
	struct task_kept *kept;
};

/* On the CPU's thread. Returns the kernel's base, as a raw sample has it. */
uint64_t task_read(const struct ktop_task_places *places, const struct task_cpu *cpu, struct task *task);

#endif
