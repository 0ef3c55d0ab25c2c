/*
 * Bounded walks by frame pointers: a frame record is { saved frame pointer, return pc }, 16 bytes.
 * NMI. Nothing is read outside the bounds that the port gave, and no walk turns back, so that
 * garbage ends it and marks it cut. Frames go straight into the sample, at any alignment.
 */
#ifndef KTOP_UNWIND_H
#define KTOP_UNWIND_H

#include <stdint.h>

struct ktop_current;
struct ktop_regs;
struct ktop_wire_sample;

/* Both write at most KTOP_FRAMES_MAX addresses to `frames`, set sample->flags and sample->exact,
   and return how many addresses they wrote. */
uint32_t ktop_unwind_kernel(const struct ktop_regs *regs, const struct ktop_current *current,
	struct ktop_wire_sample *sample, uint8_t *frames);
uint32_t ktop_unwind_user(const struct ktop_regs *regs, const struct ktop_current *current,
	struct ktop_wire_sample *sample, uint8_t *frames);

#endif
