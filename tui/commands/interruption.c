/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "tui/terminal/term.h"
#include "tui/terminal/tty.h"
#include "command.h"
#include "interruption.h"

enum {
	MOMENT_MS = 200,		/* in which a command that polls for signals takes one */
	TOLD_MS = 2000,			/* in which the last line is told, however busy the host is */
	UNREAD_MS = 150,		/* in which somebody who reads the output has taken some */
	LOOK_MS = 10,			/* between two looks whether somebody does */
	LONG_MS = 500,			/* what takes longer before the screen is there is told */
	LINE = 79,			/* as much of the terminal's line as a bar of progress may have */
};

struct interruption {
	void (*act)(void *context);	/* NULL: prints that nobody reads are dropped */
	void *context;
	pthread_t main;
	char *line;			/* of interruption_ends; else NULL */
	pthread_t thread;
	int signals, over;		/* readable while a signal is pending; once the thread is to end */
	int nowhere;			/* /dev/null, opened while there are descriptors; -1: for prints alone */
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

/* A write that the main thread waits in now ends by SIGURG; later ones go to the new file. */
static void drop(struct interruption *interruption, int fd)
{
	if (interruption->nowhere < 0)
		return;
	if (fd == STDOUT_FILENO)
		command_lose_output();
	dup2(interruption->nowhere, fd);
	pthread_kill(interruption->main, SIGURG);
}

static void drop_unread(struct interruption *interruption)
{
	int left = UNREAD_MS;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (poll(&(struct pollfd) { .fd = fd, .events = POLLOUT }, 1, left) == 0) {
			drop(interruption, fd);
			left = 0;
		}
}

static void *watch(void *context)
{
	struct interruption *interruption = context;

	while (await_signal(interruption) && !is_over(interruption, interruption->act ? MOMENT_MS : LOOK_MS))
		if (!interruption->act && !tty_ours())	/* the screen ends itself */
			drop_unread(interruption);
		else if (interruption->act && command_take_signal())
			interruption->act(interruption->context);
	return NULL;
}

static void clear(struct interruption *interruption)
{
	if (interruption->signals >= 0)
		close(interruption->signals);
	if (interruption->over >= 0)
		close(interruption->over);
	if (interruption->nowhere >= 0)
		close(interruption->nowhere);
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
	interruption->main = pthread_self();
	interruption->signals = signalfd(-1, &ends, SFD_CLOEXEC);
	interruption->over = eventfd(0, EFD_CLOEXEC);
	interruption->nowhere = act ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (interruption->signals >= 0 && interruption->over >= 0 &&
			pthread_create(&interruption->thread, NULL, watch, interruption) == 0)
		return interruption;
	clear(interruption);			/* the command takes signals where it polls for them */
	return NULL;
}

static void wake(int number)
{
	(void)number;
}

/* The new thread gets no signal: those that are not held are the main thread's. */
struct interruption *interruption_of_prints(void)
{
	const struct sigaction action = { .sa_handler = wake };
	struct interruption *interruption;
	sigset_t all, before;

	sigaction(SIGURG, &action, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	interruption = interruption_new(NULL, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return interruption;
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
	int status;

	if (!command_interrupt(&status))
		_exit(status);
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
	struct pollfd errors = { .fd = STDERR_FILENO, .events = POLLOUT };
	char key;

	while (early->keys && poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1)
		early->quit |= key == 'q';
	if (util_now() >= early->speak_at && poll(&errors, 1, 0) > 0) {
		command_tell(util_format("%s: %s; %sCtrl-C gives it up", early->what, early->does,
			early->keys ? "q or " : ""));
		early->speak_at = UINT64_MAX;
	}
	return early->quit || command_stopped();
}
