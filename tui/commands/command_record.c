/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/report/recorder.h"
#include "agent/service/control_client.h"
#include "agent/service/service.h"
#include "agent/session/session.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_repair.h"
#include "agent/wire/recording_writer.h"
#include "command.h"

enum { STEP_MS = 20 };

static const struct option_row repair_rows[] = {
	{ .name = "repair", .value = "DIR", .kind = OPTION_TEXT,
		.help = "removes what is no whole packet from a recording, writes missing or cut metadata anew, "
			"and ends it" },
	{ 0 },
};

/* Steps until the recording is over. A signal ends it: then `late` is the deadline for all that is left. */
static void wait_for_recording(struct session *session, struct service *service, struct recorder *recorder,
	uint64_t *late)
{
	int cut = 0;

	while (!recorder_step(recorder)) {
		command_step(session, service, STEP_MS);
		command_tell_failures(session);
		if (command_stopped() && cut)
			command_give_up(session, command_late(true), util_format("the recording is not complete: "
				"interrupted twice; what was written of it can be read"));
		if (command_stopped()) {
			*late = command_late(true);
			recorder_cut(recorder, "interrupted", *late);
			cut = command_take_signal();
		}
	}
	command_put_back(cut);
}

static int attach(const struct attach_options *options, const struct recorder_request *request)
{
	struct recorder *recorder;
	struct service *service = NULL;
	struct session *session;
	uint64_t late = 0;
	char *error = NULL, *live;
	int status;

	command_hold_signals();
	session = command_attach_to(options, &(struct command_wait) { .ns = request->wait_ns }, &service, &error);
	if (!session) {
		live = command_overtaken(options, &error);
		status = live ? beside_ask(live, "record", recorder_options, request) : command_fail(error);
		free(live);
		return status;
	}
	recorder = recorder_new(session, request);
	wait_for_recording(session, service, recorder, &late);
	service_free(service);
	recorder_write(recorder, stdout, &error);
	recorder_free(recorder);
	session_leave(session, late ? late : command_late(false));
	command_detach(session);
	return error ? command_fail(error) : COMMAND_DONE;
}

int command_record_to(const struct attach_options *options, const struct recorder_request *request,
	const struct option_set *sets)
{
	char *live = control_client_find(command_socket(&options->live)), *error = NULL;
	int status;

	if (!live && !command_socket(&options->live))
		status = command_which(&command_record);
	else if (live && command_not_beside(sets, 2))
		status = COMMAND_USAGE;
	else if (!recording_folder(request->folder, &error))
		status = command_fail(error);
	else
		status = live ? beside_ask(live, "record", recorder_options, request) : attach(options, request);
	free(live);
	return status;
}

/* No repair brings back what was cut off. */
static void tell_lost(const struct recording *recording, const char *folder)
{
	char text[RECORDING_REMARK];

	for (size_t i = 0; i < recording->boot_count; i++)
		if (recording_lost(recording, i, text, sizeof(text))[0])
			command_print(stdout, util_format("%s: boot %zu: %s", folder, i + 1, text));
}

static int repair(const char *folder)
{
	struct recording_repaired done;
	char *error = NULL;
	struct recording *recording = recording_new(folder, &error);
	bool good = recording && recording_repair(recording, &done, &error);

	if (!good) {
		recording_free(recording);
		return command_fail(error);
	}
	command_print(stdout, util_format("%s: repaired: files written anew %" PRIu64 ", bytes taken out %"
		PRIu64 ", metadata made anew %" PRIu64 ", parts ended %" PRIu64, folder, done.files,
		done.bytes, done.described, done.ended));
	tell_lost(recording, folder);
	recording_free(recording);
	return COMMAND_DONE;
}

static int run(char *const *words, size_t count)
{
	const char *damaged = NULL;
	struct attach_options options = { .live.qmp = NULL };
	struct recorder_request request = recorder_default;
	uint32_t given[2] = { 0 };
	const struct option_set sets[] = {
		{ .rows = command_attach, .into = &options, .given = &given[0] },
		{ .rows = command_limits, .into = &options, .given = &given[1] },
		{ .rows = recorder_options, .into = &request },
		{ .rows = repair_rows, .into = &damaged },
	};
	char *error = NULL;
	size_t used;

	if (!options_parse(words, count, sets, 4, &used, &error))
		return command_usage(&command_record, error);
	if (used < count)
		return command_usage(&command_record,
			util_format("%s: not understood: this is not an option", words[used]));
	if (damaged)
		return repair(damaged);
	if (!request.folder)
		return command_usage(&command_record,
			util_format("no folder: none was named; give -o DIR"));
	if (request.lead_ns && (request.part_mib || request.parts || request.raw_stacks))
		return command_usage(&command_record, util_format("--rolling: it has one part, with all as it came; "
			"leave --max-size, --max-files and --raw-stacks out"));
	return command_record_to(&options, &request, sets);
}

const struct command command_record = {
	.name = "record",
	.words = "-o DIR [options]",
	.help = "Records what the guest sends, for report DIR and --replay DIR; also beside a live ktop.",
	.options = { { "Which VM (default: that of the only live ktop):", command_attach },
		{ "What is recorded:", recorder_options },
		{ "Or, to repair a recording that was cut or damaged:", repair_rows },
		{ "Limits:", command_limits } },
	.run = run,
};
