/* SPDX-License-Identifier: MIT */
#ifndef PLUGIN_OUTSIDE_H
#define PLUGIN_OUTSIDE_H

#include <stdint.h>

/* Whose trace events this host's thread writes from now on: filters ask. At first KTOP_KERNEL and KTOP_NO_THREAD. */
void outside_current(uint32_t process, uint32_t thread);

#endif
