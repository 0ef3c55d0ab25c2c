/* SPDX-License-Identifier: MIT */
/*
 * What a sampler writes into the ring: a sample with the stack of the interrupted code. Context: NMI. And the stack of
 * a trace event.
 *
 * A port that writes other samples, or whose kernel has an unwinder of its own, compiles sample.c, drain.c and trace.c
 * with `-include` and a header of its own. That has the include guard of this one, and the same four names:
 * KTOP_SAMPLE_EVENT, KTOP_SAMPLE_ROOM, ktop_write_sample(), ktop_walk_here(). The room is at least KTOP_SAMPLE_MAX, for
 * names.
 */
#ifndef KTOP_WRITE_SAMPLE_H
#define KTOP_WRITE_SAMPLE_H

#include <stdint.h>

#include "base/hints.h"
#include "ktop.h"
#include "port.h"
#include "unwind.h"
#include "unwind_user.h"
#include "wire.h"

/* The id of the event, and the most bytes of its payload. */
enum { KTOP_SAMPLE_EVENT = KTOP_EVENT_sample, KTOP_SAMPLE_ROOM = KTOP_SAMPLE_MAX };

/* Writes a list's count at `list`; its addresses are there already, behind the count. Returns where the list ends. */
KTOP_INLINE uint8_t *ktop_put_count(uint8_t *list, uint32_t count)
{
	uint16_t size = (uint16_t)count;

	__builtin_memcpy(list, &size, sizeof(size));
	return list + sizeof(size) + 8 * count;
}

/* Writes a whole sample of at most KTOP_SAMPLE_ROOM bytes, and returns its size. `weight`: in periods. */
KTOP_INLINE uint32_t ktop_write_sample(uint8_t *payload, const struct ktop_regs *regs,
	const struct ktop_current *current, uint32_t weight)
{
	struct ktop_wire_sample *sample = (struct ktop_wire_sample *)payload;
	uint8_t *list = (uint8_t *)(sample + 1);
	uint32_t process = current->process, thread = current->thread;

	sample->process = process;
	sample->thread = thread;
	sample->flags = current->context;
	sample->weight = weight;
	if (KTOP_RARE(regs->user)) {
		sample->mode = KTOP_MODE_USER;
		sample->exact = 0;
		list = ktop_put_count(list, 0);
		list = ktop_put_count(list, ktop_unwind_program(regs, sample, list + 2));
	} else {
		sample->mode = current->idle ? KTOP_MODE_IDLE : KTOP_MODE_KERNEL;
		list = ktop_put_count(list, ktop_unwind_kernel(regs, current, sample, list + 2));
		list = ktop_put_count(list, ktop_unwind_caller(current, sample, list + 2));
	}
	return (uint32_t)(list - payload);
}

/*
 * irq off, in a trace point. Writes at most `most` addresses of the kernel's stack to `frames`, sets sample->flags and
 * sample->exact, and returns how many there are. `fp`: the frame of the function that the trace point has
 * called; the first address is where the trace point stands. An NMI may use the port's structure meanwhile: what is
 * read here is the same for both.
 */
KTOP_INLINE uint32_t ktop_walk_here(uint64_t fp, struct ktop_wire_sample *sample, uint8_t *frames, uint32_t most)
{
	const struct ktop_current *current = ktop_port_current(0);

	return ktop_on_stack(current, fp) ? ktop_walk_any(current, fp, sample, frames, 0, most) : 0;
}

#endif
