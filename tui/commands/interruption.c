/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "tui/terminal/signals.h"
#include "command.h"
#include "interruption.h"

enum {
	MOMENT_MS = 200,		/* in which a command that polls for signals takes one */
	TOLD_MS = 2000,			/* in which the last line is told, however busy the host is */
	LONG_MS = 500,			/* what takes longer before the screen is there is told */
	LINE = 79,			/* as much of the terminal's line as a bar of progress may have */
};

struct interruption {
	void (*act)(void *context);
	void *context;
	char *line;			/* of interruption_ends; else NULL */
	pthread_t thread;
	int signals, over;		/* readable while a signal is pending; once the thread is to end */
};

/* True: a signal is pending. False: the interruption is over. */
static bool await_signal(const struct interruption *interruption)
{
	struct pollfd either[] = {
		{ .fd = interruption->over, .events = POLLIN }, { .fd = interruption->signals, .events = POLLIN },
	};

	while (poll(either, 2, -1) < 0)
		;
	return !either[0].revents;
}

static bool is_over(const struct interruption *interruption, int timeout_ms)
{
	return poll(&(struct pollfd) { .fd = interruption->over, .events = POLLIN }, 1, timeout_ms) > 0;
}

static void *watch(void *context)
{
	const struct interruption *interruption = context;

	while (await_signal(interruption) && !is_over(interruption, MOMENT_MS))
		if (command_take_signal())
			interruption->act(interruption->context);
	return NULL;
}

static void clear(struct interruption *interruption)
{
	if (interruption->signals >= 0)
		close(interruption->signals);
	if (interruption->over >= 0)
		close(interruption->over);
	free(interruption->line);
	free(interruption);
}

struct interruption *interruption_new(void (*act)(void *context), void *context)
{
	struct interruption *interruption = util_alloc(sizeof(*interruption));
	sigset_t ends;

	signals_ending(&ends);
	interruption->act = act;
	interruption->context = context;
	interruption->signals = signalfd(-1, &ends, SFD_CLOEXEC);
	interruption->over = eventfd(0, EFD_CLOEXEC);
	if (interruption->signals >= 0 && interruption->over >= 0 &&
			pthread_create(&interruption->thread, NULL, watch, interruption) == 0)
		return interruption;
	clear(interruption);			/* the command takes signals where it polls for them */
	return NULL;
}

void interruption_free(struct interruption *interruption)
{
	if (!interruption)
		return;
	eventfd_write(interruption->over, 1);
	pthread_join(interruption->thread, NULL);
	clear(interruption);
}

/* Another thread may hold the lock of the stream, so the line goes by it; and over a bar of progress. */
static void *exit_with(void *line)
{
	if (isatty(STDERR_FILENO))
		dprintf(STDERR_FILENO, "\r%*s\r", LINE, "");
	dprintf(STDERR_FILENO, "ktop: %s\n", (char *)line);
	_exit(COMMAND_FAILED);
}

/* Standard error may be a terminal or a pipe that nobody reads: then the line is lost, and ktop ends all the same. */
void interruption_exit(const char *line)
{
	struct pollfd errors = { .fd = STDERR_FILENO, .events = POLLOUT };
	char *printable = util_printable_lines(line, strlen(line));
	pthread_t thread;

	if (poll(&errors, 1, 0) > 0 && pthread_create(&thread, NULL, exit_with, printable) == 0)
		poll(NULL, 0, TOLD_MS);
	_exit(COMMAND_FAILED);
}

static void end(void *line)
{
	interruption_exit(line);
}

struct interruption *interruption_ends(char *line)
{
	struct interruption *interruption;

	command_hold_signals();
	interruption = interruption_new(end, line);
	if (interruption)
		interruption->line = line;
	else
		free(line);
	return interruption;
}

void interruption_early_begin(struct interruption_early *early, const char *what, const char *does, bool keys)
{
	*early = (struct interruption_early) { .what = what, .does = does,
		.speak_at = util_now() + LONG_MS * NS_PER_MS };
	early->keys = keys && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
		tcgetattr(STDIN_FILENO, &early->before) == 0;
	if (early->keys) {
		struct termios modes = early->before;

		modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		modes.c_cc[VMIN] = modes.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &modes);
	}
}

void interruption_early_end(struct interruption_early *early)
{
	if (early->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &early->before);
	early->keys = false;
}

bool interruption_early(void *context)
{
	struct interruption_early *early = context;
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	while (early->keys && poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1)
		early->quit |= key == 'q';
	if (util_now() >= early->speak_at) {
		command_tell(util_format("%s: %s; %sCtrl-C gives it up", early->what, early->does,
			early->keys ? "q or " : ""));
		early->speak_at = UINT64_MAX;
	}
	return early->quit || command_stopped();
}
