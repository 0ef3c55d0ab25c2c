/* SPDX-License-Identifier: MIT */
/* What a lock asks of the scheduler. kernel/sched.c has both functions. */
#ifndef PREEMPT_H
#define PREEMPT_H

/* thread. No other thread runs on this CPU until the matching preempt_on(). They nest. */
void preempt_off(void);

/* thread. The outermost one runs the thread that an interrupt has made ready meanwhile, if interrupts are on. */
void preempt_on(void);

#endif
