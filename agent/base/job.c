/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "job.h"
#include "util.h"

struct job {
	struct job_work work;
	void *context;

	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t changed;
	bool done, left;		/* whichever is set second frees everything */
};

static void free_all(struct job *job)
{
	job->work.free(job->context);
	pthread_cond_destroy(&job->changed);
	pthread_mutex_destroy(&job->lock);
	free(job);
}

static void finish(struct job *job)
{
	bool left;

	pthread_mutex_lock(&job->lock);
	job->done = true;
	left = job->left;
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
	if (left)
		free_all(job);
}

static void *run(void *context)
{
	struct job *job = context;
	sigset_t signals;

	sigfillset(&signals);			/* signals go to the threads that expect them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	job->work.run(job->context);
	finish(job);
	return NULL;
}

struct job *job_new(const struct job_work *work, void *context)
{
	struct job *job = util_alloc(sizeof(*job));
	pthread_t thread;

	job->work = *work;
	job->context = context;
	pthread_mutex_init(&job->lock, NULL);
	pthread_cond_init(&job->changed, NULL);
	if (pthread_create(&thread, NULL, run, job) == 0) {
		pthread_detach(thread);
	} else {
		work->run(context);
		job->done = true;
	}
	return job;
}

void *job_done(struct job *job)
{
	bool done;

	pthread_mutex_lock(&job->lock);
	done = job->done;
	pthread_mutex_unlock(&job->lock);
	return done ? job->context : NULL;
}

void job_leave(struct job *job)
{
	bool done;

	if (!job)
		return;
	pthread_mutex_lock(&job->lock);
	job->left = true;
	done = job->done;
	pthread_mutex_unlock(&job->lock);
	if (done)
		free_all(job);
}

void job_wait(struct job *job)
{
	pthread_mutex_lock(&job->lock);
	while (!job->done)
		pthread_cond_wait(&job->changed, &job->lock);
	pthread_mutex_unlock(&job->lock);
}
