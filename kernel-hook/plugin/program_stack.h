/* SPDX-License-Identifier: MIT */
/*
 * Where the stack is of the program for which the kernel works: after a system call, or where an interrupt or an
 * exception came in while the program ran. Needs no QEMU: it is tested as host code.
 */
#ifndef PLUGIN_PROGRAM_STACK_H
#define PLUGIN_PROGRAM_STACK_H

#include <stdint.h>

struct target_state;

enum { PROGRAM_STACK_SAVED = 40 };	/* bytes that the kernel keeps of the program, and that tell its stack */

/*
 * The address of these bytes. `linked`: where the CPU's stack goes on or leads to (stack_link.h); 0: all of it was
 * read. There need not be memory. 0: the CPU does not run in its kernel, or nobody knows where they are.
 */
uint64_t program_stack_saved(const struct target_state *state, uint64_t linked);

/* The program's stack pointer, an address that a program chooses. 0: the kernel works for no program. */
uint64_t program_stack_pointer(const uint8_t saved[PROGRAM_STACK_SAVED]);

#endif
