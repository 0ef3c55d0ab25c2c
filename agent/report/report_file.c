/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/job.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/cut/recording_cut.h"
#include "agent/export/save_format.h"
#include "agent/guest/epoch.h"
#include "agent/wire/recording.h"
#include "report_file.h"

struct writing {
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
	struct writing *writing = context;

	export_write(writing->export, writing->path, &writing->result, &writing->error);
}

/* The first boot, which is the one that the session has read. */
static void run_cut(void *context)
{
	struct writing *writing = context;
	struct recording *recording = recording_new(writing->source, &writing->error);
	struct recording_sums sums = { 0 };

	if (recording)
		recording_cut_write(recording, &writing->cut, writing->path, &sums, &writing->error);
	recording_free(recording);
	writing->result = (struct export_result) { .samples = sums.samples };
}

static void free_job(void *context)
{
	struct writing *writing = context;

	export_free(writing->export);
	epoch_release(writing->epoch);
	free(writing->path);
	free(writing->source);
	free(writing->progress);
	free(writing->error);
	free(writing);
}

char *report_file_mistake(const char *path)
{
	char *error = NULL;

	util_file_discard(util_file_open(path, &error));
	return error;
}

struct job *report_file_begin(const char *path, struct epoch *epoch, const struct export_input *input,
	const struct export_choice *choice, struct set_progress *progress)
{
	static const struct job_work work = { .run = run, .free = free_job };
	struct writing *writing = util_alloc(sizeof(*writing));

	writing->path = util_copy(path, strlen(path));
	writing->progress = progress;
	writing->epoch = epoch_hold(epoch);
	writing->export = export_new(choice, input);
	return job_new(&work, writing);
}

struct job *report_file_begin_cut(const char *path, struct epoch *epoch, const char *source, uint64_t from,
	uint64_t to, struct set_progress *progress)
{
	static const struct job_work work = { .run = run_cut, .free = free_job };
	struct writing *writing = util_alloc(sizeof(*writing));

	writing->path = util_copy(path, strlen(path));
	writing->source = util_copy(source, strlen(source));
	writing->progress = progress;
	writing->epoch = epoch_hold(epoch);
	writing->cut = (struct recording_cut) {
		.from = from, .to = to, .stop = &progress->stop, .done = &progress->done,
	};
	return job_new(&work, writing);
}

bool report_file_done(struct job *job, struct export_result *result, char **error)
{
	struct writing *writing = job_done(job);

	if (!writing)
		return false;
	*result = writing->result;
	*error = writing->error;
	writing->error = NULL;
	job_leave(job);
	return true;
}
