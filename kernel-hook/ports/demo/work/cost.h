/* SPDX-License-Identifier: MIT */
/*
 * What a sample costs, measured on the first CPU. The console shows clock ticks; with QEMU's -icount, a tick is an
 * instruction:
 *
 *   cost: off=N                 ktop_tick() while profiling is off, from its call to its return
 *   cost: frames=N ticks=N      the same with a sample of N kernel frames (1: only the leaf), in a thread
 *                               without a user stack
 *   cost: trace=off|on event=N irq=N call=N
 *                               a trace point of one field, in a function that does nothing else; two around an
 *                               interrupt; two around a system call
 *   cost: stack=on event=N      the first, with a stack
 *   cost: work=N sampled=N      some work while profiling is off, and the same work while it is on
 *   cost: end
 *
 * Only `sampled` includes the interrupt's entry and exit. Profiling is started by a key's codes.
 */
#ifndef COST_H
#define COST_H

/* thread. Starts the thread that measures. */
void cost_start(void);

#endif
