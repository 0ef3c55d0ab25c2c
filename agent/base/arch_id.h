/* SPDX-License-Identifier: MIT */
/* The CPU architectures that ktop knows. The wire has numbers of its own (agent/wire/payload.c). */
#ifndef ARCH_ID_H
#define ARCH_ID_H

#include <stdbool.h>

enum arch_id { ARCH_OTHER, ARCH_X86_64, ARCH_I386, ARCH_RISCV64, ARCH_AARCH64, ARCHS };

/* By its name, as `uname -m` prints it. */
enum arch_id arch_id_named(const char *name);

/* By the `e_machine` of an ELF file. */
enum arch_id arch_id_elf(unsigned machine);

/*
 * True: no machine runs both, as far as is known. A PC runs i386 and x86-64; and a loader may want a file of i386 for a
 * kernel that is x86-64.
 */
bool arch_id_contradicts(enum arch_id a, enum arch_id b);

#endif
