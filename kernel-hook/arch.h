/* The header of the CPU that this is compiled for. */
#ifndef KTOP_ARCH_H
#define KTOP_ARCH_H

#if defined(__x86_64__)
#include "arch/x86_64.h"
#else
#error "this CPU has no header in arch/ yet: see docs/contributing.md"
#endif

#endif
