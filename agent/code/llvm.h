/* SPDX-License-Identifier: MIT */
/*
 * The library LLVM: the code of riscv64. It is large, and few need it, so it is loaded when such code is first shown,
 * and ktop does without it where it is not installed. One owner; several threads may have one each.
 */
#ifndef LLVM_H
#define LLVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instruction;
struct llvm;

/* It may wait for a disk. NULL: LLVM is not installed, or there is no memory for it. */
struct llvm *llvm_new(void);
void llvm_free(struct llvm *llvm);	/* NULL is allowed */

/*
 * The instruction at the first of `size` bytes; its kind and its target are set already. False: LLVM knows none;
 * nothing is written.
 */
bool llvm_next(struct llvm *llvm, const uint8_t *bytes, size_t size, uint64_t address, struct instruction *instruction);

#endif
