/* SPDX-License-Identifier: MIT */
/*
 * The part of port.h that is the same for each hook outside a guest: in QEMU's plugin, and in the process that samples
 * by QEMU's gdb stub.
 */
#include "../hook.h"
#include "../ktop.h"
#include "../port.h"

/* The hook asks for it, but a raw sample has no use for what it says. */
const struct ktop_current *ktop_port_current(uint64_t pc)
{
	static const struct ktop_current nobody = { .process = KTOP_KERNEL, .thread = KTOP_NO_THREAD };

	(void)pc;
	return &nobody;
}

bool ktop_port_nmi(uint32_t cpu)
{
	(void)cpu;
	return false;
}
