/* SPDX-License-Identifier: MIT */
/* Which thread a CPU of the guest runs. The host has said where the guest's kernel keeps that. */
#ifndef PLUGIN_TASK_H
#define PLUGIN_TASK_H

#include <stdint.h>

#include "machine/qemu.h"

struct ktop_task_places;

enum { TASK_NAME = 16 };		/* bytes of a name, at most */

struct task {
	uint32_t process, thread;	/* process: KTOP_KERNEL if it has no memory of its own */
	uint32_t size;			/* of the name; 0: the thread is not known */
	char name[TASK_NAME];
};

/* On the CPU's thread. `base`: where the kernel finds the data of this CPU or thread, as in wire.h; 0: unknown. */
void task_read(const struct ktop_task_places *places, const struct qemu *qemu, struct qemu_cpu *cpu, uint64_t base,
	struct task *task);

#endif
