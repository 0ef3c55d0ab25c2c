/* SPDX-License-Identifier: MIT */
/*
 * Work of which the profile is known: tests compare ktop's numbers with it. On each CPU a pinned thread runs the shapes
 * below in turn, each for its share of a period of about 17 ms, and measures how long it really was in each. With
 * oracle.change=N on the command line the shares are others from second N on; one shape ends then, and one begins.
 * Every second the console shows the sums over all CPUs since the start, in clock ticks without the time of interrupts
 * and other threads:
 *
 *   oracle: begin at=NS
 *   oracle: name=oracle_shared self=N loops=N total=N calls=N callers=oracle_left:N,oracle_right:N
 *   ...
 *   oracle: end second=N clock=HZ cpus=N elapsed=N
 *
 * self: ticks in the function itself. loops: how many turns of its loop it made, which does not depend on the host's
 * load. total: ticks in the function and all that it called. callers: total for each caller. at: when the first second
 * began, by the guest's clock; elapsed: clock ticks since then.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdint.h>

/* thread. Starts the threads that work and the one that prints. */
void oracle_start(void);

/* The shapes. Each runs a loop of `loops` turns, under a stack of its own kind. oracle_period() alone calls them. */
void oracle_flat(uint64_t loops);
void oracle_recurse(uint64_t loops);	/* does half of the turns, then calls itself for the rest */
void oracle_deep_20(uint64_t loops);	/* through oracle_deep_19() ... _1() to oracle_deep() */
void oracle_deep(uint64_t loops);
void oracle_jump(uint64_t loops);	/* jumps to oracle_tail(), and leaves no frame */
void oracle_tail(uint64_t loops);
void oracle_late(uint64_t loops);	/* runs only after the change */
void oracle_left(uint64_t loops);	/* both call oracle_shared() */
void oracle_right(uint64_t loops);
void oracle_shared(uint64_t loops);
void oracle_masked(uint64_t loops);	/* masks interrupts around oracle_irqoff() */
void oracle_irqoff(uint64_t loops);

/* The loop that all of them run. */
static inline __attribute__((always_inline)) void oracle_burn(uint64_t loops)
{
	while (loops-- > 0)
		__asm__ volatile("" : "+r"(loops));
}

#endif
