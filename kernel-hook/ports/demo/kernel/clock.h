/* SPDX-License-Identifier: MIT */
/*
 * Time. The clock is the TSC, in ticks since the machine started. The local APIC's timer, one shot at a time, is set
 * for what is due first on this CPU: the scheduler's turn, a sleeping thread, or ktop's next sample.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

struct frame;

/* At start-up. Measure: thread, once; finds how fast the clocks run. Start: then, on each CPU, interrupts off. */
void clock_measure(void);
void clock_start(void);

/* Any context. Clock ticks in a second. */
uint64_t clock_rate(void);

/* Any context. Between nanoseconds and clock ticks. */
uint64_t clock_ticks(uint64_t ns);
uint64_t clock_ns(uint64_t ticks);

/* interrupts off. Sets the timer for this CPU's next deadline. */
void clock_arm(void);

/* interrupts off. Handles the timer's interrupt, and the kick of another CPU. */
void clock_interrupt(const struct frame *frame);

/* thread, at start-up. Waits that long in a loop. */
void clock_spin(uint64_t ns);

#endif
