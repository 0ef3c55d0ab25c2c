/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kinds of kernel code in which Linux' unwinder loses its way. */
#ifndef KTOP_LINUX_TEXT_H
#define KTOP_LINUX_TEXT_H

#include <linux/types.h>

/* Thread, once, after private_init(). */
void text_init(void);

/* Any context. Is this entry code? There, a system call or interrupt has not yet saved all registers of its caller. */
bool text_is_entry(u64 pc);

/* Any context. Is this one of the stubs (thunks) through which indirect calls go? */
bool text_is_thunk(u64 pc);

#endif
