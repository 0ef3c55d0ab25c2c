/* SPDX-License-Identifier: MIT */
/* What was seen of a CPU from outside becomes a sample as the hook would have sent it. */
#ifndef RAW_SAMPLES_H
#define RAW_SAMPLES_H

#include <stdint.h>

#include "agent/wire/event.h"

enum { RAW_FRAMES = 64 };		/* in each of the two stacks */

struct raw_stack {
	struct sample sample;		/* whose frames these are */
	uint64_t kernel[RAW_FRAMES], user[RAW_FRAMES];
};

void raw_samples_read(const struct raw_sample *raw, struct raw_stack *stack);

#endif
