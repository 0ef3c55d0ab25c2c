/* SPDX-License-Identifier: MIT */
/* Turns a raw sample, which was taken from outside the guest, into a sample as the hook would have sent it. */
#ifndef RAW_SAMPLES_H
#define RAW_SAMPLES_H

#include <stdint.h>

#include "agent/unwind/unwind.h"
#include "agent/wire/event.h"

struct kernel_code;

struct raw_stack {
	struct sample sample;		/* its frames point into `frames`: never copy this struct */
	struct unwound frames;
};

/* Unwinds the raw sample's stack. Fills `stack`. */
void raw_samples_read(const struct raw_sample *raw, struct kernel_code *code, struct raw_stack *stack);

#endif
