#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "tty.h"
#include "util.h"

enum { LEAVE_MAX = 256, ERRORS_MAX = 65536 };

static const struct { int number; enum tty_event event; } events[] = {
	{ SIGHUP, TTY_HANGUP }, { SIGTERM, TTY_QUIT }, { SIGINT, TTY_QUIT }, { SIGQUIT, TTY_QUIT },
	{ SIGTSTP, TTY_STOP }, { SIGCONT, TTY_CONTINUE }, { SIGWINCH, TTY_RESIZE },
};
enum { EVENTS = sizeof events / sizeof *events, ENDS = 4 };	/* the first of them end */

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { CRASHES = sizeof crashes / sizeof *crashes };

/* Signal handlers read all of it, and write what is volatile. */
static struct {
	volatile sig_atomic_t came[EVENTS];
	volatile sig_atomic_t writing;	/* the main thread may wait in a write */
	volatile sig_atomic_t diverted;	/* standard output goes to nowhere */
	volatile sig_atomic_t up;	/* the screen's modes are set */
	int wake;			/* an eventfd */
	int out, nowhere;		/* the terminal, /dev/null */
	int error, errors;		/* standard error, and what was meant for it; -1: neither */
	char leave[LEAVE_MAX];
	size_t leave_size;
	struct termios modes;
	struct sigaction event_actions[EVENTS], crash_actions[CRASHES];	/* before */
	sigset_t mask;			/* before */
	bool open;
} tty = { .wake = -1, .out = -1, .nowhere = -1, .error = -1, .errors = -1 };

/* ---- what a signal handler may do ---- */

static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(tty.out);

	return group < 0 || group == getpgrp();
}

static bool has_room(void)
{
	struct pollfd fd = { .fd = tty.out, .events = POLLOUT };

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT);
}

/* A terminal that takes nothing loses what it has not taken: the way back goes first. */
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

static void tell_errors(void)
{
	off_t end = tty.errors < 0 ? 0 : lseek(tty.errors, 0, SEEK_CUR), at = 0;
	char bytes[4096];

	if (tty.errors < 0)
		return;
	dup2(tty.error, STDERR_FILENO);
	for (ssize_t got; at < end; at += got) {
		size_t left = (size_t)(end - at);

		got = pread(tty.errors, bytes, left < sizeof bytes ? left : sizeof bytes, at);
		if (got <= 0 || write(STDERR_FILENO, bytes, (size_t)got) != got)
			break;
	}
	lseek(tty.errors, 0, SEEK_SET);
}

static void divert(void)
{
	if (!tty.diverted)
		dup2(tty.nowhere, STDOUT_FILENO);
	tty.diverted = 1;
}

static void on_event(int number)
{
	static const uint64_t one = 1;
	int kept = errno;

	for (int i = 0; i < EVENTS; i++)
		if (events[i].number == number) {
			tty.came[i] = 1;
			if (i < ENDS && tty.writing)
				divert();
		}
	if (write(tty.wake, &one, sizeof one) < 0)
		errno = 0;
	errno = kept;
}

/* The signal's own action follows. */
static void on_crash(int number)
{
	static const char words[] = "ktop: ktop ended: a fault of its own; start it again, and "
		"report what was done\n";

	divert();
	give_back();
	tell_errors();
	if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
		errno = 0;
	raise(number);
}

/* ---- opening and closing ---- */

static void catch(int number, struct sigaction *before, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(number, NULL, before);
	if (before->sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static void catch_all(void)
{
	sigset_t ends;

	sigemptyset(&ends);
	for (int i = 0; i < EVENTS; i++) {
		tty.came[i] = 0;
		catch(events[i].number, &tty.event_actions[i], on_event, i < ENDS ? 0 : SA_RESTART);
		if (i < ENDS)
			sigaddset(&ends, events[i].number);
	}
	for (int i = 0; i < CRASHES; i++)
		catch(crashes[i], &tty.crash_actions[i], on_crash, SA_RESETHAND | SA_NODEFER);
	pthread_sigmask(SIG_UNBLOCK, &ends, &tty.mask);
}

static void catch_none(void)
{
	pthread_sigmask(SIG_SETMASK, &tty.mask, NULL);
	for (int i = 0; i < EVENTS; i++)
		sigaction(events[i].number, &tty.event_actions[i], NULL);
	for (int i = 0; i < CRASHES; i++)
		sigaction(crashes[i], &tty.crash_actions[i], NULL);
}

/* Room that is there from the start and cannot grow: who writes more than that is cut. */
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

/* At exit, which any thread may call. */
static void leave(void)
{
	if (tty.up)
		divert();
	give_back();
	tell_errors();
}

bool tty_open(const char *leaving, size_t size, char **error)
{
	tty.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	tty.nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	tty.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (tty.wake < 0 || tty.nowhere < 0 || tty.out < 0 ||
			tcgetattr(tty.out, &tty.modes) != 0 || atexit(leave) != 0) {
		util_fail(error, "cannot open the screen: %s; use `ktop report`", strerror(errno));
		close_all();
		return false;
	}
	tty.leave_size = size < LEAVE_MAX ? size : LEAVE_MAX;
	memcpy(tty.leave, leaving, tty.leave_size);
	tty.diverted = tty.writing = 0;
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
	tell_errors();
	close_all();
}

/* ---- while it is open ---- */

static bool is_to_end(void)
{
	for (int i = 0; i < ENDS; i++)
		if (tty.came[i])
			return true;
	return false;
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

bool tty_ours(void)
{
	return tty.up && !tty.diverted && in_foreground();
}

/* Stops this process alone, as the terminal's own Ctrl-Z would. */
bool tty_stop(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, ours;

	tty.up = 0;
	sigaction(SIGTSTP, &standard, &ours);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
	for (int i = ENDS; i < EVENTS; i++)
		tty.came[i] = 0;
	tty.up = !is_to_end();
	return tty.up;
}

static enum tty_event next_event(void)
{
	for (int i = 0; i < EVENTS; i++) {
		if (tty.came[i]) {
			if (i >= ENDS)
				tty.came[i] = 0;
			return events[i].event;
		}
	}
	return TTY_NOTHING;
}

enum tty_event tty_event(void)
{
	enum tty_event event = next_event();
	uint64_t count;

	if (event != TTY_NOTHING || read(tty.wake, &count, sizeof count) < 0)
		return event;
	return next_event();
}

int tty_fd(void)
{
	return tty.wake;
}
