/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <time.h>

#include "thread.h"

enum { JOIN_SECONDS = 2 };

bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	sigset_t all, before;
	bool good;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	good = pthread_create(thread, NULL, run, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (good)
		pthread_setname_np(*thread, "ktop");	/* else it would have that of the CPU's thread */
	return good;
}

void thread_join(pthread_t thread)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += JOIN_SECONDS;
	pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
}
