/* SPDX-License-Identifier: MIT */
/* Whether LLVM is installed, as the code under test finds it. */
#ifndef HIDDEN_LLVM_H
#define HIDDEN_LLVM_H

#include <stdbool.h>

void hidden_llvm(bool hidden);

#endif
