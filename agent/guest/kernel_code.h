/* SPDX-License-Identifier: MIT */
/* What unwinding asks of the guest's kernel, out of its symbols and its file. One owner, the symbols' own. */
#ifndef KERNEL_CODE_H
#define KERNEL_CODE_H

#include "agent/unwind/unwind.h"

struct kernel_code;
struct symbols;

struct kernel_code *kernel_code_new(struct symbols *symbols);
void kernel_code_free(struct kernel_code *code);

/*
 * What is known now; good until the symbols are told more. `user`: the sample was taken in a program, so
 * that nothing of its stack is the kernel's.
 */
struct unwind_code kernel_code_now(struct kernel_code *code, const struct arch *arch, bool user);

#endif
