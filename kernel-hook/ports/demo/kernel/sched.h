/* SPDX-License-Identifier: MIT */
/*
 * The scheduler. Each CPU has a queue of ready threads, which run in turns of 10 ms. An idle CPU takes a thread from
 * the longest queue. The CPU that ktop has set aside runs nothing but ktop_pace().
 */
#ifndef SCHED_H
#define SCHED_H

#include <stdbool.h>
#include <stdint.h>

struct spin;
struct thread;

/* Threads that wait for something. The lock of that thing guards the list. */
struct wait {
	struct thread *head, *tail;
};

/* interrupts off. Runs another thread, if there is one; returns when this thread runs again. */
void sched_switch(void);

/* interrupts off. A new thread calls it first: it completes the switch to that thread. */
void sched_arrived(void);

/* thread or interrupts off. Makes a thread ready that is in no list. */
void sched_wake(struct thread *thread);

/* thread. Lets the other ready threads run first. */
void sched_yield(void);

/* thread. Sleeps for at least that many nanoseconds. */
void sched_sleep(uint64_t ns);

/* thread. `lock` was taken by spin_lock_irq() and is the only lock held. It is given up while the thread waits. */
void sched_wait(struct wait *wait, struct spin *lock);

/* The lock is held. Wakes the first waiting thread. False: there is none. */
bool sched_wake_one(struct wait *wait);

/* interrupts off, from clock.c. Wakes the threads that are due at `now`; ends a turn, every 10 ms. */
void sched_wake_sleepers(uint64_t now);
void sched_tick(void);

/* thread. The idle thread of a CPU ends here, and runs this loop. */
_Noreturn void sched_idle(void);

#endif
