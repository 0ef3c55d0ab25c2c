/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "errand.h"
#include "util.h"

struct errand {
	struct errand_work work;
	void *context;

	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t changed;
	bool done, left;		/* whichever is set second frees everything */
};

static void free_all(struct errand *errand)
{
	errand->work.free(errand->context);
	pthread_cond_destroy(&errand->changed);
	pthread_mutex_destroy(&errand->lock);
	free(errand);
}

static void finish(struct errand *errand)
{
	bool left;

	pthread_mutex_lock(&errand->lock);
	errand->done = true;
	left = errand->left;
	pthread_cond_broadcast(&errand->changed);
	pthread_mutex_unlock(&errand->lock);
	if (left)
		free_all(errand);
}

static void *run(void *context)
{
	struct errand *errand = context;
	sigset_t signals;

	sigfillset(&signals);			/* signals go to the threads that expect them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	errand->work.run(errand->context);
	finish(errand);
	return NULL;
}

struct errand *errand_new(const struct errand_work *work, void *context)
{
	struct errand *errand = util_alloc(sizeof(*errand));
	pthread_t thread;

	errand->work = *work;
	errand->context = context;
	pthread_mutex_init(&errand->lock, NULL);
	pthread_cond_init(&errand->changed, NULL);
	if (pthread_create(&thread, NULL, run, errand) == 0) {
		pthread_detach(thread);
	} else {
		work->run(context);
		errand->done = true;
	}
	return errand;
}

void *errand_done(struct errand *errand)
{
	bool done;

	pthread_mutex_lock(&errand->lock);
	done = errand->done;
	pthread_mutex_unlock(&errand->lock);
	return done ? errand->context : NULL;
}

void errand_leave(struct errand *errand)
{
	bool done;

	if (!errand)
		return;
	pthread_mutex_lock(&errand->lock);
	errand->left = true;
	done = errand->done;
	pthread_mutex_unlock(&errand->lock);
	if (done)
		free_all(errand);
}

void errand_wait(struct errand *errand)
{
	pthread_mutex_lock(&errand->lock);
	while (!errand->done)
		pthread_cond_wait(&errand->changed, &errand->lock);
	pthread_mutex_unlock(&errand->lock);
}
