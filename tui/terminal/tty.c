/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "signals.h"
#include "tty.h"

enum {
	LEAVE_MAX = 256,		/* bytes that take back the screen's modes */
	ERRORS_MAX = 65536,		/* bytes of standard error that are kept */
	MAIN_MS = 100,			/* longest wait of an ending thread for the main thread */
	EVENTS = TTY_RESIZE + 1,
};

/* Signal handlers read all fields, and write only the volatile ones. */
static struct {
	volatile sig_atomic_t came[EVENTS];	/* by event; tty_event clears all but an end */
	volatile sig_atomic_t writing;	/* the main thread may wait in a write */
	volatile sig_atomic_t diverted;	/* standard output goes to /dev/null */
	volatile sig_atomic_t up;	/* the screen's modes are set */
	int wake;			/* an eventfd: readable when an event came */
	int out, nowhere;		/* the terminal; /dev/null */
	int error, errors;		/* the real standard error; a file that keeps its text; -1: not kept */
	char leave[LEAVE_MAX];		/* the bytes that take back the screen's modes */
	size_t leave_size;
	struct termios modes;		/* from before tty_open, as are `before` and `mask` */
	struct sigaction before[NSIG];
	sigset_t ends, faults;		/* as in signals.h */
	sigset_t mask;
	pthread_t main;			/* the thread that has the screen */
	bool open;
} tty = { .wake = -1, .out = -1, .nowhere = -1, .error = -1, .errors = -1 };

/* ---- what a signal handler may do ---- */

static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(tty.out);

	return group < 0 || group == getpgrp();
}

/* The terminal takes output now, without a wait. */
static bool has_room(void)
{
	struct pollfd fd = { .fd = tty.out, .events = POLLOUT };

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT);
}

/*
 * Puts the terminal back as it was before tty_open. If it takes no output, the output that it has not taken yet is
 * dropped, so that there is room for the bytes that put it back.
 */
static void give_back(void)
{
	if (!tty.up || !in_foreground())
		return;
	tty.up = 0;
	if (!has_room())
		tcflush(tty.out, TCOFLUSH);
	if (has_room() && write(tty.out, tty.leave, tty.leave_size) < 0)
		errno = 0;
	tcsetattr(tty.out, TCSANOW, &tty.modes);
}

/* Writes the kept text of standard error to the real one. */
static void tell_errors(void)
{
	off_t end = tty.errors < 0 ? 0 : lseek(tty.errors, 0, SEEK_CUR), at = 0;
	char bytes[4096];

	for (ssize_t got; at < end; at += got) {
		size_t left = (size_t)(end - at);

		got = pread(tty.errors, bytes, left < sizeof(bytes) ? left : sizeof(bytes), at);
		if (got <= 0 || write(tty.error, bytes, (size_t)got) != got)
			break;
	}
	if (tty.errors >= 0)
		lseek(tty.errors, 0, SEEK_SET);
}

/* From now on, what is written to standard output goes nowhere. */
static void divert(void)
{
	if (!tty.diverted)
		dup2(tty.nowhere, STDOUT_FILENO);
	tty.diverted = 1;
}

static enum tty_event event_of(int number)
{
	switch (number) {
	case SIGHUP:
		return TTY_HANGUP;
	case SIGTSTP:
		return TTY_STOP;
	case SIGCONT:
		return TTY_CONTINUE;
	case SIGWINCH:
		return TTY_RESIZE;
	default:
		return sigismember(&tty.ends, number) > 0 ? TTY_QUIT : TTY_NOTHING;
	}
}

static bool is_end(enum tty_event event)
{
	return event == TTY_HANGUP || event == TTY_QUIT;
}

static void on_event(int number)
{
	static const uint64_t one = 1;
	enum tty_event event = event_of(number);
	int kept = errno;

	tty.came[event] = 1;
	if (is_end(event) && tty.writing)
		divert();
	if (write(tty.wake, &one, sizeof(one)) < 0)
		errno = 0;
	errno = kept;
}

/* The handler was reset (SA_RESETHAND), so raise carries out the signal's default action. */
static void on_crash(int number)
{
	static const char words[] = "ktop: ktop ended: a fault of its own; start it again, and "
		"report what was done\n";

	divert();
	give_back();
	tell_errors();
	if (write(tty.errors < 0 ? STDERR_FILENO : tty.error, words, sizeof(words) - 1) < 0)
		errno = 0;
	raise(number);
}

/* ---- opening and closing ---- */

static void catch(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(number, NULL, &tty.before[number]);
	if (tty.before[number].sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static void catch_all(void)
{
	signals_ending(&tty.ends);
	signals_faults(&tty.faults);
	memset((void *)tty.came, 0, sizeof(tty.came));
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&tty.faults, number) > 0)
			catch(number, on_crash, SA_RESETHAND | SA_NODEFER);
		else if (event_of(number) != TTY_NOTHING)
			catch(number, on_event, is_end(event_of(number)) ? 0 : SA_RESTART);
	pthread_sigmask(SIG_UNBLOCK, &tty.ends, &tty.mask);
}

static void catch_none(void)
{
	pthread_sigmask(SIG_SETMASK, &tty.mask, NULL);
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&tty.faults, number) > 0 || event_of(number) != TTY_NOTHING)
			sigaction(number, &tty.before[number], NULL);
}

/* Keeps standard error in a file of a fixed size, allocated at the start. What is longer is cut. */
static void keep_errors(void)
{
	if (!isatty(STDERR_FILENO))
		return;
	tty.errors = memfd_create("ktop-stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	tty.error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (tty.errors >= 0 && tty.error >= 0 && ftruncate(tty.errors, ERRORS_MAX) == 0)
		fcntl(tty.errors, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
	if (tty.errors >= 0 && tty.error >= 0)
		dup2(tty.errors, STDERR_FILENO);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_all(void)
{
	close_one(&tty.wake);
	close_one(&tty.out);
	close_one(&tty.nowhere);
	close_one(&tty.error);
	close_one(&tty.errors);
}

/*
 * The main thread may be setting modes meanwhile. What it writes from now on goes to /dev/null. What it is writing now
 * is done in a moment, unless the terminal is stuck: so the wait is bounded by MAIN_MS.
 */
static void await_main(void)
{
	static const struct timespec moment = { .tv_nsec = NS_PER_MS };

	for (int i = 0; i < MAIN_MS && tty.writing && !pthread_equal(pthread_self(), tty.main); i++)
		nanosleep(&moment, NULL);
}

/*
 * Runs at exit and quick_exit, in any thread. Standard error is not put back here: if standard output is no terminal,
 * ncurses would take standard error for it.
 */
static void leave(void)
{
	if (tty.up)
		divert();
	await_main();
	give_back();
	tell_errors();
}

bool tty_open(const char *leaving, size_t size, char **error)
{
	tty.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	tty.nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	tty.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (tty.wake < 0 || tty.nowhere < 0 || tty.out < 0 ||
			tcgetattr(tty.out, &tty.modes) != 0 || atexit(leave) != 0 ||
			at_quick_exit(leave) != 0) {
		util_fail(error, "cannot open the screen: %s; use `ktop report`", strerror(errno));
		close_all();
		return false;
	}
	tty.leave_size = size < LEAVE_MAX ? size : LEAVE_MAX;
	memcpy(tty.leave, leaving, tty.leave_size);
	tty.diverted = tty.writing = 0;
	tty.main = pthread_self();
	keep_errors();
	catch_all();
	tty.up = tty.open = true;
	return true;
}

void tty_close(void)
{
	if (!tty.open)
		return;
	if (tty.diverted)
		give_back();
	tty.up = tty.open = false;
	catch_none();
	dup2(tty.out, STDOUT_FILENO);
	if (tty.errors >= 0)
		dup2(tty.error, STDERR_FILENO);
	tell_errors();
	close_all();
}

/* ---- while it is open ---- */

static bool is_to_end(void)
{
	return tty.came[TTY_HANGUP] || tty.came[TTY_QUIT];
}

void tty_begin(void)
{
	tty.writing = 1;
	if (is_to_end())
		divert();
}

void tty_end(void)
{
	tty.writing = 0;
}

/* A signal may divert the output meanwhile: then it stays diverted. */
void tty_unheard(int (*call)(void))
{
	dup2(tty.nowhere, STDOUT_FILENO);
	call();
	dup2(tty.out, STDOUT_FILENO);
	if (tty.diverted)
		dup2(tty.nowhere, STDOUT_FILENO);
}

bool tty_ours(void)
{
	return tty.up && !tty.diverted && in_foreground();
}

/* Stops this process alone, as the terminal's own Ctrl-Z would. */
bool tty_suspend(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, ours;

	tty.up = 0;
	sigaction(SIGTSTP, &standard, &ours);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
	for (int event = TTY_STOP; event < EVENTS; event++)
		tty.came[event] = 0;
	tty.up = !is_to_end();
	return tty.up;
}

/* Takes the most urgent event. One that ends the program stays. */
static enum tty_event next_event(void)
{
	for (int i = TTY_HANGUP; i < EVENTS; i++) {
		enum tty_event event = (enum tty_event)i;

		if (tty.came[event]) {
			tty.came[event] = is_end(event);
			return event;
		}
	}
	return TTY_NOTHING;
}

enum tty_event tty_event(void)
{
	enum tty_event event = next_event();
	uint64_t count;

	if (event != TTY_NOTHING || read(tty.wake, &count, sizeof(count)) < 0)
		return event;
	return next_event();
}

int tty_fd(void)
{
	return tty.wake;
}
