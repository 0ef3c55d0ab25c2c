/* SPDX-License-Identifier: MIT */
/* QEMU's CPUs as a debugger in it sees them. Called where nothing else runs on that CPU. */
#ifndef PLUGIN_DEBUGGER_H
#define PLUGIN_DEBUGGER_H

#include <stdbool.h>

#include "qemu.h"

struct target;
struct target_state;

/* Once. NULL, or the name of the function of QEMU that is missing. */
const char *debugger_prepare(const struct target *target, const struct qemu *qemu);

/* False: QEMU does not give its registers as is known here. */
bool debugger_read(struct qemu_cpu *cpu, struct target_state *state);

#endif
