/* SPDX-License-Identifier: MIT */
/*
 * What a sample costs this machine, measured on the first CPU. The console shows, in clock ticks,
 * which are instructions where those are the clock:
 *
 *   cost: off=N                 ktop_tick() while off, from its call to its return
 *   cost: frames=N ticks=N      the same with a sample of so many kernel frames, 1: the leaf alone,
 *                               of a thread that has no user stack
 *   cost: trace=off|on irq_enter=N syscall_exit=N
 *                               a trace point, within a function that does nothing else
 *   cost: work=N sampled=N      some work while off, and the same work while sampled
 *   cost: end
 *
 * What the interrupt itself takes, on the way in and out, is in the last alone. Sampling is started
 * as a key would.
 */
#ifndef COST_H
#define COST_H

/* thread */
void cost_start(void);

#endif
