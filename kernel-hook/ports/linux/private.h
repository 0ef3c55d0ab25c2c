/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions and addresses of the kernel that it does not export to modules, found by name. Thread.
 */
#ifndef KTOP_LINUX_PRIVATE_H
#define KTOP_LINUX_PRIVATE_H

#include <linux/types.h>

/* Once, before the others. Says why not, and returns a negative errno: the kernel has no kprobes. */
int private_init(void);

/* 0: this kernel has none. */
unsigned long private_address(const char *name);

#endif
