/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The work of the demo guest. The name by which the program is called chooses the kind: `files`, `processes`, `pipes`,
 * `loopback`, `memory` are links to it. It works until it is ended. If something fails, it says what, and ends.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 8192, NUMBERS = 20000, MESSAGES = 1000, PORT = 4000 };

static void need(int works, const char *what)
{
	if (works)
		return;
	perror(what);
	exit(1);
}

/* Results are stored here, though nobody reads them: the compiler would leave out work without a result. */
static volatile unsigned result;

/* ---- files: reads each file below /sys/devices ---- */

static unsigned checksum(const unsigned char *bytes, ssize_t size)
{
	unsigned sum = 1;

	for (ssize_t i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

static int read_file(const char *path, const struct stat *about, int type, struct FTW *place)
{
	static unsigned char bytes[CHUNK];
	int file = type == FTW_F && about->st_mode & S_IRUSR ? open(path, O_RDONLY | O_NONBLOCK) : -1;

	(void)place;
	if (file < 0)
		return 0;
	result += checksum(bytes, read(file, bytes, sizeof(bytes)));
	close(file);
	return 0;
}

static void read_files(void)
{
	need(nftw("/sys/devices", read_file, 20, FTW_PHYS) == 0, "files");
}

/* ---- processes: starts short processes, which sort ---- */

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

static int sort_numbers(void)
{
	static unsigned numbers[NUMBERS];
	unsigned seed = 1;

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = seed = seed * 1664525 + 1013904223;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
	result = numbers[NUMBERS / 2];
	return 0;
}

static void make_process(void)
{
	pid_t child = fork();

	need(child >= 0, "processes");
	if (child == 0) {
		execl("/bin/sorter", "sorter", NULL);
		_exit(1);
	}
	need(waitpid(child, NULL, 0) == child, "processes");
}

/* ---- pipes and loopback: one process sends, another one receives ---- */

static void translate(unsigned char *bytes)
{
	for (int i = 0; i < CHUNK; i++)
		bytes[i] = (unsigned char)(bytes[i] * 7 + 'a');
}

static void send_all(int to)
{
	static unsigned char bytes[CHUNK];

	for (int i = 0; i < MESSAGES; i++) {
		translate(bytes);
		need(write(to, bytes, sizeof(bytes)) == sizeof(bytes), "send");
	}
	close(to);
}

static void take_all(int from)
{
	static unsigned char bytes[CHUNK];
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		result += checksum(bytes, got);
	close(from);
}

static void use_pipe(void)
{
	int ends[2];

	need(pipe(ends) == 0, "pipes");
	if (fork() == 0) {
		close(ends[0]);
		send_all(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	take_all(ends[0]);
	wait(NULL);
}

static void use_loopback(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int door = socket(AF_INET, SOCK_STREAM, 0), again = 1;

	setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &again, sizeof(again));
	need(bind(door, (struct sockaddr *)&here, sizeof(here)) == 0 && listen(door, 1) == 0, "loopback");
	if (fork() == 0) {
		int line = socket(AF_INET, SOCK_STREAM, 0);

		need(connect(line, (struct sockaddr *)&here, sizeof(here)) == 0, "loopback");
		send_all(line);
		_exit(0);
	}
	take_all(accept(door, NULL, NULL));
	close(door);
	wait(NULL);
}

/* ---- memory: reads more than it may keep in memory ---- */

static void read_disk(void)
{
	static unsigned char bytes[CHUNK];
	int disk = open("/dev/ram0", O_RDONLY);

	need(disk >= 0, "memory");
	while (read(disk, bytes, sizeof(bytes)) > 0)
		result += bytes[0];
	close(disk);
}

static const struct {
	const char *name;
	void (*once)(void);
} kinds[] = {
	{ "files", read_files }, { "processes", make_process }, { "pipes", use_pipe },
	{ "loopback", use_loopback }, { "memory", read_disk },
};

int main(int count, char **words)
{
	const char *name = count ? strrchr(words[0], '/') : NULL;

	name = name ? name + 1 : words[0];
	if (strcmp(name, "sorter") == 0)
		return sort_numbers();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(name, kinds[i].name) == 0)
			for (;;)
				kinds[i].once();
	fprintf(stderr, "load: files, processes, pipes, loopback or memory\n");
	return 2;
}
