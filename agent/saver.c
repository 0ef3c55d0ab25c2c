#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "epoch.h"
#include "export.h"
#include "mailbox.h"
#include "saver.h"
#include "util.h"

struct saver {
	struct mailbox *mailbox;	/* borrowed */
	pthread_t thread;
	bool started;			/* and not joined yet */
	atomic_bool busy;

	/* the thread's, while it is busy */
	struct epoch *epoch;		/* held: what the stacks are named by */
	struct folded *folded;
	char *path;
};

struct saver *saver_new(struct mailbox *mailbox)
{
	struct saver *saver = util_alloc(sizeof(*saver));

	saver->mailbox = mailbox;
	return saver;
}

static void tell(struct saver *saver, bool failed, const char *text)
{
	struct session_message message = { .failed = failed };

	strncat(message.text, text, sizeof(message.text) - 1);
	mailbox_message(saver->mailbox, &message);
}

static void write_file(struct saver *saver)
{
	struct export_result result = { 0 };
	char *error = NULL, *text;

	if (folded_write(saver->folded, saver->path, &result, &error))
		text = util_format("%s: %" PRIu64 " samples (weight %" PRIu64 ") in %" PRIu64
			" stacks", saver->path, result.samples, result.weight, result.stacks);
	else
		text = util_format("no snapshot: %s; files go to the folder in which ktop was "
			"started", error);
	tell(saver, error, text);
	free(text);
	free(error);
}

static void finish(struct saver *saver)
{
	folded_free(saver->folded);
	epoch_release(saver->epoch);
	free(saver->path);
	/* Pairs with the load in saver_save: what is above is done before the next begins. */
	atomic_store_explicit(&saver->busy, false, memory_order_release);
}

static void *work(void *context)
{
	sigset_t signals;

	sigfillset(&signals);			/* they are for the threads that expect them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	write_file(context);
	finish(context);
	return NULL;
}

static void join(struct saver *saver)
{
	if (saver->started)
		pthread_join(saver->thread, NULL);
	saver->started = false;
}

void saver_save(struct saver *saver, const char *path, struct epoch *epoch,
	const struct question *question, struct folded_options options)
{
	if (atomic_load_explicit(&saver->busy, memory_order_acquire)) {
		tell(saver, true, "no snapshot: the one before is still being written; "
			"is the disk slow? Try again");
		return;
	}
	join(saver);
	saver->epoch = epoch_hold(epoch);
	saver->folded = folded_new(epoch->query, &epoch->inputs, question, options);
	saver->path = util_copy(path, strlen(path));
	atomic_store_explicit(&saver->busy, true, memory_order_relaxed);
	saver->started = pthread_create(&saver->thread, NULL, work, saver) == 0;
	if (!saver->started) {
		tell(saver, true, "no snapshot: the system gives no thread; close others");
		finish(saver);
	}
}

void saver_free(struct saver *saver)
{
	if (!saver)
		return;
	join(saver);
	free(saver);
}
