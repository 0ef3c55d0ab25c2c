/* SPDX-License-Identifier: MIT */
/*
 * Wakes one thread, which polls the wakeup's descriptor: wakeup_send makes it readable until wakeup_clear.
 * Several sent before wakeup_clear are one.
 */
#ifndef WAKEUP_H
#define WAKEUP_H

struct wakeup;

struct wakeup *wakeup_new(void);
void wakeup_free(struct wakeup *wakeup);	/* NULL is allowed */

void wakeup_send(struct wakeup *wakeup);	/* any thread */

/*
 * The woken thread calls this first, and looks for what is new afterwards. So one that is sent while it looks
 * wakes it again.
 */
void wakeup_clear(struct wakeup *wakeup);
int wakeup_fd(const struct wakeup *wakeup);	/* to poll for reading; -1: the system gave none, so nothing wakes */

#endif
