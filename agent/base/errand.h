/* SPDX-License-Identifier: MIT */
/*
 * Work that may take long, because of a file or the kernel, done once by a thread of its own. The caller
 * never waits for it: it checks now and then, or leaves the errand, which then frees itself once it is
 * done. The context belongs to the work until that is done, then to the caller.
 */
#ifndef ERRAND_H
#define ERRAND_H

#include <stdbool.h>

struct errand;

struct errand_work {
	void (*run)(void *context);	/* in the thread */
	void (*free)(void *context);	/* frees the context; any thread */
};

/* Starts the work. If the system gives no thread, this call does the work itself. */
struct errand *errand_new(const struct errand_work *work, void *context);

/* Returns the context, valid until errand_leave. NULL: the work is not done. */
void *errand_done(struct errand *errand);
void errand_leave(struct errand *errand);	/* frees the context, now or once the work is done; NULL is allowed */
void errand_wait(struct errand *errand);	/* until it is done; only by a thread that may wait */

#endif
