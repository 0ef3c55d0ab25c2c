/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The hook's files use the names of C. In Linux they stand for Linux' own types. */
#include <linux/limits.h>
#include <linux/types.h>

#define UINT32_MAX U32_MAX
#define UINT64_MAX U64_MAX
