/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The sampling timer: a pinned hrtimer for each CPU that is online. ktop_port_timer() sets it, and its interrupt alone
 * calls ktop_tick() on that CPU. The overflows of counters.c also come here.
 */
#ifndef KTOP_LINUX_TIMER_H
#define KTOP_LINUX_TIMER_H

struct ktop;

/* Thread. From now on all CPUs tick, also those that come online later. 0, or a negative errno. */
int timer_start(struct ktop *ktop);

/* Thread. When it returns, no CPU is in ktop_tick(), and none will be. */
void timer_stop(void);

/* NMI or irq off. This CPU's counter has overflowed. It does nothing while the CPU does not tick. */
void timer_overflow(struct pt_regs *interrupted);

/* In ktop_tick() and ktop_overflow(): the registers of the interrupted code. Elsewhere NULL. */
struct pt_regs *timer_regs(void);

#endif
