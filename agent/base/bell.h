/* SPDX-License-Identifier: MIT */
/*
 * Wakes one thread, which polls the bell's descriptor. A ring makes it readable until bell_quiet. Any
 * thread may ring; several rings before bell_quiet are one.
 */
#ifndef BELL_H
#define BELL_H

struct bell;

struct bell *bell_new(void);
void bell_free(struct bell *bell);	/* NULL is allowed */

void bell_ring(struct bell *bell);	/* any thread */

/*
 * The woken thread calls this first, and looks for what is new afterwards. So a ring that comes while it looks
 * wakes it again.
 */
void bell_quiet(struct bell *bell);
int bell_fd(const struct bell *bell);	/* to poll for reading; -1: the system gave none, so no ring wakes */

#endif
