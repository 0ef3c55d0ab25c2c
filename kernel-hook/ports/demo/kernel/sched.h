/* SPDX-License-Identifier: MIT */
/*
 * Who runs: each CPU has a queue of ready threads, which take turns of 10 ms. An idle CPU takes
 * from the longest queue. The CPU that ktop has set aside runs nothing but the pacing.
 */
#ifndef SCHED_H
#define SCHED_H

#include <stdbool.h>
#include <stdint.h>

struct spin;
struct thread;

/* Threads that wait for something; guarded by the lock of that thing. */
struct wait {
	struct thread *head, *tail;
};

/* interrupts off. Runs another thread, if there is one, and returns when it is our turn again. */
void sched_switch(void);

/* interrupts off, first thing in a new thread: completes the switch that led there. */
void sched_arrived(void);

/* thread or interrupts off. The thread is in no list; it becomes ready. */
void sched_wake(struct thread *thread);

/* thread. Gives the others their turn. */
void sched_yield(void);

/* thread. At least so long, in nanoseconds. */
void sched_sleep(uint64_t ns);

/* thread, with `lock` from spin_lock_irq(), the only one held; gives it up while it waits. */
void sched_wait(struct wait *wait, struct spin *lock);

/* The lock held. Wakes the first, if any. True: there was one. */
bool sched_wake_one(struct wait *wait);

/* interrupts off, from the clock: what is due at `now`; and once in 10 ms. */
void sched_wake_sleepers(uint64_t now);
void sched_tick(void);

/* What a CPU does at the bottom. */
_Noreturn void sched_idle(void);

#endif
