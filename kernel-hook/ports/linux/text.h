/* The kernel's entry code, where a system call or interrupt has not yet saved all of its caller. */
#ifndef KTOP_LINUX_TEXT_H
#define KTOP_LINUX_TEXT_H

#include <linux/types.h>

void text_init(void);			/* after private_init() */
bool text_is_entry(u64 pc);		/* any context */

#endif
