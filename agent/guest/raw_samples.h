/* SPDX-License-Identifier: MIT */
/* What was seen of a CPU from outside becomes a sample as the hook would have sent it. */
#ifndef RAW_SAMPLES_H
#define RAW_SAMPLES_H

#include <stdint.h>

#include "agent/unwind/unwind.h"
#include "agent/wire/event.h"

struct kernel_code;

struct raw_stack {
	struct sample sample;		/* whose frames these are */
	struct unwound frames;
};

void raw_samples_read(const struct raw_sample *raw, struct kernel_code *code, struct raw_stack *stack);

#endif
