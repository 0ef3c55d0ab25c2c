/* SPDX-License-Identifier: MIT */
/*
 * Time: the clock is the TSC, in ticks since the machine started; alarms are the local APIC's
 * timer, one shot at a time, for whatever is due first on this CPU: a turn of the scheduler, a
 * sleeper, or ktop's next sample.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

struct frame;

/* thread, at start-up, once: how fast the clocks run. Then on each CPU, interrupts off. */
void clock_measure(void);
void clock_start(void);

/* Clock ticks in a second. */
uint64_t clock_rate(void);

uint64_t clock_ticks(uint64_t ns);
uint64_t clock_ns(uint64_t ticks);

/* interrupts off: sets the timer for this CPU's next deadline. */
void clock_arm(void);

/* The timer's interrupt. */
void clock_interrupt(const struct frame *frame);

/* thread, at start-up: turns round for so long. */
void clock_spin(uint64_t ns);

#endif
