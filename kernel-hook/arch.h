/* SPDX-License-Identifier: MIT */
/*
 * Includes the header of the CPU for which the hook is compiled. All that differs from CPU to CPU is in these
 * headers. They all have the same names.
 */
#ifndef KTOP_ARCH_H
#define KTOP_ARCH_H

#if defined(__x86_64__)
#include "arch/x86_64.h"
#elif defined(__i386__)
#include "arch/i386.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "arch/riscv64.h"
#elif defined(__aarch64__)
#include "arch/aarch64.h"
#else
#error "this CPU has no header in arch/ yet: see docs/contributing.md"
#endif

#endif
