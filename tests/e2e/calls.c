/* SPDX-License-Identifier: MIT */
/* For tests of stacks: a program of a guest that is nearly always in its kernel, by system calls and by page faults. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

enum { ROOM = 1 << 16, PAGE = 4096 };

static KEPT long calls_inner(int fd, volatile char *bytes)
{
	long sum = 0;

	madvise((void *)bytes, ROOM, MADV_DONTNEED);
	for (int at = 0; at < ROOM; at += PAGE)
		sum += bytes[at];
	return sum + read(fd, (void *)bytes, ROOM);
}

static KEPT long calls_middle(int fd, volatile char *bytes)
{
	return calls_inner(fd, bytes) * 3;
}

static KEPT long calls_outer(int fd, volatile char *bytes)
{
	return calls_middle(fd, bytes) * 5;
}

int main(void)
{
	volatile char *bytes = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/dev/zero", O_RDONLY);

	for (volatile long value = 0;;)
		value = calls_outer(fd, bytes);
}
