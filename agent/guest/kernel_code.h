/* SPDX-License-Identifier: MIT */
/*
 * What the unwinder has to know of the guest's kernel, and of the program that runs on it, taken from the symbols and
 * their files. Borrows the symbols. Ingest thread.
 */
#ifndef KERNEL_CODE_H
#define KERNEL_CODE_H

#include "agent/unwind/unwind.h"

struct kernel_code;
struct symbols;

struct kernel_code *kernel_code_new(struct symbols *symbols);
void kernel_code_free(struct kernel_code *code);

/*
 * What is known now. It is valid until the symbols are told more, or until the next call. `user`: the sample was taken
 * in a program, so no frame of its stack is the kernel's. `process`: the sample's; EVENT_KERNEL: none.
 */
struct unwind_code kernel_code_now(struct kernel_code *code, const struct arch *arch, bool user, uint32_t process);

/*
 * The kernel's frames of a raw sample. While it is not known where a Linux kernel runs, their return addresses are
 * gathered, until they tell.
 */
void kernel_code_saw(struct kernel_code *code, const struct unwound_frames *frames);

/* What is wrong with the kernel's file, so that stacks are short; "": nothing. Valid until the next call. */
const char *kernel_code_note(const struct kernel_code *code);

#endif
