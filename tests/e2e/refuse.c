/* SPDX-License-Identifier: MIT */
/*
 * Loaded before the program's other libraries (LD_PRELOAD). Allocation number REFUSE, from 0, fails once. Its stack is
 * written to the file REFUSED, so the file exists exactly when an allocation was refused.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { FRAMES = 40 };

/* The C library's own functions, which are replaced here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static atomic_long counted;
static _Thread_local bool exempt;

static void tell(void)
{
	void *frames[FRAMES];
	int fd = open(getenv("REFUSED"), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	exempt = true;
	backtrace_symbols_fd(frames, backtrace(frames, FRAMES), fd);
	close(fd);
	exempt = false;
}

static bool refuse(void)
{
	const char *number = exempt ? NULL : getenv("REFUSE");

	if (!number || atomic_fetch_add(&counted, 1) != atol(number))
		return false;
	tell();
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return refuse() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return refuse() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return refuse() ? NULL : __libc_realloc(memory, size);
}
