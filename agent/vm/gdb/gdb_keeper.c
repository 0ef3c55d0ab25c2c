/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "gdb_keeper.h"
#include "gdb_packets.h"
#include "gdb_sampler.h"

enum {
	TRIES = 8,
	WAIT_MS = 5000,			/* for QEMU to answer: a host may be busy */
	READ_BYTES = 4096,
};

/*
 * Acknowledges the stub's last packet, since it drops bytes until then. Ends a packet that was cut off, asks what
 * nobody else has asked, and has the monitor let the machine go on. If the machine runs, the first byte that is not
 * dropped stops it: that must not be the question's.
 */
static const char go_on[] = "+#00$vCont?#49$qRcmd,636f6e74#2e";
#define MARK "vCont;"			/* so begins the answer to the first packet */

/* The answer behind the mark comes within the time: the machine runs, or the monitor has refused it. */
static bool has_gone_on(int stub, struct gdb_reader *reader)
{
	uint64_t end = util_now() + (uint64_t)WAIT_MS * NS_PER_MS;
	struct pollfd fd = { .fd = stub, .events = POLLIN };
	bool marked = false, whole;
	char bytes[READ_BYTES];

	for (uint64_t now; (now = util_now()) < end;) {
		ssize_t got;

		if (poll(&fd, 1, (int)((end - now) / NS_PER_MS) + 1) <= 0)
			continue;
		got = recv(stub, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (got <= 0)
			return true;		/* QEMU has gone */
		for (ssize_t at = 0; at < got;) {
			at += (ssize_t)gdb_reader_take(reader, bytes + at, (size_t)(got - at), &whole);
			if (whole && marked && strcmp(reader->body, "OK") == 0)
				return true;
			marked = marked || (whole && strncmp(reader->body, MARK, strlen(MARK)) == 0);
		}
	}
	return false;
}

static void let_go(int stub)
{
	static struct gdb_reader reader;

	for (int i = 0; i < TRIES; i++)
		if (send(stub, go_on, strlen(go_on), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 || has_gone_on(stub, &reader))
			return;
}

/* `alive` ends when the other process does. */
static void keep(int alive, int stub, const volatile bool *held)
{
	char byte;

	prctl(PR_SET_NAME, "ktop-gdb-keep");
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	while (read(alive, &byte, 1) > 0)
		;
	if (*held)
		let_go(stub);
	_exit(0);
}

/* Without it the machine may stay stopped after two kills, so that it cannot be started is no reason to end. */
void gdb_keeper_start(struct gdb_keeper *keeper, int stub)
{
	bool *held = mmap(NULL, sizeof(*held), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int alive[2];
	pid_t pid;

	if (held == MAP_FAILED)
		return;
	*held = true;
	if (pipe2(alive, O_CLOEXEC) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(alive[1]);
		keep(alive[0], stub, held);
	}
	close(alive[0]);
	if (pid > 0)
		keeper->held = held;
	else
		close(alive[1]);
}

void gdb_keeper_hold(struct gdb_keeper *keeper, bool held)
{
	if (keeper->held)
		*keeper->held = held;
}

/* ---- its process ---- */

enum { SAID_MAX = 200 };

/* The process is this program again, with the command GDB_SAMPLER_WORD. Its stdin is the port. */
static int spawn(struct gdb_process *process, const char *stub, int port, int said)
{
	char name[] = "ktop", word[] = GDB_SAMPLER_WORD, *place = util_copy(stub, strlen(stub));
	char *const words[] = { name, word, place, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int why;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, port, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, said, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	why = posix_spawn(&process->pid, "/proc/self/exe", &files, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	free(place);
	return why;
}

int gdb_process_start(struct gdb_process *process, const char *stub, char **error)
{
	int port[2] = { -1, -1 }, said[2] = { -1, -1 };
	bool good = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, port) == 0 &&
		pipe2(said, O_CLOEXEC | O_NONBLOCK) == 0;
	int why = good ? spawn(process, stub, port[1], said[1]) : errno;

	for (int i = 0; i < 2; i++) {
		int *keep = i ? said : port;

		if (keep[1] >= 0)
			close(keep[1]);
		if (why && keep[0] >= 0)
			close(keep[0]);
	}
	if (!why) {
		process->said = said[0];
		return port[0];
	}
	process->pid = 0;
	util_fail(error, "gdb stub: no process for it: %s; close other programs", strerror(why));
	return -1;
}

bool gdb_process_ended(struct gdb_process *process, bool *killed, char **why)
{
	char text[SAID_MAX];
	ssize_t size;
	int status;

	if (waitpid(process->pid, &status, WNOHANG) == 0)
		return false;
	*killed = !WIFEXITED(status);
	size = read(process->said, text, sizeof(text));
	*why = size > 0 ? util_printable(text, (size_t)size) : NULL;
	gdb_process_leave(process);
	return true;
}

void gdb_process_leave(struct gdb_process *process)
{
	if (process->pid)
		close(process->said);
	process->pid = 0;
}
