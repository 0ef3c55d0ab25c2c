/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "signals.h"

/* By signal(7), the signals whose default action ends the program. ktop ignores SIGPIPE and SIGXFSZ. */
static const int ending[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,
	SIGPWR, SIGSTKFLT, SIGXCPU,
};
static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };

static void set_all(sigset_t *set, const int *numbers, size_t count)
{
	sigemptyset(set);
	for (size_t i = 0; i < count; i++)
		sigaddset(set, numbers[i]);
}

void signals_ending(sigset_t *set)
{
	set_all(set, ending, sizeof(ending) / sizeof(*ending));
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigaddset(set, number);
}

void signals_faults(sigset_t *set)
{
	set_all(set, faults, sizeof(faults) / sizeof(*faults));
}
