/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The sampling timer: one pinned hrtimer for each CPU that is on, asked for through
 * ktop_port_timer(). Its interrupt is the one caller of ktop_tick() on its CPU. And what else samples.
 */
#ifndef KTOP_LINUX_TIMER_H
#define KTOP_LINUX_TIMER_H

struct ktop;

/* Thread. From now on CPUs tick, also those that come later; 0, or a negative errno. */
int timer_start(struct ktop *ktop);

/* Thread. When it returns no CPU is in ktop_tick(), nor will one be. */
void timer_stop(void);

/* NMI, or irq off: this CPU's counter has overflowed; nothing, unless the CPU ticks. */
void timer_overflow(struct pt_regs *interrupted);

/* What is sampled on this CPU; NULL outside of ktop_tick() and ktop_overflow(). */
struct pt_regs *timer_regs(void);

#endif
