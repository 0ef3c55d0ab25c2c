/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/options.h"
#include "agent/base/util.h"
#include "agent/service/control_client.h"
#include "agent/service/service.h"
#include "agent/session/capture.h"
#include "agent/session/session.h"
#include "agent/source/live.h"
#include "tui/terminal/term.h"
#include "tui/terminal/tty.h"
#include "command.h"

enum {
	STEP_MS = 10,			/* longest wait of a step */
	LEAVE_MS = 2500,		/* longest end if nobody waits for it */
	FILES_MS = 10,			/* between two checks whether files are written */
};
static const uint64_t moment_ns = 500 * NS_PER_MS;	/* what takes longer than this is told */
static const uint64_t overtaken_ns = NS_PER_SECOND;	/* in which a screen tries twice to serve others */

#define OPTION(word, takes, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = OPTION_TEXT, \
		.offset = offsetof(struct attach_options, member), __VA_ARGS__ }

const struct option_row command_limits[] = {
	{ .name = "memory", .value = "MIB", .kind = OPTION_NUMBER,
		.help = "memory that ktop itself may use, 64 or more (512)",
		.offset = offsetof(struct attach_options, session.memory),
		.least = BUDGET_LEAST_MIB, .most = BUDGET_MOST_MIB },
	{ 0 },
};

bool command_check_map(const char *text, char **error)
{
	const char *equals = strchr(text, '=');

	return (equals && equals > text) ||
		util_fail(error, "--source-map %s: it is no FROM=TO; give such as /build/linux=/usr/src/linux",
			text);
}

static const char one_vm[] = "give one VM at a time";

/* Where names come from: the rows that a live machine and a recording share. */
#define NAME_ROWS \
	OPTION("kernel", "ELF", session.kernel, "the kernel's file, with symbols", .heeded = COMMAND_RECORDED), \
	OPTION("symbols", "FILE", session.symbols, \
		"output of nm, System.map or kallsyms, instead of an ELF file", .heeded = COMMAND_RECORDED), \
	{ .name = "object", .value = "FILE@ADDRESS", .kind = OPTION_TEXTS, .heeded = COMMAND_RECORDED, \
		.help = "another ELF file that the kernel has there: a loader, firmware; may be repeated", \
		.offset = offsetof(struct attach_options, session.objects) }, \
	OPTION("sysroot", "FOLDER", session.sysroot, "a copy of the guest's files, for names in its programs", \
		.heeded = COMMAND_RECORDED), \
	OPTION("debug-dir", "FOLDER", session.debug, \
		"debug files, laid out as /usr/lib/debug, or side by side", .heeded = COMMAND_RECORDED), \
	{ .name = "debuginfod", .kind = OPTION_FLAG, \
		.help = "fetch missing debug and source files from the servers in DEBUGINFOD_URLS", \
		.offset = offsetof(struct attach_options, session.debuginfod), .heeded = COMMAND_RECORDED },

const struct option_row command_attach[] = {
	OPTION("qmp", "SOCKET", live.qmp, "QEMU's QMP socket; ktop asks it for all the rest", .once = one_vm,
		.heeded = COMMAND_BESIDE),
	OPTION("port", "SOCKET", live.port, "socket of the port org.ktop.0", .once = one_vm,
		.heeded = COMMAND_BESIDE),
	NAME_ROWS
	OPTION("source-map", "FROM=TO", session.source_map,
		"source files whose path begins with FROM are at TO; for Annotate", .heeded = COMMAND_RECORDED,
		.check = command_check_map),
	{ .name = "source", .value = "auto|hook|plugin|gdb", .kind = OPTION_CHOICE,
		.help = "what samples: the guest's hook, a plugin in QEMU, its gdb stub (auto: the best there is)",
		.offset = offsetof(struct attach_options, live.choice) },
	{ .name = "no-plug", .kind = OPTION_FLAG,
		.help = "do not plug the port into a VM that has none",
		.offset = offsetof(struct attach_options, live.no_plug) },
	{ 0 },
};

const struct option_row command_names[] = {
	NAME_ROWS
	{ 0 },
};

const char *command_socket(const struct live_options *live)
{
	return live->qmp ? live->qmp : live->port;
}

void command_print(FILE *to, char *text)
{
	char *printable = util_printable_lines(text, strlen(text));

	fprintf(to, "%s\n", printable);
	free(printable);
	free(text);
}

void command_tell(char *text)
{
	if (text)
		command_print(stderr, util_format("ktop: %s", text));
	free(text);
}

/* The exit status, or one of these. Who sets it first tells the last line. One for the whole program. */
enum { OPEN = -1, INTERRUPTED = -2 };
static atomic_int outcome = OPEN;
static atomic_bool loses_output;

void command_outcome(int status)
{
	int before = OPEN;

	if (status == COMMAND_DONE && atomic_load(&loses_output))
		return;				/* flush() tells it */
	if (!atomic_compare_exchange_strong(&outcome, &before, status) && before == INTERRUPTED)
		for (;;)
			pause();		/* the line is being told */
	atomic_store(&outcome, status);
}

void command_lose_output(void)
{
	atomic_store(&loses_output, true);
}

bool command_loses_output(void)
{
	return atomic_load(&loses_output);
}

bool command_interrupt(int *status)
{
	*status = OPEN;
	return atomic_compare_exchange_strong(&outcome, status, INTERRUPTED);
}

int command_fail_as(int status, char *error)
{
	command_outcome(status);
	command_tell(error);
	return status;
}

int command_fail(char *error)
{
	return command_fail_as(COMMAND_FAILED, error);
}

char **command_operands(char *const *words, size_t count, const struct option_set *sets, size_t set_count,
	size_t *operand_count, char **error)
{
	char **operands = util_grow(NULL, count + 1, sizeof(*operands));

	*operand_count = 0;
	for (size_t at = 0, used; at < count;) {
		if (!options_parse(words + at, count - at, sets, set_count, &used, error)) {
			free(operands);
			return NULL;
		}
		at += used;
		if (at < count)
			operands[(*operand_count)++] = words[at++];
	}
	return operands;
}

int command_usage(const struct command *command, char *error)
{
	command_tell(util_format("%s: %s; see ktop %s --help", command->name, error, command->name));
	free(error);
	return COMMAND_USAGE;
}

bool command_not_beside(const struct option_set *sets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *option = options_unheeded(&sets[i], COMMAND_BESIDE);

		if (option) {
			command_tell(util_format("--%s: refused: a live ktop has this VM, "
				"with its own options; give the option to that ktop, or end that "
				"ktop", option));
			return true;
		}
	}
	return false;
}

int command_which(const struct command *command)
{
	char *live = control_client_live(), *text;

	text = live ? util_format("which VM? Several ktops are live: %s; give one by --qmp or --port", live) :
		util_format("which VM? No ktop is live; give --qmp SOCKET");
	free(live);
	return command_usage(command, text);
}

void command_hold_signals(void)
{
	sigset_t ends;

	signals_ending(&ends);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
}

bool command_stopped(void)
{
	sigset_t pending, ends;

	signals_ending(&ends);
	sigpending(&pending);
	sigandset(&pending, &pending, &ends);
	return !sigisemptyset(&pending);
}

int command_take_signal(void)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t ends;
	int signal;

	signals_ending(&ends);
	signal = sigtimedwait(&ends, NULL, &at_once);
	return signal > 0 ? signal : 0;
}

void command_put_back(int signal)
{
	if (signal)
		kill(getpid(), signal);		/* all threads see it */
}

/* Unblocks: a pending signal ends the program now. */
static void command_release_signals(void)
{
	sigset_t ends;

	signals_ending(&ends);
	pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
}

uint64_t command_late(bool hurry)
{
	return util_now() + (uint64_t)(hurry ? SESSION_HURRY_MS : LEAVE_MS) * NS_PER_MS;
}

void command_give_up(struct session *session, uint64_t late, char *why)
{
	command_fail(why);			/* and no other line comes behind it */
	session_leave(session, late);
	command_release_signals();
	_exit(COMMAND_FAILED);			/* reached only if the signal is ignored */
}

void command_tell_failures(struct session *session)
{
	struct session_message message;

	while (session_message(session, &message))
		if (message.failed)
			command_tell(util_format("%s", message.text));
}

/* True: files are still being written; `text` names them. */
static bool is_writing(struct session *session, struct capture *capture, char *text, size_t size)
{
	if (session_writes(session, text, size))
		return true;
	util_print(text, size, "the recording");
	return capture && capture_writes(capture);
}

bool command_await_files(struct session *session, struct capture *capture, char **error)
{
	uint64_t speak_at = util_now() + moment_ns;
	int before = command_take_signal();
	char text[512];

	while (is_writing(session, capture, text, sizeof(text))) {
		if (command_stopped())
			command_give_up(session, command_late(true), util_format("%s: not written: "
				"interrupted; take it again", text));
		if (util_now() >= speak_at) {
			command_tell(util_format("%s: still being written; Ctrl-C gives it up", text));
			speak_at = UINT64_MAX;
		}
		poll(NULL, 0, FILES_MS);
	}
	command_put_back(before);
	command_tell_failures(session);
	return !capture || capture_close(capture, error);
}

char *command_alone(char *why)
{
	char *text = util_format("ctl and report cannot work beside this ktop: %s", why);

	free(why);
	return text;
}

void command_step(struct session *session, struct service *service, int timeout_ms)
{
	session_step(session, timeout_ms);
	if (service)
		service_step(service);
}

/*
 * Steps until the first try to connect is over, and says once what it waits for. False: it is not over in time. While
 * the user's list of names comes through a pipe, the time does not run: its writer has a time of its own.
 */
static bool settle(struct session *session, struct service *service, uint64_t wait_ns)
{
	uint64_t begun = util_now(), speak_at = begun + moment_ns;
	char text[256];

	while (!session_settled(session) && !command_stopped() && util_now() - begun < wait_ns) {
		command_step(session, service, STEP_MS);
		if (session_copies_names(session))
			begun = util_now();
		if (session_settled(session) || util_now() < speak_at ||
				!session_trouble(session, text, sizeof(text))[0])
			continue;
		command_tell(util_format("%s", text));
		speak_at = UINT64_MAX;
	}
	return session_settled(session);
}

struct session *command_session(const struct attach_options *options, char **error)
{
	struct live_options live = options->live;

	live.kernel = options->session.kernel;
	return session_new(live_new(&live), &options->session, error);
}

static char *not_connected(struct session *session, uint64_t wait_ns)
{
	char text[256];

	if (command_stopped())
		return util_format("not connected: interrupted; start it again");
	return util_format("not connected in %.4g s: %s; try again once that is over",
		(double)wait_ns / (double)NS_PER_SECOND, session_trouble(session, text, sizeof(text)));
}

struct session *command_attach_to(const struct attach_options *options, const struct command_wait *wait,
	struct service **service, char **error)
{
	struct session *session = command_session(options, error);
	const char *socket = command_socket(&options->live);
	char *alone = NULL;
	struct service *offered = session && service ? service_new(session, socket, &alone) : NULL;
	bool settled = session && (settle(session, offered, wait->ns) || (wait->goes_on && !command_stopped()));
	char text[256];

	if (session && !settled)
		*error = not_connected(session, wait->ns);
	else if (session && session_failure(session))
		util_fail(error, "%s", session_failure(session));
	else if (session && session_plugged(session, text, sizeof(text))[0])
		command_tell(util_format("%s, until ktop ends", text));
	if (service)
		*service = offered;
	if (session && settled && !session_failure(session)) {
		if (alone)
			command_tell(command_alone(alone));
		return session;
	}
	free(alone);			/* of a command that fails, the one error is enough */
	if (!session)
		return NULL;
	service_free(offered);
	session_leave(session, command_late(command_stopped()));
	session_free(session);
	return NULL;
}

char *command_overtaken(const struct attach_options *options, char **error)
{
	const char *socket = command_socket(&options->live);
	char *path = control_socket_path(socket, NULL), *live = NULL;
	uint64_t end = util_now() + overtaken_ns;

	while (path && !command_stopped() && !(live = control_client_find(socket)) && util_now() < end)
		poll(NULL, 0, STEP_MS);
	free(path);
	if (live) {
		free(*error);
		*error = NULL;
	}
	return live;
}

void command_detach(struct session *session)
{
	session_leave(session, command_late(command_stopped()));
	if (session_stays(session))
		command_tell(util_format("%s", session_stays(session)));
	session_free(session);
}

/* ---- beside ---- */

/* Prints what there is of a report that failed. Returns why it failed, in fresh memory. */
static char *take_failed(const char *answer)
{
	const char *why = strrchr(answer, CONTROL_SEPARATOR[0]);

	if (why)
		fwrite(answer, 1, (size_t)(why++ - answer), stdout);
	else
		why = answer;
	return util_copy(why, strlen(why));
}

/* What an export writes to the standard output may be any bytes. Behind it stands what belongs beside it. */
static void put_export(const char *answer, size_t size)
{
	const char *beside = memrchr(answer, CONTROL_SEPARATOR[0], size);
	size_t length = beside ? (size_t)(beside++ - answer) : size;
	char *printable = beside ? util_printable_lines(beside, size - length - 1) : NULL;

	fwrite(answer, 1, length, stdout);
	fputs(printable ? printable : "", stderr);
	free(printable);
}

/* The first signal asks the live ktop for what it has. From then on signals end the program. */
static bool enough(void *taken)
{
	int *signal = taken;

	*signal = command_take_signal();
	if (*signal)
		command_release_signals();
	return *signal != 0;
}

int beside_ask(const char *live, const char *word, const struct option_row *rows, const void *request)
{
	char **words = options_words(rows, request), **line, *answer, *error = NULL;
	struct control_question question;
	size_t count = 0, size;
	bool ok = false;
	int taken = 0;

	while (words[count])
		count++;
	line = util_alloc((count + 1) * sizeof(*line));
	line[0] = (char *)word;			/* it is only read */
	memcpy(line + 1, words, count * sizeof(*line));
	command_hold_signals();
	question = (struct control_question) { .words = line, .count = count + 1,
		.deadline = UINT64_MAX, .enough = enough, .context = &taken };
	answer = control_client_ask(live, &question, &ok, &size, &error);
	command_hold_signals();
	command_put_back(taken);	/* nobody may read what is printed now */
	if (answer && ok && strcmp(word, "export") == 0)
		put_export(answer, size);
	else if (answer && ok)
		fwrite(answer, 1, size, stdout);
	else if (answer)
		error = take_failed(answer);
	free(answer);
	free(line);
	options_words_free(words);
	return ok ? COMMAND_DONE : command_fail(error);
}
