/* SPDX-License-Identifier: MIT */
/*
 * A terminal for tests. Runs a program on a new pty, as the foreground job of a shell, and does what the lines of
 * standard input say. A line that asks for something is answered by one line. Usage: pty LOG PROGRAM...
 * All that the program sends goes to LOG. A wait ends after LIMIT_MS: then the test has failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 180000, GAP_MS = 15, ROWS = 36, COLUMNS = 120, TIMES = 4096 };

static struct {
	int master, log, slave;
	pid_t shell, program;
	bool stuck;			/* nobody reads what the program sends */
	int status;			/* the program's exit status; -1: it runs */
	char *output;			/* of the program */
	size_t size, seen;		/* seen: up to what was awaited last */
	uint64_t last;			/* when output came last, in us */
	uint64_t bursts[TIMES];		/* when output last came after a gap, in us */
	size_t burst_count;
} pty = { .status = -1 };

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void die(const char *what)
{
	printf("failed: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the program ---- */

static void become_program(char **words)
{
	setpgid(0, 0);
	tcsetpgrp(STDIN_FILENO, getpid());
	signal(SIGTTOU, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	execvp(words[0], words);
	_exit(127);
}

/* A shell that does nothing but wait. It first tells us the program's pid. */
static void become_shell(int slave, int tell, char **words)
{
	pid_t program;
	int status = 0;

	close(pty.master);
	setsid();
	ioctl(slave, TIOCSCTTY, 0);
	for (int fd = 0; fd < 3; fd++)
		if (fd < 2 || !getenv("PTY_STDERR"))
			dup2(slave, fd);
	signal(SIGTTOU, SIG_IGN);
	if (getenv("PTY_NOHUP"))
		signal(SIGHUP, SIG_IGN);
	program = fork();
	if (program == 0)
		become_program(words);
	if (write(tell, &program, sizeof(program)) < 0)
		_exit(126);
	while (waitpid(program, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void start(char **words)
{
	struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
	int tell[2];

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (openpty(&pty.master, &pty.slave, NULL, NULL, &size) != 0 || pipe(tell) != 0)
		die("no pty");
	fcntl(pty.master, F_SETFD, FD_CLOEXEC);
	fcntl(pty.master, F_SETFL, O_NONBLOCK);
	fcntl(pty.slave, F_SETFD, FD_CLOEXEC);
	fcntl(tell[0], F_SETFD, FD_CLOEXEC);
	fcntl(tell[1], F_SETFD, FD_CLOEXEC);
	fcntl(pty.log, F_SETFD, FD_CLOEXEC);
	pty.shell = fork();
	if (pty.shell == 0)
		become_shell(pty.slave, tell[1], words);
	close(tell[1]);
	if (read(tell[0], &pty.program, sizeof(pty.program)) != sizeof(pty.program))
		die("no program");
	close(tell[0]);
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == pty.program || (pid == pty.shell && WIFEXITED(status)))
			pty.status = WIFEXITED(status) ? WEXITSTATUS(status) :
				128 + WTERMSIG(status);
}

/* ---- its output ---- */

static void take(const char *bytes, size_t size)
{
	uint64_t now = now_us();

	if (now - pty.last > GAP_MS * 1000 && pty.burst_count < TIMES)
		pty.bursts[pty.burst_count++] = now;
	pty.last = now;
	pty.output = realloc(pty.output, pty.size + size + 1);
	if (!pty.output || write(pty.log, bytes, size) != (ssize_t)size)
		die("no room");
	memcpy(pty.output + pty.size, bytes, size);
	pty.size += size;
	pty.output[pty.size] = '\0';
}

/* Takes the output that comes within `ms`. True: something came. */
static bool pump(int ms)
{
	struct pollfd fd = { .fd = pty.stuck ? -1 : pty.master, .events = POLLIN };
	char bytes[65536];
	ssize_t got = -1;

	reap();
	if (poll(&fd, 1, ms) > 0 && (fd.revents & POLLIN))
		got = read(pty.master, bytes, sizeof(bytes));
	else if (fd.revents)
		poll(NULL, 0, ms);
	if (got > 0)
		take(bytes, (size_t)got);
	return got > 0;
}

/* ---- what the script says ---- */

static size_t unescape(char *text)
{
	char *to = text, *from = text;

	while (*from) {
		if (from[0] == '\\' && from[1] == 'x') {
			char digits[3] = { from[2], from[3], 0 };

			*to++ = (char)strtoul(digits, NULL, 16);
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* Waits for a text in the output, behind the text that was awaited before. False: the program ended first. */
static bool await_or_end(char *text)
{
	uint64_t end = now_us() + LIMIT_MS * 1000;
	size_t size = unescape(text);

	for (;;) {
		char *from = pty.output ? pty.output + pty.seen : NULL;
		char *found = from ? memmem(from, pty.size - pty.seen, text, size) : NULL;

		if (found) {
			pty.seen = (size_t)(found - pty.output) + size;
			return true;
		}
		errno = 0;
		if (now_us() > end)
			die(text);
		if (pty.status >= 0)
			return false;
		pump(20);
	}
}

static void await(char *text)
{
	if (!await_or_end(text))
		die(text);
}

static void send_bytes(const char *bytes, size_t size)
{
	uint64_t end = now_us() + LIMIT_MS * 1000;

	while (size > 0) {
		ssize_t went = write(pty.master, bytes, size);

		if (went > 0) {
			bytes += went;
			size -= (size_t)went;
		}
		if (now_us() > end || pty.status >= 0)
			die("keys are not taken");
		pump(went > 0 ? 0 : 5);
	}
}

/* garbage SEED BYTES: types random bytes, but no q, Ctrl-C or Ctrl-Z. */
static void send_garbage(const char *words)
{
	unsigned seed, size;

	if (sscanf(words, "%u %u", &seed, &size) != 2)
		die("garbage");
	srand(seed);
	while (size > 0) {
		char bytes[1024];
		unsigned count = size < sizeof(bytes) ? size : sizeof(bytes);

		for (unsigned i = 0; i < count; i++) {
			bytes[i] = (char)(rand() >> 8);
			if (bytes[i] == 'q' || bytes[i] == 3 || bytes[i] == 26)
				bytes[i] = 'j';
		}
		send_bytes(bytes, count);
		size -= count;
	}
}

static void resize(unsigned rows, unsigned columns)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns };

	ioctl(pty.master, TIOCSWINSZ, &size);
	pump(0);
}

/* stuck: stops reading, and returns when the terminal takes nothing more from the program. */
static void stick(void)
{
	struct pollfd slave = { .fd = pty.slave, .events = POLLOUT };
	uint64_t end = now_us() + LIMIT_MS * 1000;

	pty.stuck = true;
	for (unsigned i = 0; poll(&slave, 1, 0) > 0; i++) {
		if (now_us() > end)
			die("stuck");
		resize(ROWS + i % 2, COLUMNS);
		pump(20);
	}
}

static void send_signal(const char *name)
{
	static const struct { const char *name; int number; } names[] = {
		{ "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT }, { "TERM", SIGTERM },
		{ "SEGV", SIGSEGV }, { "ABRT", SIGABRT }, { "TSTP", SIGTSTP }, { "CONT", SIGCONT },
		{ "STOP", SIGSTOP }, { "WINCH", SIGWINCH }, { "ALRM", SIGALRM }, { "USR1", SIGUSR1 },
		{ "USR2", SIGUSR2 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i].name, name) == 0 && kill(pty.program, names[i].number) == 0)
			return;
	die(name);
}

static char state(void)
{
	char path[64], text[512] = "";
	int fd, size = snprintf(path, sizeof(path), "/proc/%d/stat", (int)pty.program);
	char *end;

	fd = size > 0 ? open(path, O_RDONLY) : -1;
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 'X';
}

static void await_state(char wanted)
{
	uint64_t end = now_us() + LIMIT_MS * 1000;

	while (state() != wanted) {
		if (now_us() > end)
			die("state");
		pump(10);
	}
}

static void print_settings(void)
{
	struct termios now;

	if (tcgetattr(pty.slave, &now) != 0)
		die("settings");
	printf("settings %x %x %x %x\n", now.c_iflag, now.c_oflag, now.c_cflag, now.c_lflag);
}

static void await_end(void)
{
	uint64_t end = now_us() + LIMIT_MS * 1000;

	while (pty.status < 0) {
		if (now_us() > end)
			die("it does not end");
		pump(20);
	}
	while (!pty.stuck && pump(0))
		;
	printf("exit %d\n", pty.status);
}

/* ---- frames: output that comes after a gap ---- */

static void await_gap(void)
{
	uint64_t end = now_us() + LIMIT_MS * 1000;

	while (now_us() - pty.last <= GAP_MS * 1000 && now_us() < end)
		pump(1);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_size);
	return count ? values[count / 2] : 0;
}

/* frames MS, storm MS: prints how many frames came in that time. A storm changes the size all the time. */
static void count_frames(unsigned ms, bool storm)
{
	uint64_t begin, bytes;
	unsigned sizes = 0;

	await_gap();
	begin = now_us();
	bytes = pty.size;
	pty.burst_count = 0;
	while (now_us() - begin < ms * 1000ull) {
		pump(1);
		if (storm && ++sizes)
			resize((unsigned)rand() % 70, (unsigned)rand() % 250);
	}
	if (storm)
		resize(ROWS, COLUMNS);
	bytes = pty.size - bytes;
	printf("frames %zu in %u ms, %zu bytes each, %u sizes\n", pty.burst_count, ms,
		pty.burst_count ? (size_t)bytes / pty.burst_count : 0, sizes);
}

/*
 * answers N KEYS: types the keys in turn, each right behind a frame. Prints the shortest time until the output, since a
 * busy host may hold up the others, and the median time between two frames.
 */
static void time_answers(char *words)
{
	uint64_t keys[256], frames[256];
	char *text;
	size_t count = strtoul(words, &text, 10), size = unescape(text + 1);

	if (count == 0 || count > 256 || *text != ' ' || size == 0)
		die("answers");
	for (size_t i = 0; i < count; i++) {
		uint64_t before = pty.last;

		while (pty.last == before)
			pump(1);
		frames[i] = pty.last - before;
		await_gap();
		before = pty.last;
		keys[i] = now_us();
		send_bytes(text + 1 + i % size, 1);
		while (pty.last == before)
			pump(1);
		keys[i] = pty.last - keys[i];
		await_gap();
	}
	qsort(keys, count, sizeof(*keys), by_size);
	printf("answers %lu us, frames %lu us\n", (unsigned long)keys[0], (unsigned long)median(frames, count));
}

static bool obey(char *line)
{
	char *rest = line + strcspn(line, " ");
	bool more = true;

	if (*rest)
		*rest++ = '\0';
	if (strcmp(line, "await") == 0)
		await(rest);
	else if (strcmp(line, "keys") == 0)
		send_bytes(rest, unescape(rest));
	else if (strcmp(line, "quit") == 0 && await_or_end(rest))
		send_bytes("q", 1);
	else if (strcmp(line, "quit") == 0)
		;	/* the program has ended before */
	else if (strcmp(line, "garbage") == 0)
		send_garbage(rest);
	else if (strcmp(line, "size") == 0)
		resize((unsigned)strtoul(rest, &rest, 10), (unsigned)strtoul(rest, NULL, 10));
	else if (strcmp(line, "signal") == 0)
		send_signal(rest);
	else if (strcmp(line, "state") == 0)
		await_state(*rest);
	else if (strcmp(line, "stuck") == 0)
		stick();
	else if (strcmp(line, "read") == 0)
		pty.stuck = false;
	else if (strcmp(line, "hangup") == 0)
		more = close(pty.master) == 0 && close(pty.slave) == 0 && (pty.stuck = true);
	else if (strcmp(line, "settings") == 0)
		print_settings();
	else if (strcmp(line, "frames") == 0 || strcmp(line, "storm") == 0)
		count_frames((unsigned)strtoul(rest, NULL, 10), line[0] == 's');
	else if (strcmp(line, "answers") == 0)
		time_answers(rest);
	else if (strcmp(line, "shell") == 0)
		printf("shell %d\n", system(rest));
	else if (strcmp(line, "end") == 0)
		await_end();
	else
		die(line);
	return more;
}

int main(int count, char **words)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t size;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	pty.log = count > 2 ? open(words[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
	if (pty.log < 0)
		die("usage: pty LOG PROGRAM...");
	start(words + 2);
	while ((size = getline(&line, &room, stdin)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] && line[0] != '#' && !obey(line))
			break;
	}
	free(line);
	free(pty.output);
	return 0;
}
