/* SPDX-License-Identifier: MIT */
/* What the numbers in trace events of a Linux on x86-64 are called, as far as they are the same in each. */
#ifndef PLUGIN_LINUX_NUMBERS_H
#define PLUGIN_LINUX_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct ktop_number;

/* What has no number of Linux's, but a vector: no number is both (ports/linux/tracepoints.c). */
#define LINUX_VECTORS (1u << 31)

bool linux_number_at(uint32_t index, struct ktop_number *number);	/* as facts.numbers */

#endif
