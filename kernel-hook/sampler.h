/* SPDX-License-Identifier: MIT */
/*
 * Changes the sampler. `wanted` is at once the one that was asked for. `sampler` follows: first it is KTOP_NONE until
 * no CPU takes a sample any more, then it is the wanted one. Each ring of samples therefore has one writer at a time.
 * All functions are for the drainer alone; none of them waits.
 */
#ifndef KTOP_SAMPLER_H
#define KTOP_SAMPLER_H

#include <stdbool.h>

struct ktop;

/* Switches profiling on or off: sets `wanted` to the chosen sampler or KTOP_NONE, and the chosen trace points. */
void ktop_sampler_run(struct ktop *ktop, bool on);

/* Does what was chosen, if profiling is on, after the chosen sampler or the chosen events have changed. */
void ktop_sampler_renew(struct ktop *ktop);

/* Begins a new generation (hook.h): each enabled CPU starts a new grid with the present rate, each other CPU stops. */
void ktop_sampler_begin(struct ktop *ktop);

/* If the CPU set aside could not send an NMI: changes the chosen sampler to the timer, and notes why for the host. */
void ktop_sampler_fall_back(struct ktop *ktop);

/* Brings the sampler nearer to `wanted`. If a CPU is still writing a sample, a later call has to finish the change. */
void ktop_sampler_settle(struct ktop *ktop);

/* Kicks all CPUs if ktop_sampler_begin() was called since the last kick: they then see the new generation soon. */
void ktop_sampler_kick(struct ktop *ktop);

/* NULL: NMIs can be had. Else a text says why not. The first call may send one NMI to try. */
const char *ktop_sampler_refusal(struct ktop *ktop);

#endif
