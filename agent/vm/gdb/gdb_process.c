/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "gdb_process.h"
#include "gdb_sampler.h"

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
