/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "launch_folder.h"

#define PREFIX "ktop-run-"

enum {
	OLD_S = 60,			/* an empty folder is older than this: nobody is about to lock it */
	PARENT_MOST = 80,		/* bytes of its path: those of a socket in the folder are 107 at most */
};

/* Opens and locks a folder of this user, or any for root, that nobody has locked. -1: it is not such a folder. */
static int lock_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat is;

	if (fd >= 0 && fstat(fd, &is) == 0 && (is.st_uid == getuid() || getuid() == 0) &&
			flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Returns how many of the files there were. */
static int remove_files(int fd)
{
	return (unlinkat(fd, LAUNCH_QMP, 0) == 0) + (unlinkat(fd, LAUNCH_PORT, 0) == 0) +
		(unlinkat(fd, LAUNCH_PLUGIN, 0) == 0) + (unlinkat(fd, LAUNCH_GDB, 0) == 0);
}

static bool is_old(int fd)
{
	struct stat is;

	return fstat(fd, &is) == 0 && is.st_mtime < time(NULL) - OLD_S;
}

/* Keeps an empty folder for a while: another ktop may have just made it, and be about to lock it. */
static void remove_left(const char *path)
{
	int fd = lock_folder(path);

	if (fd < 0)
		return;
	if (remove_files(fd) || is_old(fd))
		rmdir(path);
	close(fd);
}

static void remove_all_left(const char *parent)
{
	DIR *entries = opendir(parent);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		char *path = util_format("%s/%s", parent, entry->d_name);

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			remove_left(path);
		free(path);
	}
	if (entries)
		closedir(entries);
}

/* May sockets lie there? Their paths are bounded, and QEMU reads them as a part of an option, or of a command. */
static bool fits(const char *parent)
{
	return parent[0] == '/' && !parent[strcspn(parent, ",=:; \t\n\"'\\")] && strlen(parent) < PARENT_MOST;
}

bool launch_folder_make(struct launch_folder *folder, uid_t user, char **error)
{
	bool others = getuid() == 0 && user != 0 && user != (uid_t)-1;
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *parent = runtime && fits(runtime) && !others ? runtime : "/tmp";
	char *path = util_format("%s/" PREFIX "XXXXXX", parent);

	remove_all_left(parent);
	if (mkdtemp(path))
		folder->lock = lock_folder(path);
	if (folder->lock >= 0 && (!others || fchown(folder->lock, user, (gid_t)-1) == 0)) {
		folder->path = path;
		return true;
	}
	util_fail(error, "%s: no folder made: %s; %s", path, strerror(errno),
		util_open_remedy(errno, "is there room, and may you write there?"));
	if (folder->lock >= 0)
		close(folder->lock);
	folder->lock = -1;
	free(path);
	return false;
}

void launch_folder_remove(struct launch_folder *folder)
{
	if (!folder->path)
		return;
	remove_files(folder->lock);
	rmdir(folder->path);
	close(folder->lock);
	free(folder->path);
	*folder = (struct launch_folder) { .lock = -1 };
}

void launch_folder_leave(struct launch_folder *folder)
{
	close(folder->lock);
	free(folder->path);
	*folder = (struct launch_folder) { .lock = -1 };
}
