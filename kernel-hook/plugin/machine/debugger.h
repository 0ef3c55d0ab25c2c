/* SPDX-License-Identifier: MIT */
/* Reads the CPUs of this QEMU as a debugger inside it does. Called on the CPU's thread. */
#ifndef PLUGIN_DEBUGGER_H
#define PLUGIN_DEBUGGER_H

#include <stdbool.h>

#include "qemu.h"

struct target;
struct target_state;

/* Called once. Returns NULL, or the name of the function that this QEMU does not have. */
const char *debugger_prepare(const struct target *target, const struct qemu *qemu);

/* False: QEMU's registers are not those that are known here. */
bool debugger_read(struct qemu_cpu *cpu, struct target_state *state);

/* The stack pointer alone; 0: it is not known. Within a block of translated code, it may lag behind (functions.h). */
uint64_t debugger_sp(struct qemu_cpu *cpu);

/* A function's argument, at its entry (target.h); 0: it is not known. */
uint64_t debugger_argument(struct qemu_cpu *cpu, unsigned number);

#endif
