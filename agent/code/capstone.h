/* SPDX-License-Identifier: MIT */
/* The library capstone: the code of x86-64, i386 and aarch64. One owner. */
#ifndef CAPSTONE_H
#define CAPSTONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

struct capstone;
struct instruction;

bool capstone_knows(enum arch_id arch);

struct capstone *capstone_new(enum arch_id arch);	/* one that it knows; NULL: there is no memory for it */
void capstone_free(struct capstone *capstone);		/* NULL is allowed */

/* The instruction at the first of `size` bytes. False: it is none; nothing is written. */
bool capstone_next(struct capstone *capstone, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction);

#endif
