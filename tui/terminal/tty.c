/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "tty.h"

enum {
	LEAVE_MAX = 256,		/* bytes that take back the screen's modes */
	ERRORS_MAX = 65536,		/* bytes of standard error that are kept */
	MAIN_MS = 100,			/* longest wait of an ending thread for the main thread */
	LAST_MS = 100,			/* in which a terminal takes the last bytes, or they are dropped */
	EVENTS = TTY_RESIZE + 1,
};

/* Signal handlers read all fields, and write only the volatile ones. */
static struct {
	volatile sig_atomic_t came[EVENTS];	/* by event; tty_event clears all but an end */
	volatile sig_atomic_t writing;	/* the main thread writes to the terminal */
	volatile sig_atomic_t up;	/* the screen's modes are set */
	int wake;			/* an eventfd: readable when an event came */
	int out;			/* the terminal; a write does not wait */
	FILE *paper;			/* the terminal, until tty_keep; then a file in memory */
	off_t sent;			/* of what that file has */
	int cut;			/* the errno with which that file took no more; 0: it has all */
	int error, errors;		/* the real standard error; a file that keeps its text; -1: not kept */
	char leave[LEAVE_MAX];		/* the bytes that take back the screen's modes */
	size_t leave_size;
	struct termios modes;		/* from before tty_open, as are `before` and `mask` */
	struct termios ours;		/* the screen's */
	struct sigaction before[NSIG];
	sigset_t ends, faults;		/* as in term.h */
	sigset_t mask;
	pthread_t main;			/* the thread that has the screen */
	bool open;
} tty = { .wake = -1, .out = -1, .error = -1, .errors = -1 };

/* ---- what a signal handler may do ---- */

static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(tty.out);

	return group < 0 || group == getpgrp();
}

/* It takes output within that time, or is gone: then nothing waits for it either. */
static bool has_room(int to, int timeout_ms)
{
	struct pollfd fd = { .fd = to, .events = POLLOUT };

	return poll(&fd, 1, timeout_ms) == 1;
}

/*
 * Writes what there is room for. Where the terminal could not be opened again (open_again), others share its
 * description, which waits: then only this write does not.
 */
static ssize_t write_now(int to, const void *bytes, size_t size)
{
	int flags = fcntl(to, F_GETFL), why;
	ssize_t went;

	if (!(flags & O_NONBLOCK))
		fcntl(to, F_SETFL, flags | O_NONBLOCK);
	went = write(to, bytes, size);
	why = errno;
	if (!(flags & O_NONBLOCK))
		fcntl(to, F_SETFL, flags);
	errno = why;
	return went;
}

/*
 * The main thread may be setting modes meanwhile. What it is writing now is done in a moment: so the wait is bounded by
 * MAIN_MS.
 */
static void await_main(void)
{
	static const struct timespec moment = { .tv_nsec = NS_PER_MS };

	for (int i = 0; i < MAIN_MS && tty.writing && !pthread_equal(pthread_self(), tty.main); i++)
		nanosleep(&moment, NULL);
}

/*
 * Puts the terminal back as it was before tty_open. If it does not take the bytes for that, the output that it has not
 * taken yet is dropped, so that there is room.
 */
static void give_back(void)
{
	bool taken = false;

	if (!tty.up || !in_foreground())
		return;
	tty.up = 0;
	await_main();
	for (int tries = 0; tries < 2 && !taken; tries++) {
		taken = write_now(tty.out, tty.leave, tty.leave_size) == (ssize_t)tty.leave_size;
		if (!taken)
			tcflush(tty.out, TCOFLUSH);
	}
	tcsetattr(tty.out, TCSANOW, &tty.modes);
}

/* Writes the kept text of standard error to the real one. What that does not take in a moment is lost. */
static void tell_errors(void)
{
	off_t end = tty.errors < 0 ? 0 : lseek(tty.errors, 0, SEEK_CUR), at = 0;
	char bytes[4096];

	while (at < end && has_room(tty.error, LAST_MS)) {
		size_t left = (size_t)(end - at);
		ssize_t got = pread(tty.errors, bytes, left < sizeof(bytes) ? left : sizeof(bytes), at);
		ssize_t went = got > 0 ? write_now(tty.error, bytes, (size_t)got) : 0;

		if (went <= 0)
			break;
		at += went;
	}
	if (tty.errors >= 0)
		lseek(tty.errors, 0, SEEK_SET);
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
	if (write(tty.wake, &one, sizeof(one)) < 0)
		errno = 0;
	errno = kept;
}

/* The handler was reset (SA_RESETHAND), so raise carries out the signal's default action. */
static void on_crash(int number)
{
	static const char words[] = "ktop: ktop ended: a fault of its own; start it again, and "
		"report what was done\n";

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

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * Keeps standard error in a file of a fixed size, allocated at the start. What is longer is cut. Where there can be no
 * such file, it is written over the screen.
 */
static void keep_errors(void)
{
	if (!isatty(STDERR_FILENO))
		return;
	tty.errors = memfd_create("ktop-stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	tty.error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (tty.errors < 0 || tty.error < 0 || ftruncate(tty.errors, ERRORS_MAX) != 0) {
		close_one(&tty.errors);
		return;
	}
	fcntl(tty.errors, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
	dup2(tty.errors, STDERR_FILENO);
}

static void close_all(void)
{
	if (tty.paper)
		fclose(tty.paper);
	tty.paper = NULL;
	close_one(&tty.wake);
	close_one(&tty.out);
	close_one(&tty.error);
	close_one(&tty.errors);
}

/*
 * Runs at exit and quick_exit, in any thread. Standard error is not put back here: if standard output is no terminal,
 * ncurses would take standard error for it.
 */
static void leave(void)
{
	give_back();
	tell_errors();
}

/* The terminal of both descriptors is the same. */
static bool is_same(int one, int other)
{
	unsigned a, b;

	return ioctl(one, TIOCGDEV, &a) == 0 && ioctl(other, TIOCGDEV, &b) == 0 && a == b;
}

/*
 * The terminal by a description of its own. That writes do not wait is said of the description, and ktop shares that
 * of its standard output with its shell. Under `su`, a user may not open it by its name. One that cannot be opened at
 * all is written to as any program does.
 */
static int open_again(void)
{
	static const char *const paths[] = { "/proc/self/fd/1", "/dev/tty" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		int fd = open(paths[i], O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

		if (fd >= 0 && is_same(fd, STDOUT_FILENO))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
}

static FILE *open_paper(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	FILE *paper = fd < 0 ? NULL : fdopen(fd, "w");

	if (!paper && fd >= 0)
		close(fd);
	return paper;
}

bool tty_open(const char *leaving, size_t size, char **error)
{
	tty.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	tty.out = open_again();
	tty.paper = open_paper();
	if (tty.wake < 0 || tty.out < 0 || !tty.paper ||
			tcgetattr(tty.out, &tty.modes) != 0 || atexit(leave) != 0 ||
			at_quick_exit(leave) != 0) {
		util_fail(error, "cannot open the screen: %s; %s", strerror(errno),
			util_open_remedy(errno, "use `ktop report`"));
		close_all();
		return false;
	}
	tty.leave_size = size < LEAVE_MAX ? size : LEAVE_MAX;
	memcpy(tty.leave, leaving, tty.leave_size);
	tty.ours = tty.modes;
	tty.writing = 0;
	tty.sent = 0;
	tty.cut = 0;
	tty.main = pthread_self();
	keep_errors();
	catch_all();
	tty.up = tty.open = true;
	return true;
}

/* Gives the terminal its last bytes, and the modes of before. One that nobody reads does not hold that up. */
static void give_last(void)
{
	uint64_t late = util_now() + (uint64_t)LAST_MS * NS_PER_MS;
	bool taken;

	while (!(taken = tty_flush() && has_room(tty.out, 0)) && util_now() < late)
		has_room(tty.out, LAST_MS);
	taken = taken && tty_is_whole();
	if (taken && in_foreground())
		tcsetattr(tty.out, TCSANOW, &tty.modes);
	else
		give_back();
	tty_drop();
	tty.up = 0;
}

/* A terminal may take nothing even after what it had was dropped. What is still to be told is lost then. */
static void put_errors_back(void)
{
	int nowhere = has_room(tty.error, 0) ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (tty.errors >= 0)
		dup2(nowhere < 0 ? tty.error : nowhere, STDERR_FILENO);
	if (nowhere < 0)
		tell_errors();
	else
		close(nowhere);
}

void tty_close(void)
{
	if (!tty.open)
		return;
	give_last();
	tty.open = false;
	catch_none();
	put_errors_back();
	close_all();
}

/* ---- while it is open ---- */

FILE *tty_paper(void)
{
	return tty.paper;
}

/* The file takes a further byte, which the next one replaces. If not, what was written before may have been cut. */
static bool takes_more(int memory)
{
	off_t end = lseek(memory, 0, SEEK_CUR);

	return write(memory, "", 1) == 1 && lseek(memory, end, SEEK_SET) == end;
}

bool tty_keep(void)
{
	int memory = memfd_create("ktop-screen", MFD_CLOEXEC), why;
	bool kept = memory >= 0 && takes_more(memory) && tcgetattr(tty.out, &tty.ours) == 0 &&
		dup2(memory, fileno(tty.paper)) >= 0 && fcntl(fileno(tty.paper), F_SETFD, FD_CLOEXEC) == 0;

	why = errno;
	if (memory >= 0)
		close(memory);
	errno = why;
	return kept;
}

bool tty_is_whole(void)
{
	if (!tty.cut && !takes_more(fileno(tty.paper)))
		tty.cut = errno;
	if (!tty.cut)
		return true;
	tty_drop();
	tty.came[TTY_QUIT] = 1;
	return false;
}

int tty_cut(void)
{
	return tty.cut;
}

bool tty_flush(void)
{
	int memory = fileno(tty.paper);
	off_t end = lseek(memory, 0, SEEK_CUR);
	char bytes[16384];

	tty.writing = 1;
	while (tty.up && tty.sent < end) {
		size_t left = (size_t)(end - tty.sent);
		ssize_t got = pread(memory, bytes, left < sizeof(bytes) ? left : sizeof(bytes), tty.sent);
		ssize_t went = got > 0 ? write_now(tty.out, bytes, (size_t)got) : 0;

		if (went < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		tty.sent = went > 0 ? tty.sent + went : end;	/* it may be gone */
	}
	tty.writing = 0;
	if (tty.up && tty.sent < end)
		return false;
	if (end > 0)
		tty_drop();
	return true;
}

void tty_drop(void)
{
	if (ftruncate(fileno(tty.paper), 0) == 0)
		tty.sent = lseek(fileno(tty.paper), 0, SEEK_SET);
}

int tty_behind(void)
{
	return lseek(fileno(tty.paper), 0, SEEK_CUR) > tty.sent ? tty.out : -1;
}

static bool is_to_end(void)
{
	return tty.came[TTY_HANGUP] || tty.came[TTY_QUIT];
}

bool tty_ours(void)
{
	return tty.up && in_foreground();
}

void tty_resume(void)
{
	tcsetattr(tty.out, TCSANOW, &tty.ours);
}

/* Stops this process alone, as the terminal's own Ctrl-Z would. */
bool tty_suspend(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL }, ours;

	give_last();
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

/* ---- signals ---- */

/* By signal(7), the signals whose default action ends the program. ktop ignores SIGPIPE and SIGXFSZ. */
static const int ending[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO,
	SIGPWR, SIGSTKFLT, SIGXCPU,
};
static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };

static void set_all(sigset_t *set, const int *numbers, size_t count)
{
	sigemptyset(set);
	for (size_t i = 0; i < count; i++)
		sigaddset(set, numbers[i]);
}

void signals_ending(sigset_t *set)
{
	set_all(set, ending, sizeof(ending) / sizeof(*ending));
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigaddset(set, number);
}

void signals_faults(sigset_t *set)
{
	set_all(set, faults, sizeof(faults) / sizeof(*faults));
}
