/* SPDX-License-Identifier: MIT */
/*
 * `stop_go SOCKET` stops and starts a machine by QEMU's gdb stub, as often as ktop does, and reads nothing: what any
 * sampler by the stub costs at least. It obeys lines: `rate HZ`, `start`, `stop`, `status`. It answers each with
 * `taken N`, the number of stops so far.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"

enum { ANSWER_MS = 10000 };

static int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "stop_go: %s\n", what);
	exit(1);
}

static void send_bytes(int stub, const char *bytes)
{
	size_t size = strlen(bytes);

	if (write(stub, bytes, size) != (ssize_t)size)
		fail("the stub takes no bytes");
}

/* Waits for the end of a packet, "#" and two digits, and acknowledges it. */
static void await_packet(int stub)
{
	struct pollfd ready = { .fd = stub, .events = POLLIN };
	int digits = -1;

	while (digits != 2) {
		char byte;

		if (poll(&ready, 1, ANSWER_MS) != 1 || read(stub, &byte, 1) != 1)
			fail("the stub does not answer");
		if (byte == '#')
			digits = 0;
		else if (digits >= 0)
			digits++;
	}
	send_bytes(stub, "+");
}

static void stop_and_start(int stub)
{
	send_bytes(stub, "\3");
	await_packet(stub);
	send_bytes(stub, "$c#63");
}

struct state {
	int64_t every;			/* ns between two stops */
	int64_t next;			/* when the next one is due; 0: none is */
	unsigned long taken;
};

static void obey(struct state *state, const char *line)
{
	double rate;

	if (sscanf(line, "rate %lf", &rate) == 1 && rate > 0)
		state->every = (int64_t)((double)NS_PER_SECOND / rate);
	else if (!strcmp(line, "start\n"))
		state->next = clock_ns() + state->every;
	else if (!strcmp(line, "stop\n"))
		state->next = 0;
	else if (strcmp(line, "status\n"))
		fail("a line is none of: rate HZ, start, stop, status");
	printf("taken %lu\n", state->taken);
	fflush(stdout);
}

/* True: standard input has something, or has ended. False: the next stop is due. */
static bool input_first(const struct state *state)
{
	struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t left = state->next - clock_ns();
	struct timespec wait = { 0 };
	int count;

	if (left > 0)
		wait = (struct timespec) { .tv_sec = left / NS_PER_SECOND, .tv_nsec = left % NS_PER_SECOND };
	do
		count = ppoll(&ready, 1, state->next ? &wait : NULL, NULL);
	while (count < 0 && errno == EINTR);
	return count > 0;
}

int main(int argc, char **argv)
{
	struct state state = { .every = NS_PER_SECOND / 100 };
	char line[64];
	int stub = argc == 2 ? unix_socket_connect(argv[1]) : -1;

	if (stub < 0)
		fail("there is no stub at SOCKET");
	send_bytes(stub, "$?#3f");
	await_packet(stub);
	send_bytes(stub, "$c#63");
	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		if (input_first(&state)) {
			if (!fgets(line, sizeof(line), stdin))
				return 0;
			obey(&state, line);
			continue;
		}
		stop_and_start(stub);
		state.taken++;
		state.next += state.every;
		if (state.next < clock_ns())
			state.next = clock_ns();
	}
}
