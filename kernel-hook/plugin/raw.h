/* SPDX-License-Identifier: MIT */
/*
 * What a sample is here: registers and stack, as they are. The hook's files are compiled with this header first, in
 * place of kernel-hook/write_sample.h, whose guard it has.
 */
#ifndef KTOP_WRITE_SAMPLE_H
#define KTOP_WRITE_SAMPLE_H

#include <stdint.h>

#include "../ktop.h"
#include "../port.h"
#include "../wire.h"

enum { KTOP_SAMPLE_EVENT = KTOP_EVENT_raw_sample, KTOP_SAMPLE_ROOM = KTOP_RAW_SAMPLE_MAX };

/* Of the CPU that is being sampled. */
uint32_t plugin_write_sample(uint8_t *payload, uint32_t weight);

static inline uint32_t ktop_write_sample(uint8_t *payload, const struct ktop_regs *regs,
	const struct ktop_current *current, uint32_t weight)
{
	(void)regs, (void)current;
	return plugin_write_sample(payload, weight);
}

#endif
