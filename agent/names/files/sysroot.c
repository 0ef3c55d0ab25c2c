/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "sysroot.h"

/* True for a path that begins at the root and does not lead above it. */
static bool is_path(const char *path, size_t size)
{
	if (size == 0 || path[0] != '/' || memchr(path, '\0', size))
		return false;
	for (size_t at = 0; at + 2 < size; at++)
		if (memcmp(path + at, "/..", 3) == 0)
			return false;
	return true;
}

static int open_below(const char *folder, const char *name)
{
	const struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	long fd = root < 0 ? -1 : syscall(SYS_openat2, root, name, &how, sizeof(how));

	if (root >= 0)
		close(root);
	return (int)fd;
}

/* Opens it for reading once it is known to be a regular file: opening a pipe or a device may wait for ever. */
static int open_found(int place, char **found)
{
	char *link = util_format("/proc/self/fd/%d", place);
	int fd = util_file_read(AT_FDCWD, link, 0, NULL);

	*found = NULL;
	if (fd >= 0 && !(*found = realpath(link, NULL))) {
		close(fd);
		fd = -1;
	}
	free(link);
	return fd;
}

int sysroot_open(const char *folder, const char *path, size_t size, char **found)
{
	int place = -1, fd = -1;
	char *name;

	*found = NULL;
	if (is_path(path, size)) {
		name = util_copy(path, size);
		place = open_below(folder, name);
		free(name);
	}
	if (place >= 0) {
		fd = open_found(place, found);
		close(place);
	}
	return fd;
}
