/* SPDX-License-Identifier: MIT */
/*
 * The plugin's samples are raw: registers and stack, as they are. The hook's files are compiled with this header first.
 * It has the guard of kernel-hook/write_sample.h, and so takes its place.
 */
#ifndef KTOP_WRITE_SAMPLE_H
#define KTOP_WRITE_SAMPLE_H

#include <stdint.h>

#include "../ktop.h"
#include "../port.h"
#include "../wire.h"

enum { KTOP_SAMPLE_EVENT = KTOP_EVENT_stacks_sample, KTOP_SAMPLE_ROOM = KTOP_STACKS_SAMPLE_MAX };

/* Writes the sample of the CPU whose call is under way (boot.c). Returns the bytes of the payload. */
uint32_t plugin_write_sample(uint8_t *payload, uint32_t weight);

static inline uint32_t ktop_write_sample(uint8_t *payload, const struct ktop_regs *regs,
	const struct ktop_current *current, uint32_t weight)
{
	(void)regs, (void)current;
	return plugin_write_sample(payload, weight);
}

/* It has no trace points. */
static inline uint32_t ktop_walk_here(uint64_t fp, struct ktop_wire_sample *sample, uint8_t *frames, uint32_t most)
{
	(void)fp, (void)sample, (void)frames, (void)most;
	return 0;
}

#endif
