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

/* Called by the thread that was woken, before it looks for what is new: so it misses no ring in between. */
void bell_quiet(struct bell *bell);
int bell_fd(const struct bell *bell);

#endif
