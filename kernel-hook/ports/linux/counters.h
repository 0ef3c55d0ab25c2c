/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Each CPU's counter of cycles, by Linux' perf. Its overflow is an NMI, which also sees code that runs with interrupts
 * off. All functions here: thread.
 */
#ifndef KTOP_LINUX_COUNTERS_H
#define KTOP_LINUX_COUNTERS_H

#include <linux/types.h>

struct ktop;

/* From now on counters_run() also gives counters to CPUs that come online later. 0, or a negative errno. */
int counters_start(void);

/* When it returns, no CPU is in ktop_overflow(), and none will be. */
void counters_stop(void);

/* ktop_facts.counters (ktop.h). Overflows go to the hook that timer_start() was given, once it was called. */
const char *counters_run(uint32_t rate);

#endif
