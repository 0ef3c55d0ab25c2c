/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The common kernel stack, at a fraction of what the kernel's own unwinder takes for it, which is made
 * for any stack. Both go by the same table, ORC, and find the same.
 */
#ifndef KTOP_LINUX_ORC_H
#define KTOP_LINUX_ORC_H

#include <linux/types.h>

struct pt_regs;

/* Before the others; a kernel without that table has no such walks. */
void orc_init(void);

/*
 * NMI. Writes the return addresses from the interrupted kernel code down to where the current task came
 * from its program, behind frame 0, and returns how many frames there are then, at most
 * KTOP_FRAMES_MAX. 0: something else is on this stack, as an interrupt, or code of a module; the
 * kernel's unwinder is to walk it.
 */
u32 orc_walk(const struct pt_regs *interrupted, u8 *frames);

#endif
