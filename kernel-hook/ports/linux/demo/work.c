/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Work of which the share of each function is known. `work getppid`, `work zero` and `work fault` go on until they are
 * ended. The others do the same work each time, and print how many ns it took: `work mix` many things; `work calls` a
 * system call that does nothing, 200,000 times; `work ping` 4,000 round trips between two processes; `work stat`
 * reads a file of /proc 2,000 times, for which the kernel allocates and frees.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The C library's syscall() has no frame: its caller would be missing in stacks. */
static __attribute__((noinline)) void getppid_loop(void)
{
	long result;

	for (;;)
		__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
}

static __attribute__((noinline)) void zero_loop(int zero)
{
	static char page[4096];

	while (read(zero, page, sizeof(page)) > 0)
		;
}

/* The kernel itself writes to each page, and so takes the page fault. */
static __attribute__((noinline)) void fault_loop(int zero)
{
	enum { SIZE = 64 * 4096 };

	for (;;) {
		void *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED || read(zero, pages, SIZE) != SIZE)
			return;
		munmap(pages, SIZE);
	}
}

static long long now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void read_file(const char *path)
{
	char text[4096];
	int file = open(path, O_RDONLY);

	while (read(file, text, sizeof(text)) > 0)
		;
	close(file);
}

static void calls(void)
{
	for (int i = 0; i < 200000; i++)
		syscall(SYS_getppid);
}

static void stat(void)
{
	for (int i = 0; i < 2000; i++)
		read_file("/proc/self/stat");
}

static void mix(void)
{
	volatile unsigned sum = 0;

	calls();
	stat();
	for (unsigned i = 0; i < 20000000; i++)
		sum += i;
}

static void ping(void)
{
	int there[2], back[2];
	char byte = 0;

	if (pipe(there) < 0 || pipe(back) < 0)
		return;
	if (fork() == 0) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	for (int i = 0; i < 4000; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return;
	close(there[1]);
	wait(NULL);
}

static int timed(void (*work)(void))
{
	long long begin = now();

	work();
	printf("%lld\n", now() - begin);
	return 0;
}

int main(int count, char **words)
{
	static const struct { const char *name; void (*work)(void); } works[] = {
		{ "mix", mix }, { "calls", calls }, { "ping", ping }, { "stat", stat },
	};
	const char *work = count == 2 ? words[1] : "";

	if (strcmp(work, "getppid") == 0)
		getppid_loop();
	if (strcmp(work, "zero") == 0)
		zero_loop(open("/dev/zero", O_RDONLY));
	if (strcmp(work, "fault") == 0)
		fault_loop(open("/dev/zero", O_RDONLY));
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		if (strcmp(work, works[i].name) == 0)
			return timed(works[i].work);
	fprintf(stderr, "work: getppid, zero, fault, mix, calls, ping or stat\n");
	return 2;
}
