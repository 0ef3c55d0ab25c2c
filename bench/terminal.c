/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "terminal.h"

enum { FRAME_GAP_NS = 20 * (int)NS_PER_MS, AWAIT_S = 60 };

struct terminal *terminal_start(char *const *words)
{
	struct terminal *terminal = util_alloc(sizeof(*terminal));
	const struct winsize size = { .ws_row = TERMINAL_ROWS, .ws_col = TERMINAL_COLUMNS };

	terminal->pid = forkpty(&terminal->fd, NULL, NULL, &size);
	if (terminal->pid < 0)
		abort();
	if (terminal->pid > 0)
		return terminal;
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	execv(words[0], words);
	_exit(127);
}

void terminal_end(struct terminal *terminal)
{
	kill(terminal->pid, SIGKILL);
	waitpid(terminal->pid, NULL, 0);
	close(terminal->fd);
	free(terminal);
}

/* A tail that is full loses its older half. */
static void keep(struct terminal *terminal, const char *bytes, size_t size)
{
	if (terminal->size + size >= TERMINAL_TAIL) {
		memmove(terminal->tail, terminal->tail + terminal->size / 2, terminal->size - terminal->size / 2);
		terminal->size -= terminal->size / 2;
	}
	memcpy(terminal->tail + terminal->size, bytes, size);
	terminal->size += size;
	terminal->tail[terminal->size] = '\0';
}

/* Reads one piece of output; waits for it until then at most. */
static void take(struct terminal *terminal, uint64_t until)
{
	struct pollfd ready = { .fd = terminal->fd, .events = POLLIN };
	uint64_t now = util_now();
	char bytes[TERMINAL_TAIL / 4];
	ssize_t got;

	if (poll(&ready, 1, until > now ? (int)((until - now) / NS_PER_MS + 1) : 0) <= 0)
		return;
	got = read(terminal->fd, bytes, sizeof(bytes));
	if (got <= 0) {
		fprintf(stderr, "it ended: %.*s\n", (int)terminal->size, terminal->tail);
		exit(1);
	}
	now = util_now();
	terminal->frames += now - terminal->last > FRAME_GAP_NS;
	terminal->last = now;
	terminal->bytes += (size_t)got;
	keep(terminal, bytes, (size_t)got);
}

void terminal_run(struct terminal *terminal, double seconds)
{
	uint64_t end = util_now() + (uint64_t)(seconds * (double)NS_PER_SECOND);

	while (util_now() < end)
		take(terminal, end);
}

void terminal_type(struct terminal *terminal, const char *keys)
{
	terminal->size = 0;
	terminal->tail[0] = '\0';
	if (write(terminal->fd, keys, strlen(keys)) < 0)
		exit(1);
}

double terminal_await(struct terminal *terminal, const char *text, const char *other)
{
	uint64_t begin = util_now(), end = begin + AWAIT_S * NS_PER_SECOND;

	while (util_now() < end) {
		if (memmem(terminal->tail, terminal->size, text, strlen(text)) ||
				memmem(terminal->tail, terminal->size, other, strlen(other)))
			return (double)(terminal->last - begin) / (double)NS_PER_SECOND;
		take(terminal, end);
	}
	return -1;
}

double terminal_cpu(const struct terminal *terminal)
{
	struct timespec time = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(terminal->pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
		exit(1);
	return (double)time.tv_sec + (double)time.tv_nsec / (double)NS_PER_SECOND;
}

double terminal_peak(const struct terminal *terminal)
{
	char *path = util_format("/proc/%d/status", (int)terminal->pid), line[256];
	FILE *file = fopen(path, "r");
	double kib = 0;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmHWM: %lf", &kib);
	if (file)
		fclose(file);
	free(path);
	return kib / 1024;
}
