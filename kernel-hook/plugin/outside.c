/* SPDX-License-Identifier: MIT */
/*
 * The part of port.h that is the same for each hook outside a guest: in QEMU's plugin, and in the process that samples
 * by QEMU's gdb stub.
 */
#include "../hook.h"
#include "../ktop.h"
#include "../port.h"
#include "outside.h"

static _Thread_local struct ktop_current current = { .process = KTOP_KERNEL, .thread = KTOP_NO_THREAD };

void outside_current(uint32_t process, uint32_t thread)
{
	current.process = process;
	current.thread = thread;
}

/* A raw sample has no use for what it says. */
const struct ktop_current *ktop_port_current(uint64_t pc)
{
	(void)pc;
	return &current;
}

bool ktop_port_nmi(uint32_t cpu)
{
	(void)cpu;
	return false;
}
