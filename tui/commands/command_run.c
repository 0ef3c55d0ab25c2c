/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/report/report.h"
#include "agent/session/capture.h"
#include "agent/session/session.h"
#include "agent/vm/console/console.h"
#include "agent/vm/hook_search.h"
#include "agent/vm/launch.h"
#include "agent/wire/event.h"
#include "tui/screen/app.h"
#include "tui/views/config.h"
#include "command.h"
#include "interruption.h"

enum {
	START_MS = 30000,		/* longest wait for QEMU, and default of --wait */
	SCREEN_MS = 3000,		/* so long, QEMU may fail without a screen */
	LAST_WORDS_MS = 1000,		/* longest wait for QEMU's end after a failure */
	ENDING_MS = 6000,		/* longest wait for QEMU's end once it was asked to end */
	MOMENT_MS = 150,		/* what takes longer than this is told */
	LOOK_MS = 10,			/* between two checks */
	PRINTED_MS = 500,		/* longest wait for what QEMU printed at its end */
	TOLD_LINES = 5,			/* of that, so many are shown */
};

enum { CLOCK_HOST, CLOCK_GUEST };

struct run_options {
	bool headless, boot;
	int clock;
	const char *console;
	struct attach_options attach;
};

#define OPTION(word, takes, what, member, text) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct run_options, member) }

static const struct option_row run_rows[] = {
	OPTION("headless", NULL, OPTION_FLAG, headless,
		"no screen: profile, print the report, end QEMU"),
	OPTION("boot", NULL, OPTION_FLAG, boot,
		"sample from the first instruction on, by the plugin; tell when each phase of the boot began"),
	OPTION("clock", "host|guest", OPTION_CHOICE, clock,
		"by whose clock samples are due; they differ with QEMU's -icount; guest: by the plugin"),
	OPTION("console", "FILE", OPTION_FILE, console,
		"append what QEMU and its guest's console print to this file, as it comes"),
	OPTION("kernel", "ELF", OPTION_TEXT, attach.session.kernel,
		"the kernel's file, with symbols, when it is not QEMU's -kernel"),
	OPTION("symbols", "FILE", OPTION_TEXT, attach.session.symbols,
		"output of nm, System.map or kallsyms, instead of an ELF file"),
	OPTION("object", "FILE@ADDRESS", OPTION_TEXTS, attach.session.objects,
		"another ELF file that the kernel has there: a loader, firmware; may be repeated"),
	OPTION("sysroot", "FOLDER", OPTION_TEXT, attach.session.sysroot,
		"a copy of the guest's files, for names in its programs"),
	OPTION("debug-dir", "FOLDER", OPTION_TEXT, attach.session.debug,
		"debug files, laid out as /usr/lib/debug, or side by side"),
	{ .name = "source-map", .value = "FROM=TO", .kind = OPTION_TEXT, .check = command_check_map,
		.help = "source files whose path begins with FROM are at TO; for Annotate",
		.offset = offsetof(struct run_options, attach.session.source_map) },
	OPTION("debuginfod", NULL, OPTION_FLAG, attach.session.debuginfod,
		"fetch missing debug and source files from the servers in DEBUGINFOD_URLS"),
	OPTION("source", "auto|hook|plugin|gdb", OPTION_CHOICE, attach.live.choice,
		"what samples: the guest's hook, a plugin in QEMU, its gdb stub (auto: the best there is)"),
	{ 0 },
};

/* Tells QEMU's last words if it has ended: they explain more than a closed socket does. */
static int explain(struct launch *launch, char *error)
{
	char *why = launch_failure(launch, command_stopped() ? 0 : LAST_WORDS_MS);

	if (!why)
		return command_fail(error);
	free(error);
	return command_fail(why);
}

/*
 * After an error was told: adds what QEMU, or the guest on its console, said last. `gone`: QEMU is about to end.
 * `known`: the error says how it has ended.
 */
static void quote(struct launch *launch, bool gone, bool known)
{
	char *why = launch_failure(launch, gone ? LAST_WORDS_MS : 0);
	bool well;
	char *how = why || known ? NULL : launch_end(launch, &well), *said = why ? NULL : launch_last_words(launch);

	if (how)
		command_tell(how);
	if (why)
		command_tell(why);
	else if (said[0])
		command_tell(util_format("QEMU's last line of output: %s", said));
	free(said);
}

/* The screen makes no report: of the report's options, only those that set the guest count there. */
static bool heeded(const struct run_options *options, const struct option_set *report, char **error)
{
	const char *option = options->headless ? NULL : options_unheeded(report, REPORT_OF_SCREEN);

	if (options->headless && report_looks_back(report->into))
		return util_fail(error, "--from, --to: a guest that is only started has no past; leave them out, or "
			"record it");
	return !option || util_fail(error, "--%s: the screen has no report; give --headless as well, "
		"or leave it out", option);
}

/* Only the plugin is there from the first instruction on, and has QEMU's timers. */
static bool takes_plugin(struct run_options *options, char **error)
{
	bool others = options->attach.live.choice != LINK_AUTO && options->attach.live.choice != LINK_PLUGIN;

	if (options->boot && others)
		return util_fail(error, "--boot: only the plugin samples from the first instruction on; leave out "
			"--source");
	if (options->clock == CLOCK_GUEST && others)
		return util_fail(error, "--clock guest: only the plugin samples by the guest's clock; leave out "
			"--source");
	if (options->boot || options->clock == CLOCK_GUEST)
		options->attach.live.choice = LINK_PLUGIN;
	return true;
}

/*
 * Shows the screen; the guest gets the options that set it, and is profiled from the start. `mode` is
 * the earlier name of the control word `sampler`: hooks of all versions take it.
 */
static int show(const struct command_vm *vm, const struct config *config,
	const struct report_request *request, bool *detach)
{
	char rate[32], sampler[32];
	struct command_start start = { .own = false };

	snprintf(rate, sizeof(rate), "rate %" PRIu32, request->rate);
	snprintf(sampler, sizeof(sampler), "mode %s", sampler_word(sampler_chosen(request->sampler)));
	if (request->rate)
		start.lines[0] = rate;
	if (request->sampler >= 0)
		start.lines[1] = sampler;
	return command_screen(vm, 1, NULL, config, &start, detach);
}

/* `detach`: set to whether the user wants QEMU to go on. */
static int watch(struct launch *launch, const struct run_options *options,
	const struct config *config, const struct report_request *request, bool *detach)
{
	struct attach_options attach = options->attach;
	struct service *service = NULL;
	char *error = NULL;
	struct session *session;
	struct command_vm vm;
	const struct command_wait wait = {
		.ns = options->headless ? request->wait_ns : SCREEN_MS * NS_PER_MS, .goes_on = !options->headless,
	};
	struct source_facts facts;
	bool gone, known;
	int status;

	attach.live.qmp = launch_qmp(launch);
	attach.live.ended = launch_end;
	attach.live.ended_context = launch;
	attach.session.lead = options->headless ? 0 : SESSION_LEAD_MS * NS_PER_MS;
	session = command_attach_to(&attach, &wait, options->headless ? &service : NULL, &error);
	if (!session)
		return explain(launch, error);
	vm = (struct command_vm) {
		.session = session, .socket = attach.live.qmp, .console = launch_console(launch),
	};
	if (request->raw && !options->headless)
		vm.capture = capture_new(session, &(struct recording_options) { .folder = request->raw });
	status = options->headless ? command_profile(session, service, request) :
		show(&vm, config, request, detach);
	facts = session_source(session);
	gone = facts.vm == VM_GONE;
	known = facts.ended && !facts.ended_well;
	session_free(session);
	if (status != COMMAND_DONE)
		quote(launch, gone, known);
	return status;
}

/* Starts QEMU, with the plugin if one is to be loaded. If QEMU refuses it, and --source is auto, starts it without. */
static struct launch *start(char *const *words, size_t count, const struct run_options *options, char **error)
{
	struct interruption_early early;
	const struct launch_wait wait = { START_MS, interruption_early, &early };
	enum link_choice choice = (enum link_choice)options->attach.live.choice;
	char *plugin = launch_plugin(words, count, choice, error);
	struct launch_extra extra = {
		.port = choice == LINK_HOOK, .plugin = plugin, .start = options->boot,
		.guest_clock = options->clock == CLOCK_GUEST, .headless = options->headless,
		.console = options->console,
	};
	struct launch *launch = NULL;
	bool by_plugin = false;

	interruption_early_begin(&early, "QEMU", "it has no QMP socket yet", !options->headless);
	if (!*error)
		launch = launch_new(words, count, &extra, &wait, &by_plugin, error);
	if (!launch && by_plugin && choice == LINK_AUTO) {
		free(*error);
		*error = NULL;
		extra.plugin = NULL;
		launch = launch_new(words, count, &extra, &wait, &by_plugin, error);
	}
	interruption_early_end(&early);
	free(plugin);
	return launch;
}

/* Tells what --console lacks. */
static void tell_console(struct launch *launch)
{
	char *trouble = console_trouble(launch_console(launch));

	if (trouble)
		command_tell(trouble);
}

/* Tells what QEMU has printed at its end, from this line on. */
static void tell_output(struct console *console, uint64_t from)
{
	struct console_extent extent;
	char line[CONSOLE_LINE];
	bool told = false;

	console_drain(console, PRINTED_MS);
	extent = console_extent(console);
	if (extent.end - extent.first > TOLD_LINES && from < extent.end - TOLD_LINES)
		from = extent.end - TOLD_LINES;
	for (; from < extent.end; from++) {
		if (!console_line(console, from, line) || !line[strspn(line, " ")])
			continue;
		if (!told)
			command_print(stderr, util_format("QEMU's last output:"));
		told = true;
		command_print(stderr, util_format("  %s", line));
	}
}

/*
 * QEMU may still write its disks: it has time for that, but a further signal kills it. If it has ended by itself, this
 * tells what it said; `tells`: also what it prints on its way out.
 */
static void end(struct launch *launch, bool tells)
{
	struct console *console = launch_console(launch);
	bool by_itself = launch_ended(launch, 0);
	uint64_t from = by_itself ? 0 : console_extent(console).end;
	uint64_t begun = util_now(), speak_at = begun + MOMENT_MS * NS_PER_MS;
	int before = command_take_signal();

	launch_quit(launch);
	while (!launch_ended(launch, LOOK_MS) && !command_stopped() && util_now() < begun + ENDING_MS * NS_PER_MS) {
		if (util_now() < speak_at)
			continue;
		command_tell(util_format("QEMU: it has not ended yet: it may still write its disks; Ctrl-C kills it"));
		speak_at = UINT64_MAX;
	}
	command_put_back(before);
	if ((tells || by_itself) && launch_ended(launch, 0))
		tell_output(console, from);
	tell_console(launch);
	launch_free(launch);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && value[0];
}

static int run(char *const *words, size_t count)
{
	struct run_options options = { 0 };
	struct report_request request = report_default;
	uint32_t given = 0;
	const struct option_set sets[] = {
		{ .rows = run_rows, .into = &options },
		{ .rows = command_limits, .into = &options.attach },
		{ .rows = report_options, .into = &request, .given = &given },
	};
	struct config config;
	struct launch *launch;
	char *error = NULL, *goes_on;
	bool detach = false;
	size_t used;
	int status;

	request.wait_ns = (uint64_t)START_MS * NS_PER_MS;
	if (!options_parse(words, count, sets, 3, &used, &error) ||
			!util_file_is_folder("sysroot", options.attach.session.sysroot, &error) ||
			!util_file_is_folder("debug-dir", options.attach.session.debug, &error) ||
			!heeded(&options, &sets[2], &error) || (error = report_options_mistake(&request)))
		return command_usage(&command_run, error);
	if (used == count)
		return command_usage(&command_run, util_format("no command line: nothing follows "
			"--; give QEMU's"));
	if (launch_needs_display(words + used, count - used, options.headless) && !is_set("DISPLAY") &&
			!is_set("WAYLAND_DISPLAY"))
		return command_usage(&command_run, util_format("no display here: DISPLAY and WAYLAND_DISPLAY are not "
			"set; give QEMU -display none or -nographic"));
	if (!takes_plugin(&options, &error))
		return command_usage(&command_run, error);
	/* The hook speaks once its kernel runs, however long that takes; nothing else samples meanwhile. */
	if (options.attach.live.choice == LINK_AUTO && (launch_has_hook(words + used, count - used) ||
			hook_is_in(options.attach.session.kernel)))
		options.attach.live.choice = LINK_HOOK;
	request.boot = options.boot;
	if (!options.headless && (!config_file_load(&config, &error) || !app_possible(&error)))
		return command_fail(error);

	if (request.raw && !recording_folder(request.raw, &error))
		return command_fail(error);
	command_hold_signals();
	launch = start(words + used, count - used, &options, &error);
	if (!launch)
		return command_fail(error);
	status = watch(launch, &options, &config, &request, &detach);
	if (!detach) {
		end(launch, !options.headless && status == COMMAND_DONE);
		return status;
	}
	tell_console(launch);
	goes_on = launch_detach(launch);
	command_tell(goes_on ? goes_on : util_format("not left running: the VM has ended; start it again"));
	return status;
}

const struct command command_run = {
	.name = "run",
	.words = "[options] -- qemu-system-... arguments",
	.help = "Starts QEMU with QMP and a sampler added, profiles its guest, and ends it.",
	.options = { { "How:", run_rows },
		{ "What is reported, with --headless (--rate, --sampler, --raw: also without):", report_options },
		{ "Limits:", command_limits } },
	.run = run,
};
