/* SPDX-License-Identifier: MIT */
/*
 * Wakes one thread: it polls the bell's descriptor, which is readable from a ring until the bell is quieted. Any
 * thread may ring; rings that come before it is quieted are one.
 */
#ifndef BELL_H
#define BELL_H

struct bell;

struct bell *bell_new(void);
void bell_free(struct bell *bell);	/* NULL: nothing */

void bell_ring(struct bell *bell);	/* any thread */

/* By the thread that is woken: quiet it first, then take what was brought. A ring in between is not missed. */
void bell_quiet(struct bell *bell);
int bell_fd(const struct bell *bell);

#endif
