/* SPDX-License-Identifier: MIT */
/* Which signals end a program. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>

/*
 * All that somebody may send to end a program, or would end one that does not know of them: ktop
 * has a terminal and a guest to give back before.
 */
void signals_ending(sigset_t *set);

/* Those that a fault of the program's own raises. */
void signals_faults(sigset_t *set);

#endif
