/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/kernel_function.h"
#include "agent/names/symbols.h"
#include "agent/report/report.h"
#include "agent/service/control_client.h"
#include "agent/service/service.h"
#include "agent/session/session.h"
#include "agent/vm/link.h"
#include "command.h"
#include "live_guest.h"

enum {
	NAMES_MS = 60000,		/* longest wait for the kernel's names, and for where it runs */
	FUNCTIONS_MOST = 32,
};

/* Where no time is given: it ends by a signal. */
static const uint64_t forever_ns = UINT64_C(100) * 365 * 24 * 3600 * NS_PER_SECOND;

struct trace_request {
	uint64_t seconds;		/* guest ns; 0: until a signal */
	int by;				/* as in `by_words` */
	bool json;
};

static const int by_groups[] = { GROUP_FUNCTION, GROUP_THREAD, GROUP_PROCESS, GROUP_CPU };

static const struct option_row rows[] = {
	{ .name = "seconds", .value = "N", .kind = OPTION_SECONDS, .offset = offsetof(struct trace_request, seconds),
		.help = "how long, in the guest's time (until Ctrl-C)" },
	{ .name = "by", .value = "function|thread|process|cpu", .kind = OPTION_CHOICE,
		.offset = offsetof(struct trace_request, by),
		.help = "a row for each function, or of each thread, process or CPU (function)" },
	{ .name = "json", .kind = OPTION_FLAG, .offset = offsetof(struct trace_request, json),
		.help = "the rows as JSON" },
	{ 0 },
};

/* ---- which functions ---- */

/* Has the guest tell of it. False: it is not traced, and that was told. */
static bool choose_named(struct live_guest *guest, const char *name)
{
	struct kernel_function found;
	char *line, *said, *error = NULL;
	bool good;

	kernel_function_find(guest->epoch->inputs.symbols, name, &found);
	said = kernel_function_remark(&found, name);
	line = kernel_function_line(&found, found.function ? found.function->name : name);
	command_tell(said);
	good = line && guest_ask(guest, line, NULL, &error);
	if (line && !good)
		command_tell(util_format("%s: not traced: %s; name fewer, or see docs/untouched.md",
			found.function->name, error));
	free(error);
	free(line);
	return good;
}

static bool names_are_known(const struct live_guest *guest, const char *name)
{
	struct symbol one;

	return symbols_kernel_is_placed(guest->epoch->inputs.symbols) && !session_reads_names(guest->session) &&
		symbols_kernel_named(guest->epoch->inputs.symbols, name, &one, 1);
}

/* Waits while names come, for the first one. Of a kernel that KASLR has moved, a sample tells where it runs. */
static bool await_names(struct live_guest *guest, const char *name, char **error)
{
	uint64_t deadline = util_now() + (uint64_t)NAMES_MS * NS_PER_MS;
	const struct symbols *symbols = guest->epoch->inputs.symbols;

	while (!names_are_known(guest, name) && !guest_is_gone(guest) && util_now() < deadline && !command_stopped() &&
			session_epoch(guest->session) == guest->epoch)
		if (symbols_kernel_is_placed(symbols) && !session_reads_names(guest->session))
			return true;			/* it has no such function */
		else
			guest_step(guest);
	if (command_stopped())
		return util_fail(error, "nothing traced: interrupted; start it again");
	if (guest_is_gone(guest) || session_epoch(guest->session) != guest->epoch)
		return util_fail(error, "nothing traced: the guest has gone or restarted; start it again");
	return symbols_kernel_is_placed(symbols) || util_fail(error, "nothing traced: in %d s no names of the kernel's "
		"functions were found, or not where it runs; name its file by --kernel", NAMES_MS / 1000);
}

/* ---- the guest ---- */

/* Profiling is needed to find the kernel, and for events to be told. */
static bool switch_on(struct live_guest *guest, char *const *names, size_t count, bool *started, char **error)
{
	uint32_t chosen = 0;

	if (guest->epoch->status.sampler != SAMPLER_OUTSIDE)
		return util_fail(error, "nothing traced: only ktop's plugin in QEMU traces functions of a kernel, "
			"where TCG runs it, not KVM; start QEMU by `ktop run --source plugin`");
	if (!guest_ask(guest, "function none", NULL, error))
		return false;
	*started = !guest->epoch->status.running;
	if ((*started && !guest_profile(guest, true, error)) || !await_names(guest, names[0], error))
		return false;
	for (size_t i = 0; i < count && !command_stopped(); i++)
		chosen += choose_named(guest, names[i]);
	if (!chosen)
		return util_fail(error, "nothing traced: none of these functions can be; name others");
	return guest_await_force(guest, error) && guest_ask(guest, "events +function", NULL, error);
}

/* Sets the guest as it was before. It is told that this failed: the guest may trace on. */
static void switch_back(struct live_guest *guest, bool started)
{
	char *error = NULL;

	if (guest_is_gone(guest) || session_epoch(guest->session) != guest->epoch)
		return;
	if (!guest_ask(guest, "function none", NULL, &error) || !guest_ask(guest, "events -function", NULL, &error))
		command_tell(util_format("functions are still traced: %s; `ktop ctl function none` ends that", error));
	free(error);
	error = NULL;
	if (started && !guest_profile(guest, false, &error))
		command_tell(util_format("profiling stays on: %s; `ktop ctl stop` stops it", error));
	free(error);
}

/*
 * The first signal ends the window; a second one ends the waits that follow. Returns that signal, or 0. A machine that
 * stands, as before its first instruction, is waited for.
 */
static int await_report(struct live_guest *guest, struct report *report)
{
	int cut = 0, signal;

	while (report_step(report) < REPORT_DONE && !(cut && command_stopped())) {
		if (report->state == REPORT_RUNNING)
			report->request.wait_ns = forever_ns;
		guest_step(guest);
		signal = cut ? 0 : command_take_signal();
		if (signal)
			report_cut(report, "interrupted", command_late(false));
		cut = signal ? signal : cut;
	}
	return cut;
}

static int trace(struct live_guest *guest, char *const *names, size_t count, const struct trace_request *request)
{
	struct report_request asked = report_default;
	struct report *report = NULL;
	char *error = NULL;
	bool started = false, good = guest_await(guest, &error);
	int signal = 0;

	asked.duration_ns = request->seconds ? request->seconds : forever_ns;
	asked.json = request->json;
	asked.by = by_groups[request->by];
	asked.events = asked.events_alone = true;
	asked.filter = "function";
	asked.top = 0;
	if (good && switch_on(guest, names, count, &started, &error)) {
		report = report_new(guest->session, &asked);
		signal = await_report(guest, report);
	}
	if (good)
		switch_back(guest, started);
	command_put_back(signal);
	if (report && report->state != REPORT_DONE && !error)
		error = util_format("%s", report->error ? report->error : "nothing told: interrupted twice; ask again");
	else if (report && report_write(report, stdout, &error) && report->error && !signal)
		error = util_copy(report->error, strlen(report->error));
	report_free(report);
	return error ? command_fail(error) : COMMAND_DONE;
}

static char *taken(const struct attach_options *options)
{
	return util_format("%s: refused: a live ktop has this VM; end that ktop",
		command_socket(&options->live) ? command_socket(&options->live) : "the VM");
}

static int attach(const struct attach_options *options, char *const *names, size_t count,
	const struct trace_request *request)
{
	struct live_guest guest = { .session = NULL };
	char *error = NULL, *other;
	int status;

	command_hold_signals();
	guest.session = command_attach_to(options, &(struct command_wait) { .ns = GUEST_CONNECT_MS * NS_PER_MS },
		&guest.service, &error);
	if (guest.session) {
		status = trace(&guest, names, count, request);
		service_free(guest.service);
		command_detach(guest.session);
		return status;
	}
	other = command_overtaken(options, &error);
	status = command_fail(other ? taken(options) : error);
	free(other);
	return status;
}

static int run(char *const *words, size_t count)
{
	struct attach_options options = { .live.choice = LINK_PLUGIN };	/* unless --source says otherwise */
	struct trace_request request = { .seconds = 0 };
	uint32_t given[2] = { 0 };
	const struct option_set sets[] = {
		{ .rows = command_attach, .into = &options, .given = &given[0] },
		{ .rows = command_limits, .into = &options, .given = &given[1] },
		{ .rows = rows, .into = &request },
	};
	char *error = NULL, *live = NULL;
	size_t operands;
	char **names = command_operands(words, count, sets, 3, &operands, &error);
	int status;

	if (!names)
		return command_usage(&command_trace, error);
	if (operands == 0 || operands > FUNCTIONS_MOST) {
		status = command_usage(&command_trace, util_format("FUNCTION...: from 1 to %d are traced at a time; "
			"name so many", FUNCTIONS_MOST));
	} else {
		live = control_client_find(command_socket(&options.live));
		status = live ? command_fail(taken(&options)) : command_socket(&options.live) ?
			attach(&options, names, operands, &request) : command_which(&command_trace);
	}
	free(live);
	free(names);
	return status;
}

const struct command command_trace = {
	.name = "trace",
	.words = "[options] FUNCTION...",
	.help = "Counts and times functions of a kernel that nobody touched, by the plugin in QEMU.",
	.options = { { "Which VM:", command_attach }, { "What is printed:", rows }, { "Limits:", command_limits } },
	.run = run,
};
