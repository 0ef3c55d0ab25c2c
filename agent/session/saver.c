/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "agent/export/export.h"
#include "agent/guest/epoch.h"
#include "mailbox.h"
#include "saved_recording.h"
#include "saver.h"

enum { SAVINGS_MAX = 256 };		/* savings that wait; the budget pays for their memory */

struct saving {				/* a snapshot to be written */
	struct epoch *epoch;		/* held: it owns the names in the stacks */
	struct answer *answer;		/* owned: its table is written; NULL: none is */
	struct export *export;		/* NULL: it is a recording */
	struct saved_recording *recording;
	char *path;
};

struct saver {
	struct mailbox *mailbox;	/* borrowed */
	pthread_t thread;
	bool started;			/* the thread runs */

	pthread_mutex_t lock;		/* guards all below */
	pthread_cond_t changed;
	struct saving savings[SAVINGS_MAX];	/* a ring, the oldest at `first` */
	size_t first, count;
	bool ending;			/* the thread ends once all savings are written */
	uint64_t refused;		/* snapshots so far */
};

struct saver *saver_new(struct mailbox *mailbox)
{
	struct saver *saver = util_alloc(sizeof(*saver));

	saver->mailbox = mailbox;
	pthread_mutex_init(&saver->lock, NULL);
	pthread_cond_init(&saver->changed, NULL);
	return saver;
}

/*
 * Frees the text. Adds how many were refused so far: the messages about these may have been overwritten. The lock is
 * held until the message is posted, so that no message with an older number follows one with a newer.
 */
static void tell(struct saver *saver, bool failed, char *text)
{
	struct session_message message = { .failed = failed };

	pthread_mutex_lock(&saver->lock);
	if (saver->refused)
		util_print(message.text, sizeof(message.text), "%s; snapshots not taken so far: %"
			PRIu64, text, saver->refused);
	else
		util_print(message.text, sizeof(message.text), "%s", text);
	mailbox_message(saver->mailbox, &message);
	pthread_mutex_unlock(&saver->lock);
	free(text);
}

/* ---- the thread ---- */

/* In fresh memory. */
static char *success(const char *name, const struct export_result *result)
{
	if (result->stacks == 0)
		return util_format("%s: %" PRIu64 " sample%s (weight %" PRIu64 ")", name, result->samples,
			util_plural(result->samples), result->weight);
	return util_format("%s: %" PRIu64 " sample%s (weight %" PRIu64 ") in %" PRIu64 " stack%s", name,
		result->samples, util_plural(result->samples), result->weight, result->stacks,
		util_plural(result->stacks));
}

/* Returns what to say of it, in fresh memory; NULL with `error` set. */
static char *write_file(const struct saving *saving, char **error)
{
	struct export_result result = { 0 };
	char *name = export_write_new(saving->export, saving->path, &result, error);
	char *text = name ? success(name, &result) : NULL;

	free(name);
	return text;
}

static void write_saving(struct saver *saver, const struct saving *saving)
{
	char *error = NULL, *text = saving->recording ? saved_recording_write(saving->recording, saving->path, &error) :
		write_file(saving, &error);

	if (text)
		tell(saver, false, text);
	else
		tell(saver, true, util_format("no snapshot: %s; files go to the folder in which ktop "
			"was started", error));
	free(error);
}

static void finish(struct saving *saving)
{
	export_free(saving->export);
	saved_recording_free(saving->recording);
	answer_free(saving->answer);
	epoch_release(saving->epoch);
	free(saving->path);
}

/* Waits for the oldest, which keeps its place until it is written. False: all are written, and none will come. */
static bool await_saving(struct saver *saver, struct saving *saving)
{
	bool there;

	pthread_mutex_lock(&saver->lock);
	while (saver->count == 0 && !saver->ending)
		pthread_cond_wait(&saver->changed, &saver->lock);
	there = saver->count > 0;
	if (there)
		*saving = saver->savings[saver->first];
	pthread_mutex_unlock(&saver->lock);
	return there;
}

static void drop_first(struct saver *saver)
{
	pthread_mutex_lock(&saver->lock);
	saver->first = (saver->first + 1) % SAVINGS_MAX;
	saver->count--;
	pthread_mutex_unlock(&saver->lock);
}

static void *work(void *context)
{
	struct saver *saver = context;
	struct saving saving;
	sigset_t signals;

	sigfillset(&signals);			/* signals are for the threads that handle them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	while (await_saving(saver, &saving)) {
		write_saving(saver, &saving);
		drop_first(saver);
		finish(&saving);
	}
	return NULL;
}

/* ---- the ingest thread ---- */

bool saver_has_room(struct saver *saver)
{
	bool room;

	pthread_mutex_lock(&saver->lock);
	room = saver->count < SAVINGS_MAX;
	saver->refused += !room;
	pthread_mutex_unlock(&saver->lock);
	if (!room)
		tell(saver, true, util_format("no snapshot: %d already wait to be written; is the "
			"disk slow? Try again when they are written", SAVINGS_MAX));
	return room;
}

static void add(struct saver *saver, const struct saving *saving)
{
	pthread_mutex_lock(&saver->lock);
	saver->savings[(saver->first + saver->count++) % SAVINGS_MAX] = *saving;
	pthread_cond_signal(&saver->changed);
	pthread_mutex_unlock(&saver->lock);
}

/* False: there is no thread that writes, and a message says so. */
static bool start(struct saver *saver)
{
	if (!saver->started)
		saver->started = pthread_create(&saver->thread, NULL, work, saver) == 0;
	if (!saver->started)
		tell(saver, true, util_format(
			"no snapshot: the system starts no more threads; close other programs"));
	return saver->started;
}

void saver_save(struct saver *saver, const char *path, struct epoch *epoch, struct answer *answer,
	const struct export_input *input, const struct export_choice *choice)
{
	struct saving saving = { .answer = answer };

	if (!start(saver)) {
		answer_free(answer);
		return;
	}
	saving.epoch = epoch_hold(epoch);
	saving.path = util_copy(path, strlen(path));
	saving.export = export_new(choice, input);
	add(saver, &saving);
}

void saver_save_recording(struct saver *saver, const char *path, struct epoch *epoch,
	struct saved_recording *recording)
{
	struct saving saving = { .recording = recording };

	if (!start(saver)) {
		saved_recording_free(recording);
		return;
	}
	saving.epoch = epoch_hold(epoch);
	saving.path = util_copy(path, strlen(path));
	add(saver, &saving);
}

bool saver_writes(struct saver *saver, char *text, size_t size)
{
	size_t count;

	pthread_mutex_lock(&saver->lock);
	count = saver->count;
	if (count)
		util_print(text, size, "%s", saver->savings[saver->first].path);
	pthread_mutex_unlock(&saver->lock);
	if (count > 1)
		util_print(text + strlen(text), size - strlen(text), ", and %zu more", count - 1);
	return count > 0;
}

void saver_free(struct saver *saver)
{
	if (!saver)
		return;
	pthread_mutex_lock(&saver->lock);
	saver->ending = true;
	pthread_cond_signal(&saver->changed);
	pthread_mutex_unlock(&saver->lock);
	if (saver->started)
		pthread_join(saver->thread, NULL);
	pthread_cond_destroy(&saver->changed);
	pthread_mutex_destroy(&saver->lock);
	free(saver);
}
