/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/report/report.h"
#include "agent/service/control_client.h"
#include "agent/session/session.h"
#include "agent/session/tape.h"
#include "beside.h"
#include "command.h"

enum { STEP_MS = 10 };

/*
 * Steps until the report is there or has failed; a signal ends the window, and all is to be over at `late` from
 * then on; a second one ends the report.
 */
static bool wait_for_report(struct session *session, struct report *report, uint64_t *late)
{
	int cut = 0;

	while (report_step(report) < REPORT_DONE) {
		session_step(session, STEP_MS);
		command_tell_failures(session);
		if (command_stopped() && cut)
			command_give_up(session, command_late(true),
				util_format("no report: interrupted twice; ask again"));
		if (command_stopped()) {
			*late = command_late(true);
			report_cut(report, "interrupted", *late);
			cut = command_take_signal();
		}
	}
	command_put_back(cut);
	return report->state == REPORT_DONE;
}

int command_profile(struct session *session, const struct report_request *request)
{
	struct report *report = report_new(session, request);
	struct tape *tape;
	char *error = NULL;
	uint64_t late = 0;

	if (wait_for_report(session, report, &late))
		report_write(report, stdout, &error);
	if (report->error && !error)
		error = util_copy(report->error, strlen(report->error));
	tape = report_take_tape(report);
	report_free(report);
	session_leave(session, late ? late : command_late(false));
	if (!command_await_files(session, tape, error ? NULL : &error) || error)
		return command_fail(error);
	return COMMAND_DONE;
}

static int ask_live(const char *live, const struct report_request *request)
{
	struct report_request asked = *request;
	char *folded = request->folded ? beside_path(request->folded) : NULL;
	char *raw = request->raw ? beside_path(request->raw) : NULL;
	int status;

	asked.folded = folded;
	asked.raw = raw;
	status = beside_ask(live, "report", report_options, &asked);
	free(folded);
	free(raw);
	return status;
}

static int attach(const struct session_options *options, const struct report_request *request)
{
	struct session *session;
	char *error = NULL;
	int status;

	command_hold_signals();
	session = command_attach_to(options, &error);
	if (!session)
		return command_fail(error);
	status = command_profile(session, request);
	command_detach(session);
	return status;
}

static int run(char *const *words, size_t count)
{
	struct session_options options = { .unseen = true };
	struct report_request request = report_default;
	uint32_t given[2] = { 0 };
	const struct option_set sets[] = {
		{ .rows = command_attach, .into = &options, .given = &given[0] },
		{ .rows = command_limits, .into = &options, .given = &given[1] },
		{ .rows = report_options, .into = &request },
	};
	char *error = NULL, *live;
	size_t used;
	int status;

	if (!options_parse(words, count, sets, 3, &used, &error))
		return command_usage(&command_report, error);
	if (used < count)
		return command_usage(&command_report,
			util_format("%s: not understood: this is no option", words[used]));
	live = control_client_find(options.qmp ? options.qmp : options.port);
	if (request.raw && (live || options.qmp || options.port) && !record_folder(request.raw, &error)) {
		free(live);
		return command_fail(error);
	}
	if (live)
		status = command_not_beside(sets, 2) ? COMMAND_USAGE : ask_live(live, &request);
	else if (options.qmp || options.port)
		status = attach(&options, &request);
	else
		status = command_which(&command_report);
	free(live);
	return status;
}

const struct command command_report = {
	.name = "report",
	.words = "[options]",
	.help = "Profiles for some seconds, prints the table and exits; also beside a live ktop.",
	.options = { { "Which VM (none: that of the only live ktop):", command_attach },
		{ "What is reported:", report_options }, { "Limits:", command_limits } },
	.run = run,
};
