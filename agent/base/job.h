/* SPDX-License-Identifier: MIT */
/*
 * Work that may take long, because of a file or the kernel, done once by a thread of its own. The caller
 * never waits for it: it checks now and then, or leaves the job, which then frees itself once it is
 * done. The context belongs to the work until that is done, then to the caller.
 */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>

struct job;

struct job_work {
	void (*run)(void *context);	/* in the thread */
	void (*free)(void *context);	/* frees the context; any thread */
};

/* Starts the work. If the system gives no thread, this call does the work itself. */
struct job *job_new(const struct job_work *work, void *context);

/* Returns the context, valid until job_leave. NULL: the work is not done. */
void *job_done(struct job *job);
void job_leave(struct job *job);	/* frees the context, now or once the work is done; NULL is allowed */
void job_wait(struct job *job);	/* until it is done; only by a thread that may wait */

#endif
