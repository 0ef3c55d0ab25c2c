/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Kinds of the kernel's code that its unwinder does not know its way in. */
#ifndef KTOP_LINUX_TEXT_H
#define KTOP_LINUX_TEXT_H

#include <linux/types.h>

void text_init(void);			/* after private_init() */

/* Any context. Entry code, where a system call or interrupt has not yet saved all of its caller. */
bool text_is_entry(u64 pc);

/* Any context. One of the stubs that an indirect call goes through. */
bool text_is_thunk(u64 pc);

#endif
