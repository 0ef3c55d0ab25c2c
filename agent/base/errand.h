/* SPDX-License-Identifier: MIT */
/*
 * Work that may take long, a file's or the kernel's, done once by a thread of its own. Who began it
 * never waits for it: it looks now and then, or leaves it, and then it goes by itself when it is
 * done. Its context belongs to the work until that is done, then to who began it.
 */
#ifndef ERRAND_H
#define ERRAND_H

#include <stdbool.h>

struct errand;

struct errand_work {
	void (*run)(void *context);	/* in the thread */
	void (*free)(void *context);	/* any thread, after it */
};

/* Where the system gives no thread, it is done by this very call. */
struct errand *errand_new(const struct errand_work *work, void *context);

/* The context, for as long as the errand is not left; NULL: it is not done. */
void *errand_done(struct errand *errand);
void errand_leave(struct errand *errand);	/* NULL: nothing. The context goes, too */
void errand_wait(struct errand *errand);	/* until it is done: for who ends the program */

#endif
