/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "gdb_keeper.h"
#include "gdb_packets.h"

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
