/* SPDX-License-Identifier: MIT */
/*
 * A file that appears under its name only when it is complete: write to util_file_stream, then commit
 * (flush, fsync, give the name) or discard. Its mode is 0600. A symbolic link is followed; anything but a
 * regular file at the path is left alone. Until the commit the file has no name, so a killed program leaves
 * nothing. If the file system cannot do that, the file has a temporary name, and the next util_file_open in
 * that folder removes what was left. Waits for the disk.
 */
#ifndef UTIL_FILE_H
#define UTIL_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct util_file;

/*
 * The one door for files that are read by a name from outside. It never waits, whatever the name leads to: a pipe or a
 * device may wait for ever, so only a regular file is opened. -1: there is none; *why says so, as errno does. `why` may
 * be NULL. `folder`: where a relative path begins, or AT_FDCWD. `flags`: more flags of open(), such as O_NOFOLLOW.
 */
int util_file_read(int folder, const char *path, int flags, const char **why);

/* Is the value of this option a folder, or NULL? Waits for nobody. False with `error` set. */
bool util_file_is_folder(const char *option, const char *path, char **error);

/* In fresh memory: the path for a reader in another folder. It is relative still if this folder has no path. */
char *util_file_absolute(const char *path);

/*
 * What to say where a format was chosen by the ending of the file's name, and another ending before it may have meant
 * another one, as in "x.foo.json". NULL: nothing; else in fresh memory.
 */
char *util_file_ends_twice(const char *path, const char *ending, const char *format);
char *util_file_written_as(const char *path, const char *format);	/* what it says */

/* NULL with `error` set. util_file_stream: to write to, until the commit. */
struct util_file *util_file_open(const char *path, char **error);
FILE *util_file_stream(struct util_file *file);
void util_file_discard(struct util_file *file);		/* NULL is allowed */

/* Replaces the file of that name. False with `error` set; frees `file` in any case. */
bool util_file_commit(struct util_file *file, char **error);

/*
 * Never replaces a file: if the name is taken, puts "-2", "-3" ... before its last dot. Returns the name in
 * fresh memory; NULL with `error` set. Frees `file` in any case.
 */
char *util_file_commit_new(struct util_file *file, char **error);

/* ---- unnamed files, for a time ---- */

/* Files without a name, for what has no room in memory: such a file goes when it is closed. */

/* Where the environment wants them. Not in /tmp: that may be in memory, which they may be too large for. */
const char *unnamed_file_folder(void);

int unnamed_file_open(const char *folder);	/* -1 with errno set: the folder does not take it */

/* All bytes from this offset on. False with errno set: a part could not be written, or is not there (EIO). */
bool unnamed_file_write(int fd, const void *bytes, size_t size, uint64_t offset);
bool unnamed_file_read(int fd, void *to, size_t size, uint64_t offset);

/* ---- spool ---- */

/*
 * Opens a file by its path. A pipe, which can be read only once, is copied to memory: `--symbols <(nm
 * kernel)` gives one.
 */

struct budget;

struct spool {				/* starts as { .fd = -1 } */
	int fd;				/* of the copy in memory; -1: there is none */
	char *path;			/* where to open it: the file itself, or the copy */
	struct budget *budget;
	size_t size;			/* bytes of the copy, charged to the budget */
	atomic_bool copying;		/* spool_open reads a pipe just now */
	bool spent;			/* it failed after bytes had come: the rest is not the whole */
};

/*
 * Copies a pipe, or notes the path of any other file without opening it. Waits for what a pipe's writer writes, wait_ms
 * at most each time. False with `error` set: the pipe could not be copied, or has no writer.
 */
bool spool_open(struct spool *spool, const char *path, int wait_ms, struct budget *budget,
	char **error);
void spool_close(struct spool *spool);

#endif
