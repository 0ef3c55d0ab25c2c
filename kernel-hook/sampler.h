/* SPDX-License-Identifier: MIT */
/*
 * Which sampler is in force. The wish is set at once; the sampler follows it by way of none, so
 * that each sample ring has one writer. All for the drainer alone.
 */
#ifndef KTOP_SAMPLER_H
#define KTOP_SAMPLER_H

#include <stdint.h>

struct ktop;

/* enum ktop_sampler or KTOP_NONE; also brings the trace points on or off. */
void ktop_sampler_wish(struct ktop *ktop, uint32_t sampler);

/* The wish again, after a change of the mode or the events. */
void ktop_sampler_renew(struct ktop *ktop);

/* A new grid on each enabled CPU, with the rate of now. */
void ktop_sampler_begin(struct ktop *ktop);

/* By timer, with a note, when the CPU set aside could not send an NMI. */
void ktop_sampler_fall_back(struct ktop *ktop);

/* Brings the sampler to the wish; with a sample half written, at a later call. */
void ktop_sampler_settle(struct ktop *ktop);

/* Wakes the CPUs for which ktop_sampler_begin() was called. */
void ktop_sampler_kick(struct ktop *ktop);

/* Why NMIs cannot be had; NULL: they can. */
const char *ktop_sampler_refusal(struct ktop *ktop);

#endif
