/* SPDX-License-Identifier: MIT */
/*
 * A long piece of work, wherever it may be: a program that has this preloaded stands still at allocation number STALL,
 * from 0, as long as the file STALLED exists. If STALL is a path, it does so where its main thread frees memory while
 * that file is not empty. One beside STALLED, with ".reached" behind its name, says that it does. At the program's end
 * the number of its allocations is in the file STALL_COUNT, if that is set.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The C library's own functions, which are replaced here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static atomic_long counted;

static void stall(void)
{
	const char *stalled = getenv("STALLED");
	char reached[4096];

	snprintf(reached, sizeof(reached), "%s.reached", stalled);
	close(open(reached, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while (access(stalled, F_OK) == 0)
		usleep(10000);
}

static void take_count(void)
{
	const char *number = getenv("STALL");

	if (atomic_fetch_add(&counted, 1) == (number && *number != '/' ? atol(number) : -1))
		stall();
}

static __attribute__((destructor)) void tell(void)
{
	const char *path = getenv("STALL_COUNT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%ld\n", atomic_load(&counted));
	close(fd);
}

void *malloc(size_t size)
{
	take_count();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	take_count();
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	take_count();
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	const char *path = getenv("STALL");
	struct stat file;

	if (path && *path == '/' && gettid() == getpid() && stat(path, &file) == 0 && file.st_size)
		stall();
	__libc_free(memory);
}
