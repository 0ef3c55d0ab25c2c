/* SPDX-License-Identifier: MIT */
/*
 * One timer of one shot, two that want to be called: the kernel, and ktop's sampler. Each has one
 * wish, a clock value, and the timer is set for the earlier one. The rules:
 *
 *   A wish stands until it is met or replaced; the other one's coming true does not touch it.
 *   It is met when the clock has reached it. A met wish is cleared *before* ktop_tick(), which
 *   wishes anew; cleared after it, the new wish would be lost, and sampling would stop.
 *   The timer never fires early, and a wish that has passed makes it fire at once.
 *
 * So the timer's interrupt is: ktop_alarm_met(), ktop_tick(), the kernel's own work, and last the
 * timer set by ktop_alarm_units(). One struct for each CPU, used with interrupts off there.
 */
#ifndef KTOP_ALARM_H
#define KTOP_ALARM_H

#include <stdint.h>

#define KTOP_NEVER UINT64_MAX

enum { KTOP_ALARM_KERNEL = 1, KTOP_ALARM_SAMPLE = 2 };

struct ktop_alarm {
	uint64_t kernel, sample;	/* the wishes, of ktop_port_clock(); KTOP_NEVER: none */

	/* fixed after init */
	uint64_t ratio;			/* timer units in a clock tick, times 2^32, rounded up */
	uint64_t reach;			/* clock ticks in the most units that the timer takes */
	uint32_t most;
};

/* Rates in Hz, of the clock and of the timer, each 100 or more; the most units of one shot. */
void ktop_alarm_init(struct ktop_alarm *alarm, uint64_t clock_hz, uint32_t timer_hz, uint32_t most);

/* Clears the wishes that are met at `now`, and says which: bits of KTOP_ALARM_... */
uint32_t ktop_alarm_met(struct ktop_alarm *alarm, uint64_t now);

/*
 * What to set the timer to: units to the earlier wish, at least 1; a wish that is farther away than
 * the timer reaches takes several shots. Without a wish, the most.
 */
uint32_t ktop_alarm_units(const struct ktop_alarm *alarm, uint64_t now);

#endif
