/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/errand.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/cut/recording_cut.h"
#include "agent/export/export_set.h"
#include "agent/guest/epoch.h"
#include "agent/wire/recording.h"
#include "report_file.h"

struct job {
	struct epoch *epoch;		/* held: it owns the names in the stacks */
	struct export *export;		/* NULL: a recording is cut */
	char *source;			/* the folder of that recording */
	struct recording_cut cut;
	char *path, *error;
	struct export_result result;
	struct set_progress *progress;
};

static void run(void *context)
{
	struct job *job = context;

	export_write(job->export, job->path, &job->result, &job->error);
}

/* The first boot, which is the one that the session has read. */
static void run_cut(void *context)
{
	struct job *job = context;
	struct recording *recording = recording_new(job->source, &job->error);
	struct recording_sums sums = { 0 };

	if (recording)
		recording_cut_write(recording, &job->cut, job->path, &sums, &job->error);
	recording_free(recording);
	job->result = (struct export_result) { .samples = sums.samples };
}

static void free_job(void *context)
{
	struct job *job = context;

	export_free(job->export);
	epoch_release(job->epoch);
	free(job->path);
	free(job->source);
	free(job->progress);
	free(job->error);
	free(job);
}

char *report_file_mistake(const char *path)
{
	char *error = NULL;

	util_file_discard(util_file_open(path, &error));
	return error;
}

struct errand *report_file_begin(const char *path, struct epoch *epoch, const struct export_input *input,
	const struct export_choice *choice, struct set_progress *progress)
{
	static const struct errand_work work = { .run = run, .free = free_job };
	struct job *job = util_alloc(sizeof(*job));

	job->path = util_copy(path, strlen(path));
	job->progress = progress;
	job->epoch = epoch_hold(epoch);
	job->export = export_new(choice, input);
	return errand_new(&work, job);
}

struct errand *report_file_begin_cut(const char *path, struct epoch *epoch, const char *source, uint64_t from,
	uint64_t to, struct set_progress *progress)
{
	static const struct errand_work work = { .run = run_cut, .free = free_job };
	struct job *job = util_alloc(sizeof(*job));

	job->path = util_copy(path, strlen(path));
	job->source = util_copy(source, strlen(source));
	job->progress = progress;
	job->epoch = epoch_hold(epoch);
	job->cut = (struct recording_cut) { .from = from, .to = to, .stop = &progress->stop, .done = &progress->done };
	return errand_new(&work, job);
}

bool report_file_done(struct errand *errand, struct export_result *result, char **error)
{
	struct job *job = errand_done(errand);

	if (!job)
		return false;
	*result = job->result;
	*error = job->error;
	job->error = NULL;
	errand_leave(errand);
	return true;
}
