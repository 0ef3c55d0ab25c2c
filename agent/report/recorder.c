/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/session/session.h"
#include "agent/session/capture.h"
#include "agent/wire/event.h"
#include "recorder.h"
#include "report.h"

#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct recorder_request, member), __VA_ARGS__ }

/* How long a recording waits for a guest that is silent: it may reboot, or be paused. 116 days. */
static const uint64_t forever_ns = NS_PER_SECOND * 10000000;

const struct option_row recorder_options[] = {
	OPTION("output", "DIR", OPTION_FOLDER, folder, "a new or an empty folder for it (or -o "
		"DIR)", .letter = 'o'),
	OPTION("seconds", "N", OPTION_SECONDS, duration_ns,
		"seconds of guest time to record (else until Ctrl-C)"),
	OPTION("wait", "N", OPTION_SECONDS, wait_ns, "seconds to wait for the guest's first data (10)"),
	OPTION("max-size", "MIB", OPTION_NUMBER, part_mib, "size at which a part ends and the next begins",
		.least = 1, .most = 1 << 20),
	OPTION("max-files", "N", OPTION_NUMBER, parts, "how many parts to keep; the oldest is removed",
		.least = 1, .most = 1 << 20),
	OPTION("raw-stacks", NULL, OPTION_FLAG, raw_stacks,
		"keep registers and bytes of stacks, to walk these anew later"),
	OPTION("rate", "N", OPTION_NUMBER, rate, "samples per second on each CPU, 1 to 20000",
		.least = 1, .most = 20000),
	OPTION("sampler", SAMPLER_CHOICES, OPTION_CHOICE, sampler, "nmi sees code with interrupts off; none: the guest "
		"only traces"),
	{ 0 },
};

const struct recorder_request recorder_default = {
	.wait_ns = REPORT_WAIT_SECONDS * NS_PER_SECOND,
	.sampler = -1,
};

struct recorder {
	struct session *session;
	struct recorder_request request;
	struct capture *capture;
	struct report *report;		/* of the present boot, to have the profiler on; NULL: the recording is over */
	uint64_t left_ns;		/* guest time still to be recorded */
	char *ended;			/* why it ended early; NULL: it did not */
	const char *cut;		/* why recorder_cut was called; NULL: it was not */
	bool failed;			/* the first boot's report failed, and nothing was recorded */
};

static void begin_boot(struct recorder *recorder, uint64_t wait_ns)
{
	struct report_request request = report_default;

	request.duration_ns = recorder->left_ns;
	request.wait_ns = wait_ns;
	request.rate = recorder->request.rate;
	request.sampler = recorder->request.sampler;
	recorder->report = report_new(recorder->session, &request);
}

struct recorder *recorder_new(struct session *session, const struct recorder_request *request)
{
	struct recorder *recorder = util_alloc(sizeof(*recorder));
	const struct recording_options options = {
		.folder = request->folder,
		.part_bytes = (uint64_t)request->part_mib << 20,
		.parts = request->parts,
		.walks = !request->raw_stacks,
	};

	recorder->session = session;
	recorder->request = *request;
	recorder->left_ns = request->duration_ns ? request->duration_ns : forever_ns;
	recorder->capture = capture_new(session, &options);
	begin_boot(recorder, request->wait_ns);
	return recorder;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	report_free(recorder->report);
	capture_leave(recorder->capture);
	free(recorder->ended);
	free(recorder);
}

static bool has_restarted(const struct recorder *recorder)
{
	const struct report *report = recorder->report;

	return report->epoch && session_epoch(recorder->session) != report->epoch && !recorder->cut;
}

/* Goes on with the next boot, for what is left of the time. Nothing is spent of it if the window never began. */
static void go_on(struct recorder *recorder)
{
	const struct report *report = recorder->report;
	uint64_t past = report->begin ? epoch_now(report->epoch) - report->begin : 0;

	report_free(recorder->report);
	recorder->left_ns -= past < recorder->left_ns ? past : recorder->left_ns - 1;
	begin_boot(recorder, forever_ns);
}

/*
 * The recording is over. Keeps the reason if it ended early. Where profiling was on already, samples may have been
 * recorded before a report that was cut had begun.
 */
static void end_boot(struct recorder *recorder)
{
	const struct report *report = recorder->report;
	const struct recording_sums sums = capture_sums(recorder->capture);
	const char *ended = report->cut[0] ? report->cut : NULL;

	if (report->state == REPORT_FAILED && recorder->cut && sums.samples) {
		ended = recorder->cut;
	} else if (report->state == REPORT_FAILED) {
		recorder->failed = sums.boots < 2;
		ended = report->error;
	}
	recorder->ended = ended ? util_copy(ended, strlen(ended)) : NULL;
	report_free(recorder->report);
	recorder->report = NULL;
}

/* The report's table is not wanted. So a boot is done as soon as its report would begin to make the table. */
static void step_boot(struct recorder *recorder)
{
	struct report *report = recorder->report;
	enum report_state state = report_step(report);

	if (state == REPORT_RUNNING)
		report->request.wait_ns = forever_ns;
	if (state >= REPORT_RUNNING && state < REPORT_NAMING && capture_failed(recorder->capture))
		recorder_cut(recorder, "the data cannot be written", UINT64_MAX);
	if (state < REPORT_NAMING)
		return;
	if (has_restarted(recorder))		/* the report has failed if its profiler was just being turned on */
		go_on(recorder);
	else
		end_boot(recorder);
}

bool recorder_step(struct recorder *recorder)
{
	if (recorder->report)
		step_boot(recorder);
	return !recorder->report && !capture_writes(recorder->capture);
}

void recorder_cut(struct recorder *recorder, const char *why, uint64_t late)
{
	recorder->cut = why;
	if (recorder->report)
		report_cut(recorder->report, why, late);
}

bool recorder_write(struct recorder *recorder, FILE *out, char **error)
{
	struct recording_sums sums = capture_sums(recorder->capture);
	const char *ended = recorder->ended;
	struct capture *capture = recorder->capture;

	recorder->capture = NULL;
	if (!recorder->failed)
		fprintf(out, "%s: recorded: samples and gaps %" PRIu64 ", other events %" PRIu64 ", boots %" PRIu32
			", %.1f MB%s%s\n", recorder->request.folder, sums.samples, sums.events, sums.boots,
			(double)sums.bytes / 1e6, ended ? "; ended: " : "", ended ? ended : "");
	if (!capture_close(capture, error))
		return false;
	if (recorder->failed)
		return util_fail(error, "%s", ended);
	return !ended || recorder->cut || !recorder->request.duration_ns ||
		util_fail(error, "the recording is cut short: %s; what came before is in it", ended);
}
