/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/util.h"
#include "agent/import/set_import.h"
#include "agent/report/report.h"
#include "agent/samples/sample_collect.h"
#include "agent/samples/sample_set.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/wire/recording.h"
#include "diff_side.h"

enum { STEP_MS = 10 };

/* What was asked for, taken apart. */
struct asked {
	char *path;			/* in fresh memory, as are the times behind it */
	bool range;
	const char *from, *to;		/* NULL: as far as there is */
	const struct diff_side_options *options;
};

static struct asked take_apart(const char *words, const struct diff_side_options *options)
{
	struct asked asked = { .options = options };

	asked.path = report_range_of(words, &asked.range, &asked.from, &asked.to);
	return asked;
}

/* The report is over. False with `error` set: there are no samples. */
static bool take_samples(struct diff_side *side, const struct report *report, const struct diff_side_options *options,
	char **error)
{
	const struct sample_collect how = { .most = options->most, .kept = options->kept, .nobody = options->nobody };
	char *why = NULL;

	if (report->state == REPORT_FAILED)
		return util_fail(error, "%s: %s", side->name, report->error);
	if (report->note[0])
		side->note = util_copy(report->note, strlen(report->note));
	side->unnamed = report_unnamed(report);
	side->set = report_samples(report, &how, &why);
	if (!side->set)
		util_fail(error, "%s: %s", side->name, why);
	free(why);
	return side->set;
}

static bool read_recording(struct diff_side *side, const struct asked *asked, struct budget *budget, char **error)
{
	const struct replay_options replay = { .at_once = true,
		.kernel_given = asked->options->names && asked->options->names->kernel };
	struct session_options options = { .budget = NULL };
	struct recording *recording = recording_new(asked->path, error);
	struct report_request request = report_default;
	struct session *session;
	struct report *report;
	bool good;

	if (asked->options->names)
		options = *asked->options->names;
	options.budget = budget;
	session = recording ? session_new(replay_new(recording, &replay), &options, error) : NULL;
	if (!session)
		return false;
	request.from = asked->from;
	request.to = asked->to;
	request.filter = asked->options->filter;
	request.lines = asked->options->lines;
	side->recorded = true;
	report = report_new(session, &request);
	while (report_step(report) < REPORT_DONE)
		session_step(session, STEP_MS);
	good = take_samples(side, report, asked->options, error);
	report_free(report);
	session_free(session);
	return good;
}

/* A file of stacks has neither times nor CPUs. */
static bool read_file(struct diff_side *side, const struct asked *asked, struct budget *budget, char **error)
{
	if (asked->range)
		return util_fail(error, "%s: not read: a file of stacks has no times; leave out the range, or name a "
			"recording", side->name);
	if (asked->options->filter)
		return util_fail(error, "--filter: without effect: %s is a file of stacks; leave it out", side->name);
	side->unnamed = util_format("the file does not tell it");
	side->set = set_import_file(asked->path, budget, error);
	return side->set;
}

static bool check_times(const struct diff_side *side, const struct asked *asked, char **error)
{
	char *why = NULL;

	if ((!asked->from || report_check_time(asked->from, &why)) &&
			(!asked->to || report_check_time(asked->to, &why)))
		return true;
	util_fail(error, "%s: not read: %s", side->name, why);
	free(why);
	return false;
}

static bool read_asked(struct diff_side *side, const struct asked *asked, struct budget *budget, char **error)
{
	struct stat about;

	if (stat(asked->path, &about) != 0)
		return util_fail(error, "%s: not read: %s; name a recording, or a file of stacks", asked->path,
			strerror(errno));
	if (!check_times(side, asked, error))
		return false;
	return S_ISDIR(about.st_mode) ? read_recording(side, asked, budget, error) :
		read_file(side, asked, budget, error);
}

bool diff_side_read(struct diff_side *side, const char *words, const struct diff_side_options *options,
	struct budget *budget, char **error)
{
	struct asked asked = take_apart(words, options);
	bool good;

	*side = (struct diff_side) { .name = words };
	good = read_asked(side, &asked, budget, error);
	free(asked.path);
	return good;
}

void diff_side_clear(struct diff_side *side)
{
	sample_set_free(side->set);
	free(side->note);
	free(side->unnamed);
	*side = (struct diff_side) { 0 };
}
