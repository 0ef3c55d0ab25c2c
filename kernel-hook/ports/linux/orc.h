/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A fast walk of the common kernel stack. Linux' own unwinder walks any stack, and takes several times as long. Both
 * use the same table, ORC, and find the same frames.
 */
#ifndef KTOP_LINUX_ORC_H
#define KTOP_LINUX_ORC_H

#include <linux/types.h>

struct pt_regs;

/* Thread, once, after private_init(). In a kernel without that table, orc_walk() always returns 0. */
void orc_init(void);

/*
 * NMI. Walks from the interrupted kernel code to where the current task entered the kernel from its program. It writes
 * the return addresses behind frame 0, and returns how many frames there are then, at most KTOP_FRAMES_MAX. 0: the
 * stack is deeper, or has something else, such as an interrupt or a module's code: Linux' own unwinder must walk it.
 */
u32 orc_walk(const struct pt_regs *interrupted, u8 *frames);

#endif
