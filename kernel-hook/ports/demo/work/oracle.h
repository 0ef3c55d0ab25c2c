/* SPDX-License-Identifier: MIT */
/*
 * Work whose profile is known: the truth that ktop's numbers are held against. On each CPU a pinned
 * thread goes through the shapes below in turn, each for its share of a period of about 17 ms, and
 * measures what it really spent in each. Every second the console shows, summed over all CPUs and
 * since the beginning, in clock ticks without interrupts and other threads' time:
 *
 *   oracle: name=oracle_shared self=N loops=N total=N calls=N callers=oracle_left:N,oracle_right:N
 *   ...
 *   oracle: end second=N clock=HZ cpus=N elapsed=N
 *
 * self: ticks in the function itself; loops: what it did in them, which no host disturbs that runs something else
 * meanwhile; total: ticks with all that it called; callers: total by caller.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdint.h>

/* thread */
void oracle_start(void);

/* The shapes: each turns round `loops` times in the end. Called by oracle_period() alone. */
void oracle_flat(uint64_t loops);
void oracle_recurse(uint64_t loops);	/* does half of them, then calls itself for the rest */
void oracle_deep_20(uint64_t loops);	/* through oracle_deep_19() ... _1() to oracle_deep() */
void oracle_deep(uint64_t loops);
void oracle_jump(uint64_t loops);	/* jumps to oracle_tail(), leaving no frame */
void oracle_tail(uint64_t loops);
void oracle_left(uint64_t loops);	/* both call oracle_shared() */
void oracle_right(uint64_t loops);
void oracle_shared(uint64_t loops);
void oracle_masked(uint64_t loops);	/* masks interrupts around oracle_irqoff() */
void oracle_irqoff(uint64_t loops);

/* What all of them turn round in. */
static inline __attribute__((always_inline)) void oracle_burn(uint64_t loops)
{
	while (loops-- > 0)
		__asm__ volatile("" : "+r"(loops));
}

#endif
