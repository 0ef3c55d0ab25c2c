/* SPDX-License-Identifier: MIT */
/*
 * One one-shot timer that serves two: the kernel and ktop's sampler. Each of them has one deadline, a clock value,
 * and the timer is set for the earlier one. The rules:
 *
 *   A deadline stands until it is met or replaced. Meeting one does not change the other.
 *   A deadline is met when the clock has reached it. A met deadline is cleared *before* ktop_tick(), which sets a
 *   new one. If it were cleared after ktop_tick(), the new deadline would be lost, and sampling would stop.
 *   The timer never fires early. A deadline that has passed makes it fire at once.
 *
 * So the timer's interrupt handler calls ktop_alarm_met() and ktop_tick(), does the kernel's own work, and at its end
 * sets the timer by ktop_alarm_units(). There is one structure for each CPU, used with interrupts off on that CPU.
 */
#ifndef KTOP_ALARM_H
#define KTOP_ALARM_H

#include <stdint.h>

#define KTOP_NEVER UINT64_MAX

enum { KTOP_ALARM_KERNEL = 1, KTOP_ALARM_SAMPLE = 2 };

struct ktop_alarm {
	uint64_t kernel, sample;	/* the deadlines, of ktop_port_clock(); KTOP_NEVER: none */

	/* fixed after init */
	uint64_t ratio;			/* timer units in a clock tick, times 2^32, rounded up */
	uint64_t reach;			/* clock ticks in `most` units */
	uint32_t most;			/* timer units of the longest shot */
};

/* The rates of clock and timer are in Hz, each 100 or more; `most`: timer units of the longest shot. */
void ktop_alarm_init(struct ktop_alarm *alarm, uint64_t clock_hz, uint32_t timer_hz, uint32_t most);

/* Clears the deadlines that are met at `now`, and returns which: bits of KTOP_ALARM_... */
uint32_t ktop_alarm_met(struct ktop_alarm *alarm, uint64_t now);

/*
 * What to set the timer to: its units until the earlier deadline, at least 1. A deadline that is farther away than
 * the timer reaches takes several shots. Without a deadline: `most`.
 */
uint32_t ktop_alarm_units(const struct ktop_alarm *alarm, uint64_t now);

#endif
