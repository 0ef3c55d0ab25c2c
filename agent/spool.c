#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool.h"
#include "util.h"

enum { SPOOL_MAX = 512 << 20, READ_BYTES = 65536 };	/* bytes */

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

/* Is there something to read, or the end, before the patience ends? A pipe may have no writer. */
static bool await(int fd, int wait_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, wait_ms) > 0;
}

/* NULL, or why not. */
static const char *copy(int from, int to, int wait_ms)
{
	char bytes[READ_BYTES];
	size_t size = 0;
	ssize_t got;

	do {
		if (!await(from, wait_ms))
			return "nobody writes into this pipe";
		got = read(from, bytes, sizeof(bytes));
		if (got > 0 && (size += (size_t)got) > SPOOL_MAX)
			return strerror(EFBIG);
		if (got > 0 && !write_all(to, bytes, (size_t)got))
			return strerror(errno);
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	return got < 0 ? strerror(errno) : NULL;
}

/* Opened so that it does not wait for a writer: who waits in open() cannot say for what. */
static bool keep(struct spool *spool, const char *path, int wait_ms, char **error)
{
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *why = from < 0 ? strerror(errno) : NULL;

	if (!why && (spool->fd = memfd_create("ktop-spool", MFD_CLOEXEC)) < 0)
		why = strerror(errno);
	if (!why)
		why = copy(from, spool->fd, wait_ms);
	if (from >= 0)
		close(from);
	if (why)
		return util_fail(error, "cannot read %s: %s; give a file", path, why);
	spool->path = util_format("/proc/self/fd/%d", spool->fd);
	return true;
}

bool spool_open(struct spool *spool, const char *path, int wait_ms, char **error)
{
	struct stat is;

	if (stat(path, &is) == 0 && S_ISFIFO(is.st_mode))
		return keep(spool, path, wait_ms, error);
	spool->path = util_copy(path, strlen(path));
	return true;
}

void spool_close(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->path);
	*spool = (struct spool){ .fd = -1 };
}
