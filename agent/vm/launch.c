/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "agent/vm/console/console.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/qmp/qmp_discover.h"
#include "agent/vm/qmp/qmp_plug.h"
#include "hook_search.h"
#include "launch.h"
#include "launch_folder.h"

enum {
	QUIT_MS = 200,			/* in which QMP takes the wish that QEMU ends */
	MOMENT_MS = 200,		/* from SIGTERM to SIGKILL */
	LEFT_MS = 2000,			/* likewise, of a QEMU that was not asked to quit: it may write its disks */
	LOOK_MS = 20,			/* between two checks */
	PTY_MS = 10000,			/* longest wait for each step until the guest's pty is open */
	PRINTED_MS = 500,		/* longest wait for what it has printed, once it has ended */
	LINE_MOST = 1 << 17,		/* bytes of a process's command line that are looked at */
	SHOWN = 60,			/* of them, so many are shown */
	SHOWN_LINES = 20,		/* of what it has printed, if it has ended at once */
	DEPTH_MOST = 64,		/* generations of processes */
	TREE_MOST = 4096,		/* and how many processes */
};

struct launch {
	pid_t pid;			/* 0: not started */
	pid_t group;			/* of all that it starts; that of the guard (guard). 0: none */
	int guard;			/* a pipe to the guard; -1: none */
	int pidfd;			/* readable once it has ended; -1: none */
	bool ended, reached;		/* reached: it has listened on its QMP socket */
	int status;			/* from waitpid, once it has ended */
	char *program;			/* the last name of its path */
	bool make;			/* it is make, or starts that */
	bool debug_exit;		/* the guest has a device by which it ends QEMU with an odd status */
	struct launch_folder folder;
	char *qmp;
	struct console *console;
	struct qmp *quitting;		/* on which it was asked to end; open, since QEMU drops what a client left */
};

/* ---- the command line ---- */

static bool mentions(char *const *words, size_t count, const char *what)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(words[i], what))
			return true;
	return false;
}

static bool has_option(char *const *words, size_t count, const char *option)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], option) == 0 ||
				(words[i][0] == '-' && strcmp(words[i] + 1, option) == 0))
			return true;
	return false;
}

/* Does a value of the option have, between its commas, a part that begins with `part`? JSON is searched as it is. */
static bool has_value(char *const *words, size_t count, const char *option, const char *part)
{
	for (size_t i = 0; i + 1 < count; i++) {
		if (words[i][0] != '-' || strcmp(words[i] + 1 + (words[i][1] == '-'), option) != 0)
			continue;
		if (words[i + 1][0] == '{' && strstr(words[i + 1], part))
			return true;
		for (const char *at = words[i + 1]; at; at = (at = strchr(at, ',')) ? at + 1 : NULL)
			if (strncmp(at, part, strlen(part)) == 0)
				return true;
	}
	return false;
}

static bool is_microvm(char *const *words, size_t count)
{
	static const char *const options[] = { "M", "machine" };

	for (int i = 0; i < 2; i++)
		if (has_value(words, count, options[i], "microvm") ||
				has_value(words, count, options[i], "type=microvm"))
			return true;
	return false;
}

static bool has_virtio_serial(char *const *words, size_t count)
{
	return has_value(words, count, "device", "virtio-serial") ||
		has_value(words, count, "device", "driver=virtio-serial");
}

static bool has_port(char *const *words, size_t count)
{
	return has_value(words, count, "device", "name=org.ktop.0") || has_value(words, count, "device", "org.ktop.0");
}

/*
 * A serial port on a pty: QEMU drops what the guest prints before somebody has opened that. So the machine stands still
 * (-S) until ktop has opened it, unless it is to stand still in any case.
 */
static bool has_pty(char *const *words, size_t count)
{
	static const char *const options[] = { "serial", "chardev" };

	for (int i = 0; i < 2; i++)
		if (has_value(words, count, options[i], "pty") || has_value(words, count, options[i], "mon:pty"))
			return true;
	return false;
}

/* Does an option say where the machine is shown? */
static bool has_display(char *const *words, size_t count)
{
	static const char *const options[] = { "-display", "-nographic", "-vnc", "-spice", "-curses", "-sdl" };

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (has_option(words, count, options[i]))
			return true;
	return false;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is it make, by itself or behind others that start it, such as env, sudo or timeout with their own words? */
static bool is_by_make(char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = last_name(words[i]);

		if (strcmp(name, "make") == 0 || strcmp(name, "gmake") == 0)
			return true;
		if (strncmp(name, "qemu-", 5) == 0)
			break;
	}
	return false;
}

/* What a wrapper adds is not known: only a line that names QEMU's program is complete. */
static bool is_complete(char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(last_name(words[i]), "qemu-system-", strlen("qemu-system-")) == 0)
			return true;
	return false;
}

bool launch_needs_display(char *const *words, size_t count, bool headless)
{
	return has_option(words, count, "-sdl") || has_value(words, count, "display", "gtk") ||
		has_value(words, count, "display", "sdl") ||
		(is_complete(words, count) && !headless && !has_display(words, count));
}

bool launch_takes_typing(char *const *words, size_t count)
{
	return !is_complete(words, count) || mentions(words, count, "stdio") || mentions(words, count, "curses") ||
		has_option(words, count, "-readconfig") || has_pty(words, count) ||
		(has_option(words, count, "-nographic") && !has_option(words, count, "-nodefaults"));
}

/* An id that the command line does not contain. */
static char *fresh_id(char *const *words, size_t count)
{
	char *id = util_copy("ktop-run", strlen("ktop-run"));

	for (unsigned i = 2; mentions(words, count, id); i++) {
		free(id);
		id = util_format("ktop-run%u", i);
	}
	return id;
}

struct line {
	char **words;
	size_t count;
};

static void add(struct line *line, char *word)
{
	line->words = util_grow(line->words, line->count + 2, sizeof(*line->words));
	line->words[line->count++] = word;
	line->words[line->count] = NULL;
}

static void add_pair(struct line *line, const char *option, char *value)
{
	add(line, util_copy(option, strlen(option)));
	add(line, value);
}

/* ioeventfd=off: when QEMU counts instructions, a kick that it handles later would make each run different. */
static void add_port(struct line *line, char *const *words, size_t count, const char *folder)
{
	const char *exact = has_option(words, count, "-icount") ? ",ioeventfd=off" : "";
	char *id = fresh_id(words, count);

	add_pair(line, "-chardev",
		util_format("socket,id=%s,path=%s/" LAUNCH_PORT ",server=on,wait=off", id,
			folder));
	if (is_microvm(words, count))
		add_pair(line, "-device", util_format("virtio-serial-device,id=%s-bus,max_ports=%d", id,
			QMP_PLUG_PORTS));
	else
		add_pair(line, "-device", util_format("virtio-serial-pci,id=%s-bus,max_ports=%d%s", id,
			QMP_PLUG_PORTS, exact));
	add_pair(line, "-device", util_format("virtserialport,id=%s-port,bus=%s-bus.0,chardev=%s,"
		"name=org.ktop.0", id, id, id));
	free(id);
}

/* Doubles the commas of a value, in fresh memory: QEMU takes a single one for the value's end. */
static char *value_for_qemu(const char *text)
{
	size_t size = strlen(text), at = 0;
	char *value = util_alloc(2 * size + 1);

	for (size_t i = 0; i < size; i++) {
		value[at++] = text[i];
		if (text[i] == ',')
			value[at++] = ',';
	}
	return value;
}

static void add_plugin(struct line *line, const struct launch_extra *extra, const char *folder)
{
	char *file = value_for_qemu(extra->plugin), *place = value_for_qemu(folder);

	add_pair(line, "-plugin", util_format("%s,socket=%s/" LAUNCH_PLUGIN "%s%s", file, place,
		extra->start ? ",start=on" : "", extra->guest_clock ? ",clock=guest" : ""));
	free(file);
	free(place);
}

char **launch_words(char *const *words, size_t count, const struct launch_extra *extra,
	const char *folder, char **error)
{
	struct line line = { 0 };

	if (has_option(words, count, "-daemonize")) {
		util_fail(error,
			"-daemonize: ktop cannot end a QEMU in the background; leave the option out");
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		add(&line, util_copy(words[i], strlen(words[i])));
	add_pair(&line, "-qmp", util_format("unix:%s/" LAUNCH_QMP ",server=on,wait=off", folder));
	if (extra->plugin)
		add_plugin(&line, extra, folder);
	if (extra->headless && !has_display(words, count))
		add_pair(&line, "-display", util_copy("none", strlen("none")));
	if (has_pty(words, count) && !has_option(words, count, "-S"))
		add(&line, util_copy("-S", strlen("-S")));
	if ((extra->port || has_virtio_serial(words, count)) && !has_port(words, count))
		add_port(&line, words, count, folder);
	return line.words;
}

void launch_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* ---- starting ---- */

/*
 * A process that leads QEMU's process group, which the terminal's keys do not reach. When ktop ends, even if it is
 * killed, it kills the group; a byte on the pipe lets the group go on. After fork: only async-signal-safe calls.
 */
static _Noreturn void guard(int pipe)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close_range(0, (unsigned)pipe - 1, 0);
	close_range((unsigned)pipe + 1, ~0u, 0);
	if (read(pipe, &byte, 1) == 0)
		kill(0, SIGKILL);
	_exit(0);
}

static bool start_guard(struct launch *launch)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	launch->group = fork();
	if (launch->group == 0) {
		setpgid(0, 0);
		guard(ends[0]);
	}
	close(ends[0]);
	launch->guard = ends[1];
	return launch->group > 0 && setpgid(launch->group, launch->group) == 0;
}

/* In the child, after fork: only async-signal-safe calls. Returns only on failure. */
static void become(const struct launch *launch, char **words)
{
	int terminal = console_inside(launch->console);
	sigset_t none;

	/* the folder stays locked as long as QEMU, which may outlive ktop */
	if (setpgid(0, launch->group) < 0 || fcntl(launch->folder.lock, F_SETFD, 0) < 0)
		return;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (dup2(terminal, 0) == 0 && dup2(terminal, 1) == 1 && dup2(terminal, 2) == 2)
		execvp(words[0], words);
}

/* Exec closes the pipe. If exec fails, the pipe brings its errno. */
static bool start(struct launch *launch, char **words, char **error)
{
	int ends[2], why = 0;

	/* What QEMU's wrapper leaves behind becomes our child, so that it can be ended, too. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!start_guard(launch) || pipe2(ends, O_CLOEXEC) < 0)
		return util_fail(error, "%s: not started: %s; %s", words[0], strerror(errno),
			util_open_remedy(errno, "close other programs"));
	launch->pid = fork();
	if (launch->pid == 0) {
		become(launch, words);
		why = errno;
		_exit(write(ends[1], &why, sizeof(why)) == sizeof(why) ? 127 : 126);
	}
	console_started(launch->console);
	if (launch->pid > 0)
		launch->pidfd = pidfd_open(launch->pid, 0);
	if (launch->pidfd < 0)
		why = errno;
	close(ends[1]);
	if (!why && read(ends[0], &why, sizeof(why)) != sizeof(why))
		why = 0;
	close(ends[0]);
	return !why ||
		util_fail(error, "%s: not started: %s; is it installed?", words[0], strerror(why));
}

/* ---- the program, and all that it has started ---- */

struct tree {				/* a process and its descendants: children before their parents */
	struct { pid_t pid; bool leaf; } all[TREE_MOST];
	size_t count;
};

static void tree_add(struct tree *tree, pid_t pid, int depth)
{
	char path[64];
	DIR *threads;
	struct dirent *thread;
	bool leaf = true;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = depth < DEPTH_MOST ? opendir(path) : NULL;
	while (threads && (thread = readdir(threads))) {
		char *name = util_format("%s/%s/children", path, thread->d_name);
		FILE *children = thread->d_name[0] == '.' ? NULL : fopen(name, "re");
		int child;

		while (children && fscanf(children, "%d", &child) == 1) {
			tree_add(tree, child, depth + 1);
			leaf = false;
		}
		if (children)
			fclose(children);
		free(name);
	}
	if (threads)
		closedir(threads);
	if (tree->count < TREE_MOST) {
		tree->all[tree->count].pid = pid;
		tree->all[tree->count++].leaf = leaf;
	}
}

/* A process's command line, with a NUL behind each word, in `line`. Returns its size; 0: it begins, or has ended. */
static size_t read_line(pid_t pid, char *line)
{
	char path[64];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	size = file ? fread(line, 1, LINE_MOST, file) : 0;
	if (file)
		fclose(file);
	line[size] = '\0';
	return size;
}

bool launch_ended(struct launch *launch, int wait_ms)
{
	struct pollfd ready = { .fd = launch->pidfd, .events = POLLIN };

	if (!launch->ended && launch->pid > 0 && poll(&ready, 1, wait_ms) > 0)
		launch->ended = waitpid(launch->pid, &launch->status, WNOHANG) == launch->pid;
	return launch->ended;
}

/* Ends a QEMU whose wrapper has ended before it, as by -daemonize: it is our child now (see start). */
static void end_left(const struct launch *launch)
{
	struct tree *tree = util_alloc(sizeof(*tree));
	char *line = util_alloc(LINE_MOST + 1);

	tree_add(tree, getpid(), 0);
	for (size_t i = 0; i < tree->count; i++) {
		pid_t pid = tree->all[i].pid;
		size_t size = pid == getpid() ? 0 : read_line(pid, line);
		struct pollfd ready = { .events = POLLIN };

		if (!size || !memmem(line, size, launch->qmp, strlen(launch->qmp)))
			continue;
		ready.fd = pidfd_open(pid, 0);
		kill(pid, SIGTERM);
		kill(pid, SIGCONT);
		poll(&ready, 1, LEFT_MS);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (ready.fd >= 0)
			close(ready.fd);
	}
	free(line);
	free(tree);
}

/*
 * Ends the whole group, and those that have left it, such as what `timeout` runs. The children of one that has ended
 * are our own (see start), so parents are waited for first.
 */
static void end_all(struct launch *launch)
{
	struct tree *tree = util_alloc(sizeof(*tree));

	if (launch->pid > 0 && !launch_ended(launch, 0)) {
		tree_add(tree, launch->pid, 0);
		kill(-launch->group, SIGTERM);
		kill(-launch->group, SIGCONT);
		launch_ended(launch, MOMENT_MS);
	} else {
		end_left(launch);
	}
	for (size_t i = 0; i < tree->count; i++)
		kill(tree->all[i].pid, SIGKILL);
	kill(-launch->group, SIGKILL);
	if (!launch->ended && launch->pid > 0)
		launch->ended = waitpid(launch->pid, &launch->status, 0) == launch->pid;
	for (size_t i = tree->count; i-- > 0;)
		waitpid(tree->all[i].pid, NULL, 0);
	while (waitpid(-launch->group, NULL, 0) > 0)
		;
	free(tree);
}

/* ---- waiting for QMP ---- */

/*
 * The socket has its name before QEMU listens, so only a connection proves that it does. To QEMU this is a
 * client that has left.
 */
static bool listens(const char *path)
{
	int fd = unix_socket_connect(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno == EAGAIN;
}

/* Of a QEMU that was only asked for something, such as its version: its answer. NULL: it has printed nothing. */
static char *what_it_printed(const struct launch *launch)
{
	struct console_extent extent = console_extent(launch->console);
	uint64_t shown = extent.end - extent.first < SHOWN_LINES ? extent.end : extent.first + SHOWN_LINES;
	char line[CONSOLE_LINE], *text = util_format("QEMU ended at once, with status %d: %s:",
		WEXITSTATUS(launch->status), shown < extent.end ?
		"it printed more than this; start it without ktop to see all" : "it printed");
	bool any = false;

	for (uint64_t i = extent.first; i < shown; i++) {
		char *longer = console_line(launch->console, i, line) && line[strspn(line, " ")] ?
			util_format("%s\n  %s", text, line) : NULL;

		if (!longer)
			continue;
		free(text);
		text = longer;
		any = true;
	}
	if (any)
		return text;
	free(text);
	return NULL;
}

/* False: it is QEMU's end before it has listened. */
static bool fail_ended(struct launch *launch, bool *by_plugin, char **error)
{
	char *why = launch_failure(launch, 0), *said = launch_last_words(launch);

	*by_plugin = why && strstr(said, "plugin");
	if (!why)
		why = what_it_printed(launch);
	util_fail(error, "%s", why ? why : "QEMU ended at once; start it without ktop to see why");
	free(said);
	free(why);
	return false;
}

/*
 * False with `error` set: a QEMU runs without the QMP socket, or something else, and has had its time (`late`). What
 * has no child tells: the wrapper itself was given the socket in any case.
 */
static bool is_handed_on(struct launch *launch, bool late, char **error)
{
	struct tree *tree = util_alloc(sizeof(*tree));
	char *line = util_alloc(LINE_MOST + 1), *without = NULL;
	bool good = false, qemu = false;

	tree_add(tree, launch->pid, 0);
	for (size_t i = 0; i < tree->count && !good; i++) {
		size_t size = tree->all[i].leaf ? read_line(tree->all[i].pid, line) : 0;

		good = size && memmem(line, size, launch->qmp, strlen(launch->qmp));
		qemu |= size && strncmp(last_name(line), "qemu-system", strlen("qemu-system")) == 0;
		for (size_t k = 0; k + 1 < size; k++)
			line[k] = line[k] ? line[k] : ' ';
		if (size && !good && !without)
			without = util_printable(line, strnlen(line, SHOWN));
	}
	good = good || !without || !(late || qemu) ||
		util_fail(error, "%s: -qmp is not handed on: it runs `%s` without it; let it pass to QEMU all that "
			"ktop puts behind its own arguments (\"$@\")", launch->program, without);
	free(without);
	free(line);
	free(tree);
	return good;
}

static bool wait_for_qmp(struct launch *launch, const struct launch_wait *wait, bool *by_plugin, char **error)
{
	uint64_t deadline = util_now() + (uint64_t)wait->timeout_ms * NS_PER_MS;

	while (!listens(launch->qmp)) {
		bool late = util_now() > deadline;

		if (launch_ended(launch, LOOK_MS))
			return fail_ended(launch, by_plugin, error);
		if (wait->given_up && wait->given_up(wait->context))
			return util_fail(error, "%s: not started: interrupted; start it again", launch->program);
		if (!is_handed_on(launch, late, error))
			return false;
		if (late)
			return util_fail(error,
				"QEMU: no QMP socket in %d s; is it waiting for something?",
				wait->timeout_ms / 1000);
	}
	launch->reached = true;
	return true;
}

/* ---- QMP, before and after the session has it ---- */

/* One more step, within LOOK_MS. False: the connection is gone, or it is too late. */
static bool wait_for_answer(struct launch *launch, struct qmp *qmp, uint64_t late)
{
	poll(&(struct pollfd) { .fd = qmp_fd(qmp), .events = POLLIN }, 1, LOOK_MS);
	return qmp_step(qmp, util_now()) && util_now() < late && !launch_ended(launch, 0);
}

/* A connection, which is ready unless QEMU does not answer in time. NULL: QEMU takes none. */
static struct qmp *talk(struct launch *launch, int wait_ms)
{
	uint64_t late = util_now() + (uint64_t)wait_ms * NS_PER_MS;
	bool taken;
	struct qmp *qmp = qmp_connect(launch->qmp, wait_ms, &taken, NULL);

	while (qmp && qmp_phase(qmp) < QMP_READY && wait_for_answer(launch, qmp, late))
		;
	return qmp;
}

static bool is_answered(struct launch *launch, struct qmp *qmp, const char *command)
{
	uint64_t late = util_now() + (uint64_t)PTY_MS * NS_PER_MS;

	qmp_request(qmp, command, NULL, -1);
	while (!qmp_has_answer(qmp) && wait_for_answer(launch, qmp, late))
		;
	return qmp_has_answer(qmp);
}

/* Opens the pty of the guest's serial port, if one is on a pty, and lets the machine go if it is held. */
static bool open_pty(struct launch *launch, bool held, char **error)
{
	struct qmp *qmp = talk(launch, PTY_MS);
	bool good = qmp && qmp_phase(qmp) == QMP_READY && is_answered(launch, qmp, "query-chardev");
	char *path = good ? qmp_serial_pty(qmp_take_answer(qmp)) : NULL;

	if (path && !console_open_port(launch->console, path))
		good = util_fail(error, "%s: the guest's console is not opened: %s; %s", path,
			strerror(errno), util_open_remedy(errno, "leave out -serial pty"));
	else if (!good || (held && !is_answered(launch, qmp, "cont")))
		good = util_fail(error, "QEMU: the guest's console is not opened: no answer by QMP in %d s; "
			"leave out -serial pty", PTY_MS / 1000);
	qmp_free(qmp);
	free(path);
	return good;
}

struct launch *launch_new(char *const *words, size_t count, const struct launch_extra *extra,
	const struct launch_wait *wait, bool *by_plugin, char **error)
{
	struct launch *launch = util_alloc(sizeof(*launch));
	char **line = NULL;
	bool good;

	*by_plugin = false;
	launch->pidfd = launch->guard = launch->folder.lock = -1;
	launch->program = util_format("%s", last_name(words[0]));
	launch->make = is_by_make(words, count);
	launch->debug_exit = has_value(words, count, "device", "isa-debug-exit");
	good = launch_folder_make(&launch->folder, getuid(), error);
	if (good)
		launch->qmp = util_format("%s/" LAUNCH_QMP, launch->folder.path);
	if (good)
		launch->console = console_new(extra->console, error);
	if (launch->console && !launch_takes_typing(words, count))
		console_no_port(launch->console);
	good = good && launch->console &&
		(line = launch_words(words, count, extra, launch->folder.path, error)) &&
		start(launch, line, error) && wait_for_qmp(launch, wait, by_plugin, error) &&
		(!has_pty(words, count) || open_pty(launch, !has_option(words, count, "-S"), error));
	launch_words_free(line);
	if (good)
		return launch;
	launch_free(launch);
	return NULL;
}

/* ---- ending ---- */

static bool ask_to_quit(struct launch *launch)
{
	launch->quitting = talk(launch, QUIT_MS);
	return launch->quitting && qmp_phase(launch->quitting) == QMP_READY && qmp_quit(launch->quitting);
}

void launch_quit(struct launch *launch)
{
	if (launch->quitting || launch_ended(launch, 0))
		return;
	kill(-launch->group, SIGCONT);
	if (launch->reached && !listens(launch->qmp))
		return;				/* QEMU has ended; what has started it cleans up */
	if (!launch->reached || !ask_to_quit(launch))
		kill(-launch->group, SIGTERM);
}

/* Frees all but what is QEMU's. */
static void clear(struct launch *launch)
{
	if (launch->pidfd >= 0)
		close(launch->pidfd);
	if (launch->guard >= 0)
		close(launch->guard);
	qmp_free(launch->quitting);
	free(launch->program);
	console_free(launch->console);
	free(launch->qmp);
	free(launch);
}

void launch_free(struct launch *launch)
{
	if (!launch)
		return;
	if (launch->group > 0)
		end_all(launch);
	launch_folder_remove(&launch->folder);
	clear(launch);
}

char *launch_detach(struct launch *launch)
{
	char *text = launch_ended(launch, 0) || write(launch->guard, "", 1) != 1 ? NULL :
		util_format("the VM goes on, and its console is no longer read: `ktop --qmp %s` shows it again, "
			"`kill %d` ends it", launch->qmp, (int)launch->pid);

	if (!text) {
		launch_free(launch);
		return NULL;
	}
	launch_folder_leave(&launch->folder);
	clear(launch);
	return text;
}

const char *launch_qmp(const struct launch *launch)
{
	return launch->qmp;
}

struct console *launch_console(const struct launch *launch)
{
	return launch->console;
}

/* ---- what it said ---- */

/* Skips empty lines at the end. */
char *launch_last_words(const struct launch *launch)
{
	struct console_extent extent;
	char line[CONSOLE_LINE] = "";

	if (launch->ended)
		console_drain(launch->console, PRINTED_MS);
	extent = console_extent(launch->console);
	while (extent.end > extent.first && !line[strspn(line, " ")])
		console_line(launch->console, --extent.end, line);
	return util_copy(line, strlen(line));
}

static bool is_qemu(const struct launch *launch)
{
	return strncmp(launch->program, "qemu", strlen("qemu")) == 0;
}

/*
 * A guest may end QEMU with a status of its own: by isa-debug-exit, which makes it odd, or by semihosting, or a test
 * device. QEMU's own failures have status 1.
 */
static bool is_by_guest(const struct launch *launch)
{
	int status = WEXITSTATUS(launch->status);

	if (!WIFEXITED(launch->status))
		return false;
	if (launch->reached && is_qemu(launch))
		return status != 1 || launch->debug_exit;
	if (launch->reached)		/* of a wrapper: from 124 on, QEMU was killed, or ran out of time */
		return status == 0 || (status % 2 == 1 && status > 1 && status < 124);
	return is_qemu(launch) && (status == 0 || (launch->debug_exit && status % 2 == 1 && status > 1));
}

/* What to do about a program that has failed. */
static const char *remedy(const struct launch *launch)
{
	if (launch->reached || is_qemu(launch))
		return "check its command line";
	if (launch->make)
		return "make took the options that ktop adds for QEMU, such as -qmp, for its own: give QEMU's command "
			"line, which make -n shows";
	return "check its command line, and that it passes to QEMU all that ktop puts behind its own arguments, such "
		"as -qmp";
}

char *launch_failure(struct launch *launch, int wait_ms)
{
	const char *who = launch->reached ? "QEMU" : launch->program;
	char *said, *text;

	if (!launch_ended(launch, wait_ms) || is_by_guest(launch))
		return NULL;
	said = launch_last_words(launch);
	if (WIFSIGNALED(launch->status))
		text = util_format("%s was ended by signal %d (%s): %s%s; "
			"start it again", who, WTERMSIG(launch->status), strsignal(WTERMSIG(launch->status)),
			said[0] ? "it said: " : "it said nothing", said);
	else
		text = util_format("%s ended with status %d: %s%s; %s", who, WEXITSTATUS(launch->status),
			said[0] ? "it said: " : "it said nothing", said, remedy(launch));
	free(said);
	return text;
}

char *launch_end(void *context, bool *well)
{
	struct launch *launch = context;
	int status;

	if (!launch_ended(launch, 0))
		return NULL;
	*well = is_by_guest(launch);
	status = WEXITSTATUS(launch->status);
	if (WIFSIGNALED(launch->status))
		return util_format("QEMU was ended by signal %d (%s)", WTERMSIG(launch->status),
			strsignal(WTERMSIG(launch->status)));
	if (!*well)
		return util_format("QEMU has failed with status %d", status);
	return status ? util_format("the guest has ended the VM, with status %d", status) :
		util_format("the VM has ended (its guest has switched it off, or QEMU was told to quit)");
}

/* ---- the plugin ---- */

#define FILE_NAME "ktop-plugin.so"

/* The path of the plugin's file: beside ktop, as it is built, or in ../lib/ktop, as it is installed. NULL: none. */
static char *find_file(void)
{
	static const char *const places[] = { "", "../lib/ktop/" };
	char program[PATH_MAX], *end;
	ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (size < 0)
		return NULL;
	program[size] = '\0';
	end = strrchr(program, '/');
	if (!end)
		return NULL;
	*end = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = util_format("%s/%s" FILE_NAME, program, places[i]);

		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* The word behind the last of these options, since it counts for QEMU. NULL: the option is not given. */
static const char *value_of(char *const *words, size_t count, const char *option)
{
	const char *value = NULL;

	for (size_t i = 0; i + 1 < count; i++)
		if (strcmp(words[i], option) == 0 || (words[i][0] == '-' && strcmp(words[i] + 1, option) == 0))
			value = words[i + 1];
	return value;
}

bool launch_has_hook(char *const *words, size_t count)
{
	return hook_is_in(value_of(words, count, "-kernel")) || hook_is_in(value_of(words, count, "-initrd"));
}

char *launch_plugin(char *const *words, size_t count, enum link_choice choice, char **error)
{
	bool wanted = !value_of(words, count, "-plugin") && !launch_has_hook(words, count);
	char *path;

	if (choice == LINK_HOOK || choice == LINK_GDB || (choice == LINK_AUTO && !wanted))
		return NULL;
	path = find_file();
	if (!path && choice == LINK_PLUGIN)
		util_fail(error, "ktop-plugin.so: not found: it is neither beside ktop nor in ../lib/ktop; "
			"build it by `make`");
	return path;
}
