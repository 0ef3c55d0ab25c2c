/* SPDX-License-Identifier: MIT */
/* Which signals end a program. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

/*
 * All signals from outside that end a program by default. Before it ends, ktop has to put the terminal and the guest
 * back as they were.
 */
void signals_ending(sigset_t *set);

/* The signals that a fault of the program itself raises. */
void signals_faults(sigset_t *set);

#endif
