/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "unnamed_file.h"

const char *unnamed_file_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

int unnamed_file_open(const char *folder)
{
	char *path = util_format("%s/ktop-XXXXXX", folder);
	int fd = mkostemp(path, O_CLOEXEC), why = errno;

	if (fd >= 0)
		unlink(path);
	free(path);
	errno = why;
	return fd;
}

/* Counts what was written or read. False: that is not possible; none is `nothing`. */
static bool count(ssize_t got, int nothing, size_t *done)
{
	if (got < 0)
		return errno == EINTR;
	if (got == 0)
		errno = nothing;
	*done += (size_t)got;
	return got > 0;
}

bool unnamed_file_write(int fd, const void *bytes, size_t size, uint64_t offset)
{
	for (size_t done = 0; done < size;)
		if (!count(pwrite(fd, (const char *)bytes + done, size - done, (off_t)(offset + done)), ENOSPC, &done))
			return false;
	return true;
}

bool unnamed_file_read(int fd, void *to, size_t size, uint64_t offset)
{
	for (size_t done = 0; done < size;)
		if (!count(pread(fd, (char *)to + done, size - done, (off_t)(offset + done)), EIO, &done))
			return false;
	return true;
}
