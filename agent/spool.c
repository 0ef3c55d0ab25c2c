#include <errno.h>
#include <fcntl.h>
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

/* 0, or errno. */
static int copy(int from, int to)
{
	char bytes[READ_BYTES];
	size_t size = 0;
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) > 0) {
		size += (size_t)got;
		if (size > SPOOL_MAX)
			return EFBIG;
		if (!write_all(to, bytes, (size_t)got))
			return errno;
	}
	return got < 0 ? errno : 0;
}

static bool keep(struct spool *spool, const char *path, char **error)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), why = from < 0 ? errno : 0;

	if (!why && (spool->fd = memfd_create("ktop-spool", MFD_CLOEXEC)) < 0)
		why = errno;
	if (!why)
		why = copy(from, spool->fd);
	if (from >= 0)
		close(from);
	if (why)
		return util_fail(error, "cannot read %s: %s; give a file", path, strerror(why));
	spool->path = util_format("/proc/self/fd/%d", spool->fd);
	return true;
}

bool spool_open(struct spool *spool, const char *path, char **error)
{
	struct stat is;

	if (stat(path, &is) == 0 && S_ISFIFO(is.st_mode))
		return keep(spool, path, error);
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
