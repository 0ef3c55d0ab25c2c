/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Each CPU's counter of cycles, by the kernel's perf: its overflow is an NMI, which also sees code
 * that runs with interrupts off. Thread, but for what the NMI calls.
 */
#ifndef KTOP_LINUX_COUNTERS_H
#define KTOP_LINUX_COUNTERS_H

#include <linux/types.h>

struct ktop;

/* From now on CPUs that come have a counter, too; 0, or a negative errno. */
int counters_start(void);

/* When it returns no CPU is in ktop_overflow(), nor will one be. */
void counters_stop(void);

/* What facts.counters asks for. Overflows go to the hook of timer_start(), once that was called. */
const char *counters_run(uint32_t rate);

#endif
