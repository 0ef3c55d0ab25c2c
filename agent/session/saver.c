/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/answer.h"
#include "agent/base/job.h"
#include "agent/base/util.h"
#include "agent/cut/kept_recording.h"
#include "agent/cut/recording_cut.h"
#include "agent/export/export.h"
#include "agent/guest/epoch.h"
#include "agent/wire/recording.h"
#include "flight.h"
#include "saver.h"
#include "subscription.h"

enum { SAVINGS_MAX = 256 };		/* savings that wait; the budget pays for their memory */

struct saving {				/* a snapshot to be written: of `export`, `kept`, `flight`, `cut` one is set */
	struct saving *next;
	struct epoch *epoch;		/* held: it owns the names in the stacks */
	struct answer *answer;		/* owned: its table is written; NULL: none is */
	struct export *export;
	struct kept_recording *kept;
	struct flight_cut *flight;
	struct saver_cut cut;
	char *folder;			/* owned: that of `cut` */
	char *path;
	bool failed;			/* set when it is written, as `told` is: what to say of it */
	char *told;
};

struct saver {
	struct mailbox *mailbox;	/* borrowed */
	struct saving *first, **end;	/* those that wait, the oldest first */
	size_t count;
	struct job *job;		/* writes the first one; NULL: there is none */
	uint64_t refused;		/* snapshots so far */
};

struct saver *saver_new(struct mailbox *mailbox)
{
	struct saver *saver = util_alloc(sizeof(*saver));

	saver->mailbox = mailbox;
	saver->end = &saver->first;
	return saver;
}

/* Adds how many were refused so far: the messages about these may have been overwritten. */
static void tell(struct saver *saver, bool failed, const char *text)
{
	struct session_message message = { .failed = failed };

	if (saver->refused)
		util_print(message.text, sizeof(message.text), "%s; snapshots not taken so far: %"
			PRIu64, text, saver->refused);
	else
		util_print(message.text, sizeof(message.text), "%s", text);
	mailbox_message(saver->mailbox, &message);
}

/* ---- the job ---- */

/* These return what to say of it, in fresh memory; or NULL with `error` set, those that may fail. */

static char *export_told(const char *name, const struct export_result *result)
{
	if (result->stacks == 0)
		return util_format("%s: %" PRIu64 " sample%s (weight %" PRIu64 ")", name, result->samples,
			util_plural(result->samples), result->weight);
	return util_format("%s: %" PRIu64 " sample%s (weight %" PRIu64 ") in %" PRIu64 " stack%s", name,
		result->samples, util_plural(result->samples), result->weight, result->stacks,
		util_plural(result->stacks));
}

static char *write_file(const struct saving *saving, char **error)
{
	struct export_result result = { 0 };
	char *name = export_write_new(saving->export, saving->path, &result, error);
	char *text = name ? export_told(name, &result) : NULL;

	free(name);
	return text;
}

/* Nobody looks how far it is, or stops it. */
static char *write_cut(const struct saver_cut *cut, const char *folder, char **error)
{
	struct recording *recording = recording_new(cut->folder, error);
	struct recording_sums sums = { 0 };
	atomic_bool stop = false;
	atomic_uint done = 0;
	const struct recording_cut range = {
		.boot = cut->boot, .from = cut->from, .to = cut->to, .stop = &stop, .done = &done,
	};
	bool good = false;

	if (recording && cut->boot >= recording->boot_count)
		util_fail(error, "%s: not written: the recording has changed; play it anew", folder);
	else if (recording)
		good = recording_cut_write(recording, &range, folder, &sums, error);
	recording_free(recording);
	if (!good)
		return NULL;
	return util_format("%s: cut out of the recording: samples and gaps %" PRIu64, folder, sums.samples);
}

static char *kept_told(const char *folder, const struct kept_sums *sums)
{
	char *text = util_format("%s: %" PRIu64 " sample%s (weight %" PRIu64 "), at the times of their slices", folder,
		sums->samples, util_plural(sums->samples), sums->weight), *more;

	if (!sums->unknown)
		return text;
	more = util_format("%s; of %" PRIu64 " the CPU is not kept: they stand at CPU 0", text, sums->unknown);
	free(text);
	return more;
}

static char *write_kept(struct kept_recording *kept, const char *folder, char **error)
{
	char *partial = partial_folder_new(folder, error);
	struct kept_sums sums;

	if (partial && kept_recording_write(kept, partial, &sums, error))
		return partial_folder_commit(partial, folder, error) ? kept_told(folder, &sums) : NULL;
	partial_folder_discard(partial);
	return NULL;
}

static char *write_flight(const struct saving *saving, const char *folder, char **error)
{
	char *partial = partial_folder_new(folder, error);
	double seconds = (double)flight_cut_span(saving->flight) / NS_PER_SECOND;
	struct recording_sums sums;

	if (!partial || !flight_cut_write(saving->flight, partial, &sums, error)) {
		partial_folder_discard(partial);
		return NULL;
	}
	if (!partial_folder_commit(partial, folder, error))
		return NULL;
	return util_format("%s: the last %.1f s are recorded: samples and gaps %" PRIu64 ", other events %" PRIu64 "%s",
		folder, seconds, sums.samples, sums.events, flight_cut_is_short(saving->flight) ?
		"; ktop has no memory for more: give --memory" : "");
}

static char *write_recording(const struct saving *saving, char **error)
{
	char *folder = partial_folder_unused(saving->path);
	char *text = saving->flight ? write_flight(saving, folder, error) : saving->kept ?
		write_kept(saving->kept, folder, error) : write_cut(&saving->cut, folder, error);

	free(folder);
	return text;
}

static void write_saving(void *context)
{
	struct saving *saving = context;
	char *error = NULL;

	saving->told = saving->export ? write_file(saving, &error) : write_recording(saving, &error);
	saving->failed = !saving->told;
	if (saving->failed)
		saving->told = util_format("no snapshot: %s; files go to the folder in which ktop was started", error);
	free(error);
}

static void free_saving(void *context)
{
	struct saving *saving = context;

	export_free(saving->export);
	kept_recording_free(saving->kept);
	flight_cut_free(saving->flight);
	free(saving->folder);
	answer_free(saving->answer);
	epoch_release(saving->epoch);
	free(saving->path);
	free(saving->told);
	free(saving);
}

/* ---- the ingest thread ---- */

static void begin(struct saver *saver)
{
	static const struct job_work writing = { write_saving, free_saving };

	if (saver->first && !saver->job)
		saver->job = job_new(&writing, saver->first);
}

bool saver_step(struct saver *saver)
{
	struct saving *saving;

	while (saver->job && (saving = job_done(saver->job))) {
		tell(saver, saving->failed, saving->told);
		saver->first = saving->next;
		saver->end = saver->first ? saver->end : &saver->first;
		saver->count--;
		job_leave(saver->job);
		saver->job = NULL;
		begin(saver);
	}
	return saver->job;
}

bool saver_has_room(struct saver *saver)
{
	char *text;

	if (saver->count < SAVINGS_MAX)
		return true;
	saver->refused++;
	text = util_format("no snapshot: %d already wait to be written; is the disk slow? Try again when they are "
		"written", SAVINGS_MAX);
	tell(saver, true, text);
	free(text);
	return false;
}

/* Takes over what `of` owns. */
static void add(struct saver *saver, const char *path, struct epoch *epoch, const struct saving *of)
{
	struct saving *saving = util_alloc(sizeof(*saving));

	*saving = *of;
	saving->epoch = epoch_hold(epoch);
	saving->path = util_copy(path, strlen(path));
	*saver->end = saving;
	saver->end = &saving->next;
	saver->count++;
	begin(saver);
}

void saver_save(struct saver *saver, const char *path, struct epoch *epoch, struct answer *answer,
	const struct export_input *input, const struct export_choice *choice)
{
	add(saver, path, epoch, &(struct saving) { .answer = answer, .export = export_new(choice, input) });
}

void saver_save_kept(struct saver *saver, const char *path, struct epoch *epoch, struct kept_recording *kept)
{
	add(saver, path, epoch, &(struct saving) { .kept = kept });
}

void saver_save_flight(struct saver *saver, const char *path, struct epoch *epoch, struct flight_cut *flight)
{
	add(saver, path, epoch, &(struct saving) { .flight = flight });
}

void saver_save_cut(struct saver *saver, const char *path, struct epoch *epoch, const struct saver_cut *cut)
{
	struct saving saving = { .cut = *cut, .folder = util_copy(cut->folder, strlen(cut->folder)) };

	saving.cut.folder = saving.folder;
	add(saver, path, epoch, &saving);
}

bool saver_writes(struct saver *saver, char *text, size_t size)
{
	if (!saver_step(saver))
		return false;
	util_print(text, size, "%s", saver->first->path);
	if (saver->count > 1)
		util_print(text + strlen(text), size - strlen(text), ", and %zu more", saver->count - 1);
	return true;
}

void saver_free(struct saver *saver)
{
	if (!saver)
		return;
	while (saver_step(saver))
		job_wait(saver->job);
	free(saver);
}
