/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
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
	ENDING_MS = 3000,		/* for each of the ways to end it */
	LOOK_MS = 20,			/* between two checks */
	LAST_WORDS = 2000,		/* bytes at the end of its output that are searched */
};

struct launch {
	pid_t pid;			/* 0: not started */
	int pidfd;			/* readable once it has ended; -1: none */
	bool ended;
	int status;			/* from waitpid, once it has ended */
	struct launch_folder folder;
	char *qmp, *log;
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

static bool is_microvm(char *const *words, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++)
		if ((strcmp(words[i], "-M") == 0 || strcmp(words[i], "-machine") == 0 ||
				strcmp(words[i], "--machine") == 0) &&
				strstr(words[i + 1], "microvm"))
			return true;
	return false;
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
	if ((extra->port || mentions(words, count, "virtio-serial")) && !mentions(words, count, "name=org.ktop.0"))
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

	/* QEMU dies with ktop, even if ktop is killed. The terminal's keys do not reach it. */
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

/* Has QEMU ended? Waits at most wait_ms for that. */
static bool has_ended(struct launch *launch, int wait_ms)
{
	struct pollfd ready = { .fd = launch->pidfd, .events = POLLIN };

	if (!launch->ended && launch->pid > 0 && poll(&ready, 1, wait_ms) > 0)
		launch->ended = waitpid(launch->pid, &launch->status, WNOHANG) == launch->pid;
	return launch->ended;
}

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

static bool wait_for_qmp(struct launch *launch, int timeout_ms, char **error)
{
	uint64_t deadline = util_now() + (uint64_t)timeout_ms * NS_PER_MS;

	while (!listens(launch->qmp)) {
		if (has_ended(launch, LOOK_MS)) {
			char *why = launch_failure(launch, 0);

			util_fail(error, "%s",
				why ? why : "QEMU ended at once; start it without ktop to see why");
			free(why);
			return false;
		}
		if (util_now() > deadline)
			return util_fail(error,
				"QEMU: no QMP socket in %d s; is it waiting for something?",
				timeout_ms / 1000);
	}
	return true;
}

struct launch *launch_new(char *const *words, size_t count, const struct launch_extra *extra,
	int timeout_ms, char **error)
{
	struct launch *launch = util_alloc(sizeof(*launch));
	char **line = NULL;
	bool good;

	launch->pidfd = launch->folder.lock = -1;
	good = launch_folder_make(&launch->folder, getuid(), error);
	if (good) {
		launch->qmp = util_format("%s/" LAUNCH_QMP, launch->folder.path);
		launch->log = util_format("%s/" LAUNCH_OUTPUT, launch->folder.path);
	}
	good = good && (line = launch_words(words, count, extra, launch->folder.path, error)) &&
		start(launch, line, error) && wait_for_qmp(launch, timeout_ms, error);
	launch_words_free(line);
	if (good)
		return launch;
	launch_free(launch);
	return NULL;
}

/* ---- ending ---- */

/* Asks QEMU to quit, if QMP is ready within a third of ENDING_MS. Then waits ENDING_MS for its end. */
static void ask_to_quit(struct launch *launch)
{
	uint64_t late = util_now() + (uint64_t)ENDING_MS / 3 * NS_PER_MS;
	bool taken;
	struct qmp *qmp = qmp_connect(launch->qmp, ENDING_MS / 3, &taken, NULL);

	while (qmp && qmp_phase(qmp) < QMP_READY && qmp_step(qmp, util_now()) &&
			util_now() < late && !has_ended(launch, 0))
		poll(&(struct pollfd) { .fd = qmp_fd(qmp), .events = POLLIN }, 1, LOOK_MS);
	if (qmp && qmp_phase(qmp) == QMP_READY && qmp_quit(qmp))
		has_ended(launch, ENDING_MS);
	qmp_free(qmp);
}

static void end(struct launch *launch)
{
	if (launch->pidfd >= 0 && !has_ended(launch, 0))
		ask_to_quit(launch);
	if (!has_ended(launch, 0)) {
		kill(launch->pid, SIGTERM);
		has_ended(launch, ENDING_MS);
	}
	if (!has_ended(launch, 0)) {
		kill(launch->pid, SIGKILL);
		launch->ended = waitpid(launch->pid, &launch->status, 0) == launch->pid;
	}
}

void launch_free(struct launch *launch)
{
	if (!launch)
		return;
	if (launch->pid > 0)
		end(launch);
	if (launch->pidfd >= 0)
		close(launch->pidfd);
	launch_folder_remove(&launch->folder);
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

char *launch_failure(struct launch *launch, int wait_ms)
{
	char *said, *text;

	if (!has_ended(launch, wait_ms) ||
			(WIFEXITED(launch->status) && WEXITSTATUS(launch->status) == 0))
		return NULL;
	said = launch_last_words(launch);
	if (WIFSIGNALED(launch->status))
		text = util_format("QEMU was ended by signal %d (%s): %s%s; "
			"start it again", WTERMSIG(launch->status), strsignal(WTERMSIG(launch->status)),
			said[0] ? "it said: " : "it said nothing", said);
	else
		text = util_format("QEMU ended with status %d: %s%s; check its command line",
			WEXITSTATUS(launch->status), said[0] ? "it said: " : "it said nothing", said);
	free(said);
	return text;
}
