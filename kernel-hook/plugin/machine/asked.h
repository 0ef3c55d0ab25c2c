/* SPDX-License-Identifier: MIT */
/*
 * A call that is asked for on a CPU. Who takes it back makes it: the CPU's thread or, while that sleeps, the timer's.
 * Nothing here needs QEMU: it is tested as host code.
 */
#ifndef PLUGIN_ASKED_H
#define PLUGIN_ASKED_H

#include <stdbool.h>

struct asked {
	bool wanted;			/* the timer's thread sets it; who makes the call clears it */
	bool sleeps;			/* the CPU's thread writes it */
};

/* The timer's thread, after it has written what the call is about. */
static inline void asked_want(struct asked *asked)
{
	__atomic_store_n(&asked->wanted, true, __ATOMIC_RELEASE);	/* pair 19 */
}

/* True: this thread makes the call, and sees what it is about. */
static inline bool asked_take_back(struct asked *asked)
{
	return __atomic_load_n(&asked->wanted, __ATOMIC_RELAXED) &&
		__atomic_exchange_n(&asked->wanted, false, __ATOMIC_ACQUIRE);	/* pair 19 */
}

/* The CPU's thread: the CPU goes to sleep, or wakes up. */
static inline void asked_sleep(struct asked *asked, bool sleeps)
{
	__atomic_store_n(&asked->sleeps, sleeps, __ATOMIC_RELEASE);	/* pair 20 */
}

/* The timer's thread. True: the CPU sleeps, and this thread makes its call. It sees what the CPU's calls have left. */
static inline bool asked_take_back_asleep(struct asked *asked)
{
	return __atomic_load_n(&asked->sleeps, __ATOMIC_ACQUIRE) &&	/* pair 20 */
		asked_take_back(asked);
}

#endif
