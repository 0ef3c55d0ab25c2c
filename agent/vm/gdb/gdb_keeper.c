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
	WAIT_MS = 1000,			/* for QEMU to tell that it has stopped the machine */
	READ_BYTES = 4096,
};

/* Ends a packet that was cut off, and lets the machine go on. QEMU skips what it does not understand. */
static const char go_on[] = "#00$c#63";

/* A stop reply comes within the time. */
static bool is_stopped(int stub, struct gdb_reader *reader)
{
	uint64_t end = util_now() + (uint64_t)WAIT_MS * NS_PER_MS;
	struct pollfd fd = { .fd = stub, .events = POLLIN };
	char bytes[READ_BYTES];

	for (uint64_t now; (now = util_now()) < end;) {
		ssize_t got;
		bool whole;

		if (poll(&fd, 1, (int)((end - now) / NS_PER_MS) + 1) <= 0)
			continue;
		got = recv(stub, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (got <= 0)
			return false;
		for (ssize_t at = 0; at < got;) {
			at += (ssize_t)gdb_reader_take(reader, bytes + at, (size_t)(got - at), &whole);
			if (whole && reader->body[0] == 'T')
				return true;
		}
	}
	return false;
}

/* If the machine ran, the first byte has stopped it, and QEMU has skipped the rest. It tells so: then once more. */
static void let_go(int stub)
{
	static struct gdb_reader reader;

	for (int i = 0; i < TRIES; i++)
		if (send(stub, go_on, strlen(go_on), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 || !is_stopped(stub, &reader))
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
