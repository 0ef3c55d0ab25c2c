/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "spool.h"
#include "util.h"

enum { READ_BYTES = 65536 };

static bool write_all(int to, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t went = write(to, bytes, size);

		if (went < 0)
			return false;
		bytes += went;
		size -= (size_t)went;
	}
	return true;
}

/* Waits for something to read, or the end. False: nothing within wait_ms. */
static bool await(int fd, int wait_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, wait_ms) > 0;
}

/* Copies everything. Returns NULL, or why it could not. */
static const char *copy(struct spool *spool, int from, int wait_ms)
{
	char bytes[READ_BYTES];
	ssize_t got;

	do {
		got = read(from, bytes, sizeof(bytes));
		if (got == 0 && !spool->size)
			return "nobody writes into this pipe";
		if (got < 0 && errno == EAGAIN && !await(from, wait_ms))
			return "its writer writes nothing";
		if (got > 0 && !budget_take(spool->budget, (size_t)got))
			return "there is no memory for it (--memory gives more)";
		spool->size += got > 0 ? (size_t)got : 0;
		if (got > 0 && !write_all(spool->fd, bytes, (size_t)got))
			return strerror(errno);
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	return got < 0 ? strerror(errno) : NULL;
}

/* Opens without waiting for a writer: a wait in open() could not be told to the user. */
static bool keep(struct spool *spool, const char *path, int wait_ms, char **error)
{
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why = from < 0 ? strerror(errno) : NULL;

	if (!why && (spool->fd = memfd_create("ktop-spool", MFD_CLOEXEC)) < 0)
		why = strerror(errno);
	if (!why) {
		spool->copying = true;
		why = copy(spool, from, wait_ms);
		spool->copying = false;
	}
	if (from >= 0)
		close(from);
	if (why) {
		if (spool->fd >= 0)
			close(spool->fd);
		budget_give(spool->budget, spool->size);
		spool->spent = spool->size;
		spool->fd = -1;
		spool->size = 0;
		return util_fail(error, "cannot read %s: %s; give a file", path, why);
	}
	spool->path = util_format("/proc/self/fd/%d", spool->fd);
	return true;
}

bool spool_open(struct spool *spool, const char *path, int wait_ms, struct budget *budget,
	char **error)
{
	struct stat is;

	spool->budget = budget;
	if (stat(path, &is) == 0 && S_ISFIFO(is.st_mode))
		return keep(spool, path, wait_ms, error);
	spool->path = util_copy(path, strlen(path));
	return true;
}

void spool_close(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	budget_give(spool->budget, spool->size);
	free(spool->path);
	*spool = (struct spool) { .fd = -1 };
}
