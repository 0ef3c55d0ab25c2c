/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "util.h"
#include "util_file.h"

#define PREFIX ".ktop-"			/* begins the temporary name of a file */
#define SUFFIX ".partial"

enum {
	NAMES_MAX = 100000,		/* the most names that are tried */
	BUFFER = 1 << 16,		/* bytes of the stream's buffer */
};

struct util_file {
	FILE *stream;
	int fd;				/* the stream's; locked, so that others know the file is being written */
	int why;			/* errno of the first write that failed: the stream forgets it; 0: none has */
	char *path, *folder;
	char *temporary;		/* the temporary name; NULL: it has none */
	char buffer[BUFFER];		/* the stream's: without one of ours it has a smaller one */
};

static void file_free(struct util_file *file)
{
	free(file->temporary);
	free(file->folder);
	free(file->path);
	free(file);
}

static bool file_fail(const struct util_file *file, int why, char **error)
{
	return util_fail(error, "%s: not written: %s; %s", file->path, strerror(why),
		util_open_remedy(why, "choose another folder, or make room"));
}

/* ---- reading ---- */

char *util_file_absolute(const char *path)
{
	char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);
	char *whole = util_format("%s%s%s", folder ? folder : "", folder ? "/" : "", path);

	free(folder);
	return whole;
}

bool util_file_is_folder(const char *option, const char *path, char **error)
{
	struct stat is;

	return !path || (stat(path, &is) == 0 && S_ISDIR(is.st_mode)) ||
		util_fail(error, "--%s %s: no such folder; give one that is there", option, path);
}

int util_file_read(int folder, const char *path, int flags, const char **why)
{
	int fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
	const char *what = NULL;
	struct stat is;

	if (fd < 0 || fstat(fd, &is) != 0)
		what = errno == ENXIO ? "not a regular file" : strerror(errno);
	else if (!S_ISREG(is.st_mode))
		what = S_ISDIR(is.st_mode) ? strerror(EISDIR) : "not a regular file";
	if (!what)
		return fd;
	if (why)
		*why = what;
	if (fd >= 0) {
		close(fd);
		errno = EINVAL;
	}
	return -1;
}

/* ---- temporary names ---- */

static bool is_partial(const char *name)
{
	size_t size = strlen(name);

	return size > strlen(PREFIX SUFFIX) && strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
		strcmp(name + size - strlen(SUFFIX), SUFFIX) == 0;
}

/* Removes a temporary file, unless it is locked: then it is being written. */
static void remove_left(const char *path)
{
	int fd = util_file_read(AT_FDCWD, path, O_NOFOLLOW, NULL);
	struct stat is;

	if (fd >= 0 && fstat(fd, &is) == 0 && is.st_uid == getuid() &&
			flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlink(path);
	if (fd >= 0)
		close(fd);
}

static void remove_all_left(const char *folder)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		char *path = util_format("%s/%s", folder, entry->d_name);

		if (is_partial(entry->d_name))
			remove_left(path);
		free(path);
	}
	if (entries)
		closedir(entries);
}

static char *partial_name(const char *folder)
{
	static atomic_uint next;

	return util_format("%s/" PREFIX "%d-%u" SUFFIX, folder, (int)getpid(),
		atomic_fetch_add(&next, 1));
}

/* Another program that cleans up may remove the file just before it is locked: then tries the next name. */
static int open_named(struct util_file *file)
{
	for (int i = 0; i < NAMES_MAX; i++) {
		struct stat is;
		int fd;

		free(file->temporary);
		file->temporary = partial_name(file->folder);
		fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -1;
		flock(fd, LOCK_EX | LOCK_NB);
		if (fstat(fd, &is) == 0 && is.st_nlink > 0)
			return fd;
		close(fd);
	}
	errno = EEXIST;
	return -1;
}

/* ---- opening ---- */

/* Through this link, a file without a name can be given one. */
static char *link_of(int fd)
{
	return util_format("/proc/self/fd/%d", fd);
}

static int open_unnamed(const struct util_file *file)
{
	int fd = open(file->folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	char *link;

	if (fd < 0)
		return -1;
	link = link_of(fd);
	if (access(link, F_OK) != 0) {
		close(fd);
		fd = -1;
	}
	free(link);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/* The real path of the file, which may not exist yet. NULL with `error` set: it is no regular file. */
static char *file_path(const char *path, char **error)
{
	char *whole = realpath(path, NULL);
	struct stat is;

	if (lstat(whole ? whole : path, &is) == 0 && !S_ISREG(is.st_mode)) {
		util_fail(error, "%s: not written: it is %s; name a file", path,
			S_ISDIR(is.st_mode) ? "a folder" :
			S_ISLNK(is.st_mode) ? "a link that leads nowhere" :
			"a device, a pipe or a socket");
		free(whole);
		return NULL;
	}
	return whole ? whole : util_copy(path, strlen(path));
}

static char *folder_of(const char *path)
{
	const char *end = strrchr(path, '/');

	if (!end)
		return util_copy(".", 1);
	return end == path ? util_copy("/", 1) : util_copy(path, (size_t)(end - path));
}

/* ---- the stream, which notes why a write has failed ---- */

/*
 * Returns how many bytes were written; fewer: it has failed. Where some were written, only the next write tells why no
 * more were.
 */
static ssize_t write_bytes(void *context, const char *bytes, size_t size)
{
	struct util_file *file = context;
	size_t done = 0;

	while (done < size) {
		ssize_t went = write(file->fd, bytes + done, size - done);

		if (went < 0 && errno == EINTR)
			continue;
		if (went < 0 && !file->why)
			file->why = errno;
		if (went < 0)
			break;
		done += (size_t)went;
	}
	return (ssize_t)done;
}

static int close_file(void *context)
{
	struct util_file *file = context;

	return close(file->fd);
}

static FILE *open_stream(struct util_file *file)
{
	FILE *stream = fopencookie(file, "w", (cookie_io_functions_t) { .write = write_bytes, .close = close_file });

	if (stream)
		setvbuf(stream, file->buffer, _IOFBF, BUFFER);
	return stream;
}

struct util_file *util_file_open(const char *path, char **error)
{
	char *whole = file_path(path, error);
	struct util_file *file;

	if (!whole)
		return NULL;
	file = util_alloc(sizeof(*file));
	file->path = whole;
	file->folder = folder_of(whole);
	remove_all_left(file->folder);
	file->fd = open_unnamed(file);
	if (file->fd < 0)
		file->fd = open_named(file);
	if (file->fd >= 0 && (file->stream = open_stream(file)))
		return file;

	file_fail(file, errno, error);
	if (file->fd >= 0) {
		close(file->fd);
		if (file->temporary)
			unlink(file->temporary);
	}
	file_free(file);
	return NULL;
}

FILE *util_file_stream(struct util_file *file)
{
	return file->stream;
}

/* ---- naming ---- */

/* Gives the file this name, if the name is free. False with errno. */
static bool name_new(struct util_file *file, const char *name)
{
	char *link;
	bool good;

	if (file->temporary)
		return renameat2(AT_FDCWD, file->temporary, AT_FDCWD, name, RENAME_NOREPLACE) == 0 ||
			(errno == EINVAL && linkat(AT_FDCWD, file->temporary, AT_FDCWD, name, 0) == 0 &&
			unlink(file->temporary) == 0);
	link = link_of(file->fd);
	good = linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
	free(link);
	return good;
}

/* Replaces the file at the path. A file without a name cannot be renamed, so it gets a temporary name first. */
static bool name_over(struct util_file *file)
{
	for (int i = 0; !file->temporary && i < NAMES_MAX; i++) {
		char *name = partial_name(file->folder);

		if (name_new(file, name)) {
			file->temporary = name;
			break;
		}
		free(name);
		if (errno != EEXIST)
			return false;
	}
	return rename(file->temporary, file->path) == 0;
}

static char *numbered(const char *path, unsigned number)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	int base = dot ? (int)(dot - path) : (int)strlen(path);

	return number < 2 ? util_copy(path, strlen(path)) :
		util_format("%.*s-%u%s", base, path, number, path + base);
}

/* Returns 0, or the errno why not all of the stream's bytes are on the disk. */
static int flush(struct util_file *file)
{
	bool good = fflush(file->stream) == 0 && !ferror(file->stream) && fsync(file->fd) == 0;

	return good ? 0 : file->why ? file->why : errno;
}

static bool finish(struct util_file *file, int why, char **error)
{
	if (fclose(file->stream) != 0 && !why)
		why = errno;
	if (why) {
		if (file->temporary)
			unlink(file->temporary);
		file_fail(file, why, error);
	}
	file_free(file);
	return !why;
}

bool util_file_commit(struct util_file *file, char **error)
{
	int why = flush(file);

	if (!why && !name_new(file, file->path) && (errno != EEXIST || !name_over(file)))
		why = errno;
	return finish(file, why, error);
}

char *util_file_commit_new(struct util_file *file, char **error)
{
	int why = flush(file);
	char *name = NULL;

	for (unsigned i = 1; !why && !name; i++) {
		name = numbered(file->path, i);
		if (name_new(file, name))
			break;
		why = errno == EEXIST && i < NAMES_MAX ? 0 : errno;
		free(name);
		name = NULL;
	}
	if (finish(file, why, error))
		return name;
	free(name);
	return NULL;
}

void util_file_discard(struct util_file *file)
{
	if (!file)
		return;
	fclose(file->stream);
	if (file->temporary)
		unlink(file->temporary);
	file_free(file);
}

/* Without this ending, or as it was. A '.' at the beginning of a name begins no ending. */
static size_t without_ending(const char *name, size_t size, const char *ending)
{
	size_t length = strlen(ending);

	return size > length && memcmp(name + size - length, ending, length) == 0 ? size - length : size;
}

char *util_file_written_as(const char *path, const char *format)
{
	return util_format("%s: written as %s, by its last ending; --format chooses another", path, format);
}

char *util_file_ends_twice(const char *path, const char *ending, const char *format)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *own = util_format(".%s", format);
	size_t size = without_ending(name, strlen(name), ending);

	if (!name[size])			/* the format's name stands for the first part of its ending */
		size = without_ending(name, without_ending(name, size, strrchr(ending, '.')), own);
	free(own);
	return size && memchr(name + 1, '.', size - 1) ? util_file_written_as(path, format) : NULL;
}

/* ---- unnamed files, for a time ---- */

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

/* ---- spool ---- */

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
