/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/report/recorder.h"
#include "agent/report/report.h"
#include "agent/service/control_client.h"
#include "agent/service/service.h"
#include "agent/session/capture.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/wire/recording.h"
#include "command.h"
#include "interruption.h"

enum { STEP_MS = 10, BAR = 40, BAR_MS = 200, ENDING_MS = 3000 };

static const char bar[BAR + 1] = "########################################";

/* ---- the bar of an export that takes long ---- */

struct progress {
	uint64_t due;			/* host ns: when it is shown next */
	bool there, shown;		/* somebody can see it; it is on the screen */
};

static struct progress progress_begin(void)
{
	return (struct progress) { .due = util_now() + NS_PER_SECOND, .there = isatty(STDERR_FILENO) };
}

/* How much of a recording has been read, in thousandths. */
static int read_so_far(struct session *session)
{
	struct play_state play = session_source(session).play;

	if (!play.there || play.end <= play.begin || play.at <= play.begin)
		return 0;
	if (play.at >= play.end)
		return 1000;
	return (int)((double)(play.at - play.begin) * 1000 / (double)(play.end - play.begin));
}

static void show_progress(struct progress *progress, struct session *session, const struct report *report)
{
	int written = report_export_done(report), thousandths = written >= 0 ? written : read_so_far(session);
	int filled = thousandths * BAR / 1000;

	if (!progress->there || !report->request.out || util_now() < progress->due)
		return;
	progress->due = util_now() + (uint64_t)BAR_MS * NS_PER_MS;
	progress->shown = true;
	fprintf(stderr, "\r%s [%.*s%*s] %3d %%", written >= 0 ? "writing" : "reading", filled, bar, BAR - filled, "",
		thousandths / 10);
}

static void end_progress(const struct progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r%*s\r", BAR + 20, "");
}

/* Tells once what is waited for, when a QEMU of our own has ended, and what has started it has not. */
static void tell_ending(struct session *session, uint64_t *speak_at)
{
	if (!session_source(session).unsure)
		*speak_at = util_now() + (uint64_t)ENDING_MS * NS_PER_MS;
	if (util_now() < *speak_at)
		return;
	command_tell(util_format("waits for what has started QEMU, to know how that has ended: 30 s at most; Ctrl-C "
		"shows what came"));
	*speak_at = UINT64_MAX;
}

/* Ends the program, though a thread of it still writes. */
static void give_up(struct session *session, const struct report *report)
{
	report_export_abandon(report);
	command_give_up(session, command_late(true), report_export_given_up(report) ?
		util_format("%s: not written: interrupted; take it again", report->request.out) :
		util_format("no report: interrupted twice; ask again"));
}

/* The first signal breaks off what is being answered or written. If that does not end, the next ends the program. */
static void break_off(void *session)
{
	if (*session_given_up(session))
		interruption_exit("no report: interrupted twice; ask again");
	session_give_up(session);
}

/* Once the window has ended, answers may take long: a signal breaks them off. Of a recording, it ends the program. */
static struct interruption *heed_signals(struct session *session, const struct report *report)
{
	if (report->state < REPORT_NAMING || session_source(session).play.there)
		return NULL;
	return interruption_new(break_off, session);
}

/*
 * Steps until the report is done or has failed. A signal ends the window, or the writing of an export: then `late` is
 * the deadline for all that is left. A second signal ends the program. `heeding` is set as soon as a signal breaks
 * answers off.
 */
static bool wait_for_report(struct session *session, struct service *service, struct report *report,
	uint64_t *late, struct interruption **heeding)
{
	struct progress progress = progress_begin();
	uint64_t speak_at = 0;
	int cut = 0, signal;

	while (report_step(report) < REPORT_DONE) {
		*heeding = *heeding ? *heeding : heed_signals(session, report);
		command_step(session, service, STEP_MS);
		show_progress(&progress, session, report);
		command_tell_failures(session);
		tell_ending(session, &speak_at);
		if (cut && (command_stopped() || (report_export_given_up(report) && util_now() >= *late)))
			give_up(session, report);
		signal = command_take_signal();
		if (signal || *session_given_up(session)) {
			*late = command_late(true);
			report_cut(report, "interrupted", *late);
			cut = signal ? signal : cut;
		}
	}
	command_put_back(cut);
	end_progress(&progress);
	return report->state == REPORT_DONE;
}

int command_profile(struct session *session, struct service *service, const struct report_request *request)
{
	struct report *report = report_new(session, request);
	struct capture *capture;
	char *error = NULL;
	uint64_t late = 0;
	struct interruption *heeding = NULL;
	bool good = wait_for_report(session, service, report, &late, &heeding);

	service_free(service);			/* before the report is written: who reads it may be slow */
	good = good && report_write(report, stdout, &error);
	if (good && !report->error)
		command_outcome(COMMAND_DONE);	/* whatever becomes of the session */
	if (good)
		report_export_tell_beside(report, stderr);
	if (report->error && !error)
		error = util_copy(report->error, strlen(report->error));
	capture = report_take_capture(report);
	report_free(report);
	interruption_free(heeding);
	session_leave(session, late ? late : command_late(*session_given_up(session)));
	if (!command_await_files(session, capture, error ? NULL : &error) || error)
		return command_fail(error);
	return COMMAND_DONE;
}

static int attach(const struct attach_options *options, const struct command *command, const struct option_row *rows,
	const struct report_request *request)
{
	struct service *service = NULL;
	struct session *session;
	char *error = NULL, *live;
	int status;

	command_hold_signals();
	session = command_attach_to(options, &(struct command_wait) { .ns = request->wait_ns }, &service, &error);
	if (!session) {
		live = command_overtaken(options, &error);
		status = live ? beside_ask(live, command->name, rows, request) : command_fail(error);
		free(live);
		return status;
	}
	status = command_profile(session, service, request);
	command_detach(session);
	return status;
}

/* True with `error` set: an option was given that needs a guest, and has no effect on a recording. */
static bool is_of_guest(const struct option_set *sets, const struct option_set *report, const char *folder,
	char **error)
{
	const char *option = options_unheeded(sets, COMMAND_RECORDED);

	if (!option)
		option = options_unheeded(report, REPORT_OF_RECORDING);
	return option && !util_fail(error, "--%s: without effect: %s is a recording; leave it out", option, folder);
}

/* True: the user gave this option, which must be one of the set's. */
static bool is_given(const struct option_set *set, const char *name)
{
	const struct option_row *row = set->rows;

	while (strcmp(row->name, name) != 0)
		row++;
	return *set->given & 1u << (row - set->rows);
}

/* True with `error` set: --from and --to ask for what is past; this option needs what is to come, or a beginning. */
static bool is_of_future(const struct option_set *report, char **error)
{
	const char *option = options_unheeded(report, REPORT_OF_RECORDING);

	if (!option && is_given(report, "seconds"))
		option = "seconds";
	return option && !util_fail(error, "--%s: without effect: --from and --to ask for what is past; leave it out",
		option);
}

/* What is told if it is interrupted. */
static char *not_written(const struct report_request *request)
{
	return request->out ? util_format("%s: not written: interrupted; take it again", request->out) :
		util_format("no report: interrupted; ask again");
}

/* Reports on a recording. `whole`: all of its first boot; if not, as much as --seconds says. */
static int replay(const char *folder, const struct session_options *options,
	const struct report_request *request, bool whole)
{
	const struct replay_options how = { .at_once = true, .kernel_given = options->kernel,
		.most_ns = whole ? 0 : request->duration_ns };
	struct report_request asked = *request;
	struct session_options logging = *options;
	struct interruption *interruption = interruption_ends(not_written(request));
	struct recording *recording;
	struct session *session;
	char *error = NULL;
	int status;

	asked.recording = folder;
	logging.log = report_export_rows(request);
	recording = recording_new(folder, &error);
	session = recording ? session_new(replay_new(recording, &how), &logging, &error) : NULL;
	status = session ? command_profile(session, NULL, &asked) : command_fail(error);
	session_free(session);
	interruption_free(interruption);
	return status;
}

/* A live guest is recorded: an export of its packets is what `ktop record` does. */
static int record(const struct attach_options *options, const struct report_request *request,
	const struct option_set *sets)
{
	struct recorder_request recording = recorder_default;
	char *mistake = report_export_cut_mistake(request);

	if (mistake)
		return command_fail(mistake);
	recording.folder = request->out;
	recording.duration_ns = request->duration_ns;
	recording.wait_ns = request->wait_ns;
	recording.rate = request->rate;
	recording.sampler = request->sampler;
	return command_record_to(options, &recording, sets);
}

/* Takes the range out of the folder's name. *path owns its texts, and the folder's name without it. */
static bool take_range(const char *words, struct report_request *request, char **path, char **error)
{
	const char *from, *to;
	char *why = NULL;
	bool range;

	*path = report_range_of(words, &range, &from, &to);
	if (!range)
		return true;
	if (report_looks_back(request))
		return util_fail(error, "%s: not read: it has a range, and --from or --to is given, too; give one of "
			"them", words);
	if ((from && !report_check_time(from, &why)) || (to && !report_check_time(to, &why))) {
		util_fail(error, "%s: not read: %s", words, why);
		free(why);
		return false;
	}
	request->from = from;
	request->to = to;
	return true;
}

/* *path: to be freed by the caller, at the end. */
static int ask(const struct command *command, const struct option_row *rows, char *const *words, size_t count,
	int (*look)(const struct report_request *request), char **path)
{
	struct attach_options options = { .live.qmp = NULL };
	struct report_request request = report_default;
	const char *folder = NULL;
	uint32_t given[3] = { 0 };
	const struct option_set sets[] = {
		{ .rows = command_attach, .into = &options, .given = &given[0] },
		{ .rows = command_limits, .into = &options, .given = &given[1] },
		{ .rows = rows, .into = &request, .given = &given[2] },
	};
	char *error = NULL, *live, *mistake;
	size_t used, more = 0;
	int status;

	if (!options_parse(words, count, sets, 3, &used, &error))
		return command_usage(command, error);
	if (used < count) {
		folder = words[used++];
		if (!options_parse(words + used, count - used, sets, 3, &more, &error))
			return command_usage(command, error);
		used += more;
	}
	if (used < count)
		return command_usage(command,
			util_format("%s: not understood: this is not an option", words[used]));
	if (folder && !take_range(folder, &request, path, &error))
		return command_usage(command, error);
	folder = *path;
	mistake = report_options_mistake(&request);
	if (mistake)
		return command_usage(command, mistake);
	status = look ? look(&request) : COMMAND_GO_ON;
	if (status != COMMAND_GO_ON)
		return status;
	if (folder && is_of_guest(&sets[0], &sets[2], folder, &error))
		return command_usage(command, error);
	if (folder && report_export_cuts(&request) && is_given(&sets[2], "seconds"))
		return command_usage(command, util_format("--seconds: without effect: a recording is cut by --from and "
			"--to; leave it out"));
	if (!folder && report_export_cuts(&request))
		return record(&options, &request, sets);
	if (report_looks_back(&request) && is_of_future(&sets[2], &error))
		return command_usage(command, error);
	if (folder)
		return replay(folder, &options.session, &request, !is_given(&sets[2], "seconds"));
	live = control_client_find(command_socket(&options.live));
	if (request.raw && (live || command_socket(&options.live)) && !recording_folder(request.raw, &error)) {
		free(live);
		return command_fail(error);
	}
	if (live)
		status = command_not_beside(sets, 2) ? COMMAND_USAGE :
			beside_ask(live, command->name, rows, &request);
	else if (command_socket(&options.live) && report_looks_back(&request))
		status = command_usage(command, util_format("--from, --to: nothing is kept: no live ktop has "
			"this VM; start one, or name a recording"));
	else if (command_socket(&options.live))
		status = attach(&options, command, rows, &request);
	else
		status = command_which(command);
	free(live);
	return status;
}

int command_ask(const struct command *command, const struct option_row *rows, char *const *words, size_t count,
	int (*look)(const struct report_request *request))
{
	char *path = NULL;
	int status = ask(command, rows, words, count, look, &path);

	free(path);
	return status;
}

static int run(char *const *words, size_t count)
{
	return command_ask(&command_report, report_options, words, count, NULL);
}

const struct command command_report = {
	.name = "report",
	.words = "[options] [DIR[@FROM..TO]]",
	.help = "Profiles for some seconds, prints the table and exits; also beside a live ktop. DIR: of a recording.",
	.options = { { "Which VM (default: that of the only live ktop):", command_attach },
		{ "What is reported:", report_options }, { "Limits:", command_limits } },
	.run = run,
};
