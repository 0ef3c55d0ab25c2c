/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "agent/session/session.h"
#include "agent/source/replay.h"
#include "agent/wire/recording.h"
#include "tui/screen/app.h"
#include "tui/views/config.h"
#include "command.h"
#include "interruption.h"

enum {
	STEP_MS = 10,			/* longest wait of a step */
	AT_ONCE_MS = 100,		/* an error in this time is told without a screen */
	BASE_MIB = BUDGET_BASE >> 20,
	PART_MIB = BUDGET_LEAST_MIB - BASE_MIB,		/* what each machine needs besides BASE_MIB */
};

struct top {
	const char *replay;		/* a recording's folder; NULL: live */
	struct attach_options options[FLEET_MOST];
	struct command_vm vms[FLEET_MOST];
	size_t count;
};

static const struct option_row replay_rows[] = {
	{ .name = "replay", .value = "DIR", .kind = OPTION_TEXT, .once = "a screen plays one recording",
		.help = "plays what `ktop record` has recorded",
		.offset = offsetof(struct top, replay) },
	{ 0 },
};

/* ---- which machines ---- */

static bool is_same_socket(const char *a, const char *b)
{
	struct stat one, other;

	if (!a || !b)
		return false;
	return strcmp(a, b) == 0 || (stat(a, &one) == 0 && stat(b, &other) == 0 &&
		one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

/* False with `error` set: the same VM was given twice. Sockets are compared by device and inode. */
static bool refuse_same(const struct top *top, char **error)
{
	for (size_t i = 0; i < top->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct live_options *a = &top->options[i].live, *b = &top->options[k].live;
			bool qmp = is_same_socket(a->qmp, b->qmp);

			if (qmp || is_same_socket(a->port, b->port))
				return util_fail(error, "--%s %s: the same VM twice; give each once",
					qmp ? "qmp" : "port", qmp ? a->qmp : a->port);
		}
	return true;
}

/*
 * --memory is for all machines together: BASE_MIB for the program, and an equal part for each machine and for the
 * screen over all. If it was not given, it is raised to what they need at least.
 */
static bool divide_memory(struct top *top, char **error)
{
	uint32_t parts = (uint32_t)top->count + 1, least = BASE_MIB + parts * PART_MIB;
	uint32_t asked = top->options[0].session.memory, all = asked ? asked : BUDGET_MIB;

	if (top->count == 1)
		return true;
	if (asked && asked < least)
		return util_fail(error, "--memory %u: too little for %zu machines; give %u or more",
			asked, top->count, least);
	all = all < least ? least : all;
	for (size_t i = 0; i < top->count; i++) {
		top->options[i].session.memory = BASE_MIB + (all - BASE_MIB) / parts;
		top->options[i].session.patient = true;
	}
	return true;
}

/* ---- labels of tabs ---- */

/* The size of a file's name without its ending. A '.' at its beginning begins no ending. */
static size_t base_size(const char *base)
{
	const char *end = strrchr(base, '.');

	return end && end != base ? (size_t)(end - base) : strlen(base);
}

/* The last `names` names of a path. */
static const char *last_names(const char *path, int names)
{
	const char *at = path + strlen(path);

	while (at > path && (at[-1] != '/' || --names > 0))
		at--;
	return at;
}

/* The last `names` names of the socket's path, without the file's ending, in fresh memory. */
static char *label_of(const char *socket, int names)
{
	const char *last = last_names(socket, names);

	return util_copy(last, strlen(last) - strlen(last_names(socket, 1)) +
		base_size(last_names(socket, 1)));
}

/* The socket's file name without its ending; if another VM has the same, with the folder's name before it. */
static char *label(const struct top *top, size_t index)
{
	char *own = label_of(command_socket(&top->options[index].live), 1);

	for (size_t i = 0; i < top->count; i++) {
		char *other = label_of(command_socket(&top->options[i].live), 1);
		bool same = i != index && strcmp(own, other) == 0;

		free(other);
		if (same) {
			free(own);
			return label_of(command_socket(&top->options[index].live), 2);
		}
	}
	return own;
}

/* ---- the whole ---- */

/* A VM that cannot be reached is told without a screen. What takes longer is told on the screen. */
static bool fails_at_once(struct session *session, char **error)
{
	uint64_t late = util_now() + (uint64_t)AT_ONCE_MS * NS_PER_MS;

	while (!session_settled(session) && util_now() < late && !command_stopped())
		session_step(session, STEP_MS);
	return session_failure(session) && !util_fail(error, "%s", session_failure(session));
}

static bool is_given_up(void *session)
{
	return *session_given_up(session);
}

/* All packets are looked at first; later, a search may take as long. Both are given up by q or a signal. */
static struct session *open_recording(const struct top *top, char **error)
{
	const struct replay_options as_it_was = { .kernel_given = top->options[0].session.kernel };
	struct interruption_early early;
	const struct recording_patience patience = { interruption_early, &early };
	struct recording *recording;
	struct session *session;

	interruption_early_begin(&early, top->replay, "its packets are being looked at", true);
	recording = recording_load(top->replay, patience, error);
	session = recording ? session_new(replay_new(recording, &as_it_was), &top->options[0].session, error) : NULL;
	if (session)
		recording->patience = (struct recording_patience) { is_given_up, session };
	interruption_early_end(&early);
	return session;
}

static bool open_all(struct top *top, char **error)
{
	if (top->replay)
		return (top->vms[0].session = open_recording(top, error)) && !fails_at_once(top->vms[0].session, error);
	for (size_t i = 0; i < top->count; i++) {
		struct command_vm *vm = &top->vms[i];

		vm->socket = command_socket(&top->options[i].live);
		vm->label = label(top, i);
		top->options[i].session.lead = SESSION_LEAD_MS * NS_PER_MS;
		vm->session = command_session(&top->options[i], error);
		if (!vm->session || fails_at_once(vm->session, error))
			return false;
	}
	return true;
}

static void close_all(struct top *top)
{
	for (size_t i = 0; i < top->count; i++) {
		if (top->vms[i].session)
			command_detach(top->vms[i].session);
		free(top->vms[i].label);
	}
}

/* Tells that the guest is still profiled, and how to stop that. */
static void remind(const struct session *session, const struct live_options *live)
{
	if (session_left_running(session))
		command_tell(util_format("profiling is still on in the guest: it costs time there; "
			"`ktop ctl --%s %s stop` ends it", live->qmp ? "qmp" : "port",
			command_socket(live)));
}

static int watch(struct top *top, const struct config *config)
{
	const struct command_start start = { .own = true };
	struct budget *budget;
	char *error = NULL;
	int status;

	if (!open_all(top, &error))
		return command_fail(error);
	budget = top->count > 1 ? budget_new(top->options[0].session.memory) : NULL;
	status = command_screen(top->vms, top->count, budget, config, top->replay ? NULL : &start, NULL);
	for (size_t i = 0; i < top->count && !top->replay; i++)
		remind(top->vms[i].session, &top->options[i].live);
	budget_release(budget);
	return status;
}

static int run(char *const *words, size_t count)
{
	struct top top = { .count = 1 };
	const struct option_set sets[] = {
		{ .rows = command_attach, .into = top.options, .size = sizeof(top.options[0]),
			.most = FLEET_MOST, .count = &top.count },
		{ .rows = command_limits, .into = top.options },
		{ .rows = replay_rows, .into = &top },
	};
	struct config config;
	char *error = NULL;
	size_t used;
	int status;

	if (!options_parse(words, count, sets, 3, &used, &error))
		return command_usage(&command_top, error);
	if (used < count)
		return command_usage(&command_top, util_format("%s: not understood", words[used]));
	if (top.replay && command_socket(&top.options[0].live))
		return command_usage(&command_top,
			util_format("--replay: a recording and a VM were given; give one of them"));
	if (!top.replay && !command_socket(&top.options[0].live))
		return command_usage(&command_top, util_format("which VM? None was given; give --qmp SOCKET"));
	if (!refuse_same(&top, &error) || !divide_memory(&top, &error))
		return command_usage(&command_top, error);
	if (!config_file_load(&config, &error) || !app_possible(&error))
		return command_fail(error);

	command_hold_signals();
	status = watch(&top, &config);
	close_all(&top);
	return status;
}

const struct command command_top = {
	.name = "top",
	.words = "[options]",
	.help = "The live screen (also without the word top), on one VM or on many.",
	.options = {
		{ "Which VM; a second --qmp or --port begins the next, 16 at most:", command_attach },
		{ "Or a recording:", replay_rows }, { "Limits:", command_limits } },
	.run = run,
};
