/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "debuginfod.h"
#include "sym_elf.h"

enum { FILES_MAX = 256 };		/* the most that are asked for */

static const char program[] = "debuginfod-find";

struct wanted {
	struct build_id build_id;
	char *source;			/* the source file's path; NULL: its debug file is wanted */
	enum debuginfod_state state;
	char *path;			/* with DEBUGINFOD_FOUND */
};

struct debuginfod {
	struct wanted wanted[FILES_MAX];
	size_t count;
	struct wanted *current;		/* being fetched; NULL: nothing */
	pid_t pid;
	int output;			/* the end of a pipe from the fetch */
	char answer[PATH_MAX + 1];	/* what the fetch has written so far */
	size_t size;
};

bool debuginfod_possible(char **error)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	return (servers && *servers) || util_fail(error, "--debuginfod: there is no server to ask: "
		"DEBUGINFOD_URLS is not set; set it, or leave the option out");
}

struct debuginfod *debuginfod_new(void)
{
	struct debuginfod *debuginfod = util_alloc(sizeof(*debuginfod));

	debuginfod->output = -1;
	return debuginfod;
}

/* Ends the fetch, killing it if it still runs. Returns its exit status. */
static int end(struct debuginfod *debuginfod)
{
	int status = 0;

	close(debuginfod->output);
	debuginfod->output = -1;
	kill(debuginfod->pid, SIGKILL);
	while (waitpid(debuginfod->pid, &status, 0) < 0 && errno == EINTR)
		;
	debuginfod->current = NULL;
	return status;
}

void debuginfod_free(struct debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	if (debuginfod->current)
		end(debuginfod);
	for (size_t i = 0; i < debuginfod->count; i++) {
		free(debuginfod->wanted[i].source);
		free(debuginfod->wanted[i].path);
	}
	free(debuginfod);
}

/* ---- the process ---- */

/* In the child, after fork: only async-signal-safe calls. The child is killed when the thread that forked it ends. */
static void become(char *const *words, int output, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	if (null < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return;
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(null, 2) == 2)
		execvp(words[0], words);
}

static bool start(struct debuginfod *debuginfod, struct wanted *wanted)
{
	char id[2 * sizeof(wanted->build_id.bytes) + 1] = "";
	char *words[] = { (char *)program, (char[]) { "debuginfo" }, id, NULL, NULL };
	pid_t parent = getpid();
	int ends[2];

	for (size_t i = 0; i < wanted->build_id.size; i++)
		snprintf(id + 2 * i, 3, "%02x", wanted->build_id.bytes[i]);
	if (wanted->source) {
		words[1] = (char[]) { "source" };
		words[3] = wanted->source;
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	debuginfod->pid = fork();
	if (debuginfod->pid == 0) {
		become(words, ends[1], parent);
		_exit(127);
	}
	close(ends[1]);
	if (debuginfod->pid < 0) {
		close(ends[0]);
		return false;
	}
	debuginfod->output = ends[0];
	debuginfod->size = 0;
	debuginfod->current = wanted;
	return true;
}

/* Reads the answer of the fetch, the file's path on a line, as far as it has come. At its end, takes it. */
static void listen(struct debuginfod *debuginfod)
{
	struct wanted *wanted = debuginfod->current;
	ssize_t got;
	char *line = debuginfod->answer;

	do {
		got = read(debuginfod->output, line + debuginfod->size,
			sizeof(debuginfod->answer) - 1 - debuginfod->size);
		debuginfod->size += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0 && errno == EAGAIN)
		return;
	line[debuginfod->size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	wanted->state = DEBUGINFOD_NONE;
	if (end(debuginfod) == 0 && line[0] == '/') {
		wanted->path = util_copy(line, strlen(line));
		wanted->state = DEBUGINFOD_FOUND;
	}
}

/* ---- what is wanted ---- */

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* NULL: there are too many. */
static struct wanted *have_wanted(struct debuginfod *debuginfod, const struct build_id *id, const char *source)
{
	struct wanted *wanted = debuginfod->wanted;

	for (; wanted < debuginfod->wanted + debuginfod->count; wanted++)
		if (!build_id_contradicts(&wanted->build_id, id) && is_same(wanted->source, source))
			return wanted;
	if (debuginfod->count == FILES_MAX)
		return NULL;
	debuginfod->count++;
	*wanted = (struct wanted) { .build_id = *id, .source = source ? util_copy(source, strlen(source)) : NULL };
	return wanted;
}

static enum debuginfod_state find(struct debuginfod *debuginfod, const struct build_id *build_id, const char *source,
	const char **path)
{
	struct wanted *wanted = build_id_known(build_id) ?
		have_wanted(debuginfod, build_id, source) : NULL;

	if (!wanted)
		return DEBUGINFOD_NONE;
	if (debuginfod->current)
		listen(debuginfod);
	if (wanted->state == DEBUGINFOD_ASKING && !debuginfod->current &&
			!start(debuginfod, wanted))
		wanted->state = DEBUGINFOD_NONE;
	*path = wanted->path;
	return wanted->state;
}

enum debuginfod_state debuginfod_find(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char **path)
{
	return find(debuginfod, build_id, NULL, path);
}

/* A path is a part of a URL. */
static bool is_plain(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+~,@=";

	return path[0] == '/' && strlen(path) < PATH_MAX && path[strspn(path, plain)] == '\0';
}

enum debuginfod_state debuginfod_find_source(struct debuginfod *debuginfod,
	const struct build_id *build_id, const char *source, const char **path)
{
	return is_plain(source) ? find(debuginfod, build_id, source, path) : DEBUGINFOD_NONE;
}
