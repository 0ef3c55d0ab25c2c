/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/service/control_client.h"
#include "agent/service/service.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/strace/call_lines.h"
#include "agent/trace/trace.h"
#include "agent/wire/recording.h"
#include "command.h"
#include "live_guest.h"
#include "interruption.h"

enum {
	STEP_MS = 20,
	LAST_MS = 1000,			/* longest wait for what has happened before the end */
	TROUBLE = 768,
};

struct strace_request {
	const char *whom;		/* NULL: all */
	const char *replay;		/* a recording's folder; NULL: live */
	bool summary;
	uint64_t seconds;		/* guest ns; 0: until a signal */
};

static const struct option_row rows[] = {
	{ .name = "summary", .letter = 'c', .kind = OPTION_FLAG, .offset = offsetof(struct strace_request, summary),
		.help = "no lines, but at the end a row for each call: count, errors, total, p50, p99, longest" },
	{ .name = "seconds", .value = "N", .kind = OPTION_SECONDS, .offset = offsetof(struct strace_request, seconds),
		.help = "how long, in the guest's time (until Ctrl-C)" },
	{ .name = "replay", .value = "DIR", .kind = OPTION_TEXT, .once = "one recording is read",
		.offset = offsetof(struct strace_request, replay), .heeded = COMMAND_RECORDED,
		.help = "the calls in a recording in which they were traced" },
	{ 0 },
};

struct live {				/* a guest whose calls are traced */
	struct live_guest guest;
	struct call_lines *lines;
	char *off;			/* the line that switches off what was off before; NULL: nothing was */
	bool started;			/* the profiler was off before */
	const char *sampler;		/* that was chosen before, where there is none now; NULL: it stays */
};

/* Is the word, such as "+syscall_exit", in a list of events? ":stack=8" or the like may follow it. */
static bool has_word(const char *list, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += size)
		if (at > list && at[-1] == ' ' && (at[size] == ' ' || at[size] == ':' || !at[size]))
			return true;
	return false;
}

/* Calls need the profiler on, and no samples. A hook that always samples goes on to. */
static bool start(struct live *live, char **error)
{
	const enum sampler sampler = live->guest.epoch->status.sampler;

	/* Whatever comes of it: a line that was sent may be obeyed after its answer is not awaited any more. */
	if (sampler != SAMPLER_NONE) {
		live->sampler = sampler_word(sampler);
		guest_ask(&live->guest, "sampler none", NULL, error);
	}
	free(*error);
	*error = NULL;
	live->started = guest_profile(&live->guest, true, error);
	return live->started;
}

/* A hook outside the guest samples: so the kernel is found. */
static bool prepare_outside(struct live *live, char missing[GUEST_MISSING], char **error)
{
	if (!live->guest.epoch->status.running) {
		live->started = guest_profile(&live->guest, true, error);
		if (!live->started)
			return false;
	}
	return guest_await_places(&live->guest, missing, error);
}

/* Switches on what is off: the events of system calls, then the profiler, without which nothing is traced. */
static bool switch_on(struct live *live, char **error)
{
	const bool outside = sampler_is_outside(live->guest.epoch->status.sampler);
	char *list = NULL, *line, missing[GUEST_MISSING] = "";
	bool enter, leave, good;

	if ((outside && !prepare_outside(live, missing, error)) || !guest_ask(&live->guest, "events", &list, error))
		return false;
	enter = has_word(list, "-syscall_enter");
	leave = has_word(list, "-syscall_exit");
	good = (enter || has_word(list, "+syscall_enter")) && (leave || has_word(list, "+syscall_exit"));
	free(list);
	if (!good && outside)
		return util_fail(error, "nothing traced: of a kernel without the hook, ktop's plugin in QEMU traces "
			"the system calls of Linux on x86-64 alone%s%s; load the hook", *missing ? ": " : "", missing);
	if (!good)
		return util_fail(error, "nothing traced: this guest does not trace system calls; the hook in its "
			"kernel needs their trace points");
	if (enter || leave) {
		line = util_format("events%s%s", enter ? " +syscall_enter" : "", leave ? " +syscall_exit" : "");
		good = guest_ask(&live->guest, line, NULL, error);
		free(line);
		if (good)
			live->off = util_format("events%s%s", enter ? " -syscall_enter" : "",
				leave ? " -syscall_exit" : "");
	}
	if (outside)
		return good && guest_await_force(&live->guest, error);
	return good && (live->guest.epoch->status.running || start(live, error));
}

/* Sets the guest as it was before. It is told that this failed: the guest may trace on. */
static void switch_back(struct live *live)
{
	char *error = NULL;

	if (guest_is_gone(&live->guest) || session_epoch(live->guest.session) != live->guest.epoch)
		return;
	if (live->started && !guest_profile(&live->guest, false, &error))
		command_tell(util_format("profiling stays on: %s; `ktop ctl stop` stops it", error));
	free(error);
	error = NULL;
	if (live->sampler) {
		char *line = util_format("sampler %s", live->sampler);

		if (!guest_ask(&live->guest, line, NULL, &error))
			command_tell(util_format("no samples are taken: %s; `ktop ctl %s` brings them back", error,
				line));
		free(line);
		free(error);
		error = NULL;
	}
	if (live->off && !guest_ask(&live->guest, live->off, NULL, &error))
		command_tell(util_format("system calls are still traced: %s; `ktop ctl %s` ends that", error,
			live->off));
	free(error);
}

/* By filters that were there before; calls among them, and other events. */
static void tell_left_out(const struct epoch *epoch)
{
	if (epoch && epoch_left_out(epoch))
		command_tell(util_format("events left out: the guest was asked for some alone; "
			"`ktop ctl events +syscall` tells all calls"));
}

/* Until a signal, or the end of the time or of the guest. NULL: as was asked for; else why. */
static const char *follow(struct live *live, uint64_t ns)
{
	uint64_t end = ns ? epoch_now(live->guest.epoch) + ns : UINT64_MAX;

	while (!command_stopped() && !ferror(stdout)) {
		if (session_epoch(live->guest.session) != live->guest.epoch)
			return "the calls end here: the guest restarted; start it again";
		if (guest_is_gone(&live->guest))
			return "the calls end here: the VM is gone; start it again";
		if (epoch_now(live->guest.epoch) >= end)
			return NULL;
		guest_step(&live->guest);
	}
	return NULL;
}

/* What has happened until now is still under way. */
static void await_last(struct live *live)
{
	uint64_t until = epoch_now(live->guest.epoch), deadline = util_now() + (uint64_t)LAST_MS * NS_PER_MS;

	while (session_epoch(live->guest.session) == live->guest.epoch && !guest_is_gone(&live->guest) &&
			!command_stopped() && !trace_is_whole(live->guest.epoch->trace, until) && util_now() < deadline)
		guest_step(&live->guest);
}

static int trace(struct live *live, const struct strace_request *request)
{
	char *error = NULL;
	const char *ended = NULL;
	bool good = guest_await(&live->guest, &error);
	int signal = 0;

	if (good) {
		call_lines_of(live->lines, live->guest.session);
		good = switch_on(live, &error);
	}
	if (good) {
		ended = follow(live, request->seconds);
		signal = command_take_signal();		/* a second one ends each wait that follows */
		await_last(live);
		call_lines_end(live->lines);
	}
	if (live->guest.epoch) {
		tell_left_out(live->guest.epoch);
		switch_back(live);
	}
	command_put_back(signal);
	if (ended)
		error = util_format("%s", ended);
	else if (good && request->whom && !call_lines_count(live->lines))
		error = util_format("%s: no call of it came; give the number or the name of a process or thread that "
			"calls, or leave it out for all", request->whom);
	return error ? command_fail(error) : COMMAND_DONE;
}

static char *taken(const struct attach_options *options)
{
	return util_format("%s: refused: a live ktop has this VM; end that ktop, or record beside it, and read the "
		"recording", command_socket(&options->live) ? command_socket(&options->live) : "the VM");
}

static int attach(const struct attach_options *options, const struct strace_request *request)
{
	struct attach_options watched = *options;
	struct live live = { .lines = call_lines_new(request->whom, request->summary, stdout) };
	char *error = NULL, *other;
	int status;

	watched.session.calls = call_lines_watcher(live.lines);
	command_hold_signals();
	live.guest.session = command_attach_to(&watched, &(struct command_wait) { .ns = GUEST_CONNECT_MS * NS_PER_MS },
		&live.guest.service, &error);
	if (live.guest.session) {
		status = trace(&live, request);
		service_free(live.guest.service);
		command_detach(live.guest.session);
	} else {
		other = command_overtaken(options, &error);
		status = command_fail(other ? taken(options) : error);
		free(other);
	}
	free(live.off);
	call_lines_free(live.lines);
	return status;
}

/* ---- a recording ---- */

/* Why there are no lines. */
static char *nothing(const struct session *session, const struct strace_request *request)
{
	const struct epoch *epoch = session_epoch(session);

	if (!epoch)
		return util_format("%s: no packet of it is whole; record it again", request->replay);
	if (!trace_counts(epoch->trace).events || !request->whom)
		return util_format("%s: it has no system calls: none were traced; `ktop ctl events +syscall` traces; "
			"then record anew", request->replay);
	return util_format("%s: it has no calls of %s; give the number or the name of a process or thread, or leave it "
		"out for all", request->replay, request->whom);
}

static int read_all(struct session *session, struct call_lines *lines, const struct strace_request *request)
{
	char trouble[TROUBLE];

	call_lines_of(lines, session);
	while (!session_over(session) && !session_failure(session) && !ferror(stdout))
		session_step(session, STEP_MS);
	call_lines_end(lines);
	if (session_failure(session))
		return command_fail(util_format("%s", session_failure(session)));
	if (session_trouble(session, trouble, sizeof(trouble))[0])
		command_tell(util_format("%s", trouble));
	tell_left_out(session_epoch(session));
	return call_lines_count(lines) ? COMMAND_DONE : command_fail(nothing(session, request));
}

static int replay(const struct session_options *options, const struct strace_request *request)
{
	const struct replay_options how = { .at_once = true, .kernel_given = options->kernel,
		.most_ns = request->seconds };
	struct session_options watched = *options;
	struct call_lines *lines = call_lines_new(request->whom, request->summary, stdout);
	struct interruption *interruption = interruption_ends(util_format("the calls end here: interrupted; ask "
		"again"));
	struct recording *recording;
	struct session *session;
	char *error = NULL;
	int status;

	watched.calls = call_lines_watcher(lines);
	recording = recording_new(request->replay, &error);
	session = recording ? session_new(replay_new(recording, &how), &watched, &error) : NULL;
	status = session ? read_all(session, lines, request) : command_fail(error);
	session_free(session);
	interruption_free(interruption);
	call_lines_free(lines);
	return status;
}

static int run(char *const *words, size_t count)
{
	struct attach_options options = { .live.qmp = NULL };
	struct strace_request request = { .whom = NULL };
	uint32_t given[2] = { 0 };
	const struct option_set sets[] = {
		{ .rows = command_attach, .into = &options, .given = &given[0] },
		{ .rows = command_limits, .into = &options, .given = &given[1] },
		{ .rows = rows, .into = &request },
	};
	char *error = NULL, *live;
	const char *option;
	size_t operands;
	char **whom = command_operands(words, count, sets, 3, &operands, &error);
	int status;

	if (!whom)
		return command_usage(&command_strace, error);
	request.whom = operands ? whom[0] : NULL;
	free(whom);
	if (operands > 1)
		return command_usage(&command_strace, util_format("several names: one process or thread, or all; give "
			"one"));
	option = request.replay ? options_unheeded(&sets[0], COMMAND_RECORDED) : NULL;
	if (option)
		return command_usage(&command_strace, util_format("--%s: without effect: %s is a recording; leave it "
			"out", option, request.replay));
	if (request.replay)
		return replay(&options.session, &request);
	live = control_client_find(command_socket(&options.live));
	status = live ? command_fail(taken(&options)) : command_socket(&options.live) ? attach(&options, &request) :
		command_which(&command_strace);
	free(live);
	return status;
}

const struct command command_strace = {
	.name = "strace",
	.words = "[options] [NAME|PROCESS|THREAD]",
	.help = "Prints the system calls of a process or thread, or of all, as they end; live or of a recording.",
	.options = { { "Which VM:", command_attach }, { "What is printed:", rows }, { "Limits:", command_limits } },
	.run = run,
};
