/* SPDX-License-Identifier: MIT */
/* Which function of the kernel a name means, where the compiler has made copies of it, and put parts of it apart. */
#ifndef KERNEL_FUNCTION_H
#define KERNEL_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/names/files/symbol_table.h"

struct symbols;

enum { KERNEL_FUNCTION_CANDIDATES = 16 };	/* of a name; more are ambiguous anyway */

/* Of all that are called so, the only one that is called exactly so, or else the only copy. */
struct kernel_function {
	struct symbol all[KERNEL_FUNCTION_CANDIDATES];	/* that are called so, or NAME.isra.0 and the like; */
	uint32_t count;			/* 0: the kernel has none, or its names are not known */
	const struct symbol *function;	/* NULL: there is none, or */
	bool several;			/* more than one at different places */
	uint32_t copies;		/* of the compiler's, beside the function */
	const struct symbol *cold;	/* the part of it that is seldom run; NULL: it has none */
};

/*
 * By run addresses. It stays where it is: it has pointers into itself. kernel_function_at: the one that begins at this
 * address of the kernel's file, whatever others are called; false: none does.
 */
void kernel_function_find(const struct symbols *symbols, const char *name, struct kernel_function *found);
bool kernel_function_at(const struct symbols *symbols, uint64_t link_address, struct kernel_function *found);

/*
 * Both in fresh memory. The remark says why a function of this name cannot be traced, or that it has other names; NULL:
 * nothing is to be said. The line has the plugin trace it, and call it so (docs/wire.md, Control); NULL: it cannot be.
 */
char *kernel_function_remark(const struct kernel_function *found, const char *name);
char *kernel_function_line(const struct kernel_function *found, const char *name);

#endif
