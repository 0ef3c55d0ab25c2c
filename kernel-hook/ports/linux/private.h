/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds functions and data of Linux that are not exported to modules, by name. Thread. */
#ifndef KTOP_LINUX_PRIVATE_H
#define KTOP_LINUX_PRIVATE_H

#include <linux/types.h>

/* Once, before all other parts of the module. A negative errno: this kernel does not allow it; the log says why. */
int private_init(void);

/* The address of a symbol; 0: this kernel has no such symbol. */
unsigned long private_address(const char *name);

#endif
