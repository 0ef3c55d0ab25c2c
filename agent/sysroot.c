#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sysroot.h"
#include "util.h"

/* A path that begins at the root, and does not lead above it. */
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

char *sysroot_path(const char *folder, const char *path, size_t size)
{
	char *name, *link, *found;
	int fd;

	if (!is_path(path, size))
		return NULL;
	name = util_copy(path, size);
	fd = open_below(folder, name);
	free(name);
	if (fd < 0)
		return NULL;
	link = util_format("/proc/self/fd/%d", fd);
	found = realpath(link, NULL);
	free(link);
	close(fd);
	return found;
}
