/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/qmp/qmp_plug.h"
#include "launch.h"
#include "launch_folder.h"

enum {
	QUIT_MS = 200,			/* in which QMP takes the wish that QEMU ends */
	MOMENT_MS = 200,		/* from SIGTERM to SIGKILL */
	LOOK_MS = 20,			/* between two checks */
	LAST_WORDS = 2000,		/* bytes at the end of its output that are searched */
	LINE_MOST = 1 << 17,		/* bytes of a process's command line that are looked at */
	SHOWN = 60,			/* of them, so many are shown */
	DEPTH_MOST = 64,		/* generations of processes */
	TREE_MOST = 4096,		/* and how many processes */
};

struct launch {
	pid_t pid;			/* also the process group's; 0: not started */
	int pidfd;			/* readable once it has ended; -1: none */
	bool ended, reached;		/* reached: it has listened on its QMP socket */
	int status;			/* from waitpid, once it has ended */
	char *program;			/* the last name of its path */
	bool debug_exit;		/* the guest has a device by which it ends QEMU with an odd status */
	struct launch_folder folder;
	char *qmp, *log;
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

/* In the child, after fork: only async-signal-safe calls. Returns only on failure. */
static void become(char **words, const char *log, pid_t parent)
{
	sigset_t none;
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	/* QEMU dies with ktop, even if ktop is killed. The terminal's keys do not reach its process group. */
	if (in < 0 || out < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return;
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2)
		execvp(words[0], words);
}

/* Exec closes the pipe. If exec fails, the pipe brings its errno. */
static bool start(struct launch *launch, char **words, char **error)
{
	int ends[2], why = 0;
	pid_t parent = getpid();

	/* What QEMU's wrapper leaves behind becomes our child, so that it can be ended, too. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return util_fail(error, "%s: not started: %s; close other programs", words[0], strerror(errno));
	launch->pid = fork();
	if (launch->pid == 0) {
		become(words, launch->log, parent);
		why = errno;
		_exit(write(ends[1], &why, sizeof(why)) == sizeof(why) ? 127 : 126);
	}
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

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool launch_ended(struct launch *launch, int wait_ms)
{
	struct pollfd ready = { .fd = launch->pidfd, .events = POLLIN };

	if (!launch->ended && launch->pid > 0 && poll(&ready, 1, wait_ms) > 0)
		launch->ended = waitpid(launch->pid, &launch->status, WNOHANG) == launch->pid;
	return launch->ended;
}

/*
 * Ends the whole group, and those that have left it, such as what `timeout` runs. The children of one that has ended
 * are our own (see start), so parents are waited for first.
 */
static void end_all(struct launch *launch)
{
	struct tree *tree = util_alloc(sizeof(*tree));

	if (!launch_ended(launch, 0)) {
		tree_add(tree, launch->pid, 0);
		kill(-launch->pid, SIGTERM);
		kill(-launch->pid, SIGCONT);
		launch_ended(launch, MOMENT_MS);
	}
	for (size_t i = 0; i < tree->count; i++)
		kill(tree->all[i].pid, SIGKILL);
	kill(-launch->pid, SIGKILL);
	if (!launch->ended)
		launch->ended = waitpid(launch->pid, &launch->status, 0) == launch->pid;
	for (size_t i = tree->count; i-- > 0;)
		waitpid(tree->all[i].pid, NULL, 0);
	while (waitpid(-launch->pid, NULL, 0) > 0)
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

/* False: it is QEMU's end before it has listened. */
static bool fail_ended(struct launch *launch, bool *by_plugin, char **error)
{
	char *why = launch_failure(launch, 0), *said = launch_last_words(launch);

	*by_plugin = why && strstr(said, "plugin");
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

struct launch *launch_new(char *const *words, size_t count, const struct launch_extra *extra,
	const struct launch_wait *wait, bool *by_plugin, char **error)
{
	struct launch *launch = util_alloc(sizeof(*launch));
	char **line = NULL;
	bool good;

	*by_plugin = false;
	launch->pidfd = launch->folder.lock = -1;
	launch->program = util_format("%s", last_name(words[0]));
	launch->debug_exit = has_value(words, count, "device", "isa-debug-exit");
	good = launch_folder_make(&launch->folder, getuid(), error);
	if (good) {
		launch->qmp = util_format("%s/" LAUNCH_QMP, launch->folder.path);
		launch->log = util_format("%s/" LAUNCH_OUTPUT, launch->folder.path);
	}
	good = good && (line = launch_words(words, count, extra, launch->folder.path, error)) &&
		start(launch, line, error) && wait_for_qmp(launch, wait, by_plugin, error);
	launch_words_free(line);
	if (good)
		return launch;
	launch_free(launch);
	return NULL;
}

/* ---- ending ---- */

/* False: QMP does not take it in QUIT_MS. */
static bool ask_to_quit(struct launch *launch)
{
	uint64_t late = util_now() + (uint64_t)QUIT_MS * NS_PER_MS;
	bool taken;
	struct qmp *qmp = qmp_connect(launch->qmp, QUIT_MS, &taken, NULL);

	while (qmp && qmp_phase(qmp) < QMP_READY && qmp_step(qmp, util_now()) &&
			util_now() < late && !launch_ended(launch, 0))
		poll(&(struct pollfd) { .fd = qmp_fd(qmp), .events = POLLIN }, 1, LOOK_MS);
	launch->quitting = qmp;
	return qmp && qmp_phase(qmp) == QMP_READY && qmp_quit(qmp);
}

void launch_quit(struct launch *launch)
{
	if (launch->quitting || launch_ended(launch, 0))
		return;
	kill(-launch->pid, SIGCONT);
	if (!launch->reached || !ask_to_quit(launch))
		kill(-launch->pid, SIGTERM);
}

void launch_free(struct launch *launch)
{
	if (!launch)
		return;
	if (launch->pid > 0)
		end_all(launch);
	if (launch->pidfd >= 0)
		close(launch->pidfd);
	qmp_free(launch->quitting);
	launch_folder_remove(&launch->folder);
	free(launch->program);
	free(launch->qmp);
	free(launch->log);
	free(launch);
}

const char *launch_qmp(const struct launch *launch)
{
	return launch->qmp;
}

/* ---- what it said ---- */

/* Skips empty lines at the end. */
char *launch_last_words(const struct launch *launch)
{
	char bytes[LAST_WORDS];
	FILE *file = fopen(launch->log, "re");
	size_t size, begin;

	if (!file)
		return util_copy("", 0);
	if (fseek(file, -LAST_WORDS, SEEK_END) < 0)
		rewind(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	while (size > 0 && strchr(" \r\n", bytes[size - 1]))
		size--;
	for (begin = size; begin > 0 && bytes[begin - 1] != '\n';)
		begin--;
	return util_printable(bytes + begin, size - begin);
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
	if (launch->reached)
		return status != 1 || launch->debug_exit;
	return is_qemu(launch) && (status == 0 || (launch->debug_exit && status % 2 == 1 && status > 1));
}

/* What to do about a program that has failed. */
static const char *remedy(const struct launch *launch)
{
	if (launch->reached || is_qemu(launch))
		return "check its command line";
	if (strcmp(launch->program, "make") == 0 || strcmp(launch->program, "gmake") == 0)
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
