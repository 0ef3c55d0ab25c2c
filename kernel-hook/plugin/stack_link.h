/* SPDX-License-Identifier: MIT */
/* Where a kernel's stack goes on behind the bytes that were read of it. Needs no QEMU: it is tested as host code. */
#ifndef PLUGIN_STACK_LINK_H
#define PLUGIN_STACK_LINK_H

#include <stdint.h>

struct target_state;

/*
 * `stack`: `size` bytes from the stack pointer on, fewer than KTOP_STACK_MAX if memory ends there. Returns an address
 * outside of them. The guest wrote it, so there need not be memory. 0: nothing is missing, or nobody knows where it is.
 */
uint64_t stack_link(const struct target_state *state, const uint8_t *stack, uint32_t size);

#endif
