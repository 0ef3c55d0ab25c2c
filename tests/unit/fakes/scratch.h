/* SPDX-License-Identifier: MIT */
/* A scratch folder with files and small programs, for tests of code that reads files. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/util.h"

static char scratch_folder[64];
static pid_t scratch_owner;

static inline size_t scratch_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	size_t count = 0;

	for (struct dirent *entry; tasks && (entry = readdir(tasks));)
		count += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return count;
}

/*
 * Nobody waits for a job that was left: its thread may still read files when main ends. What such a thread holds
 * would be a leak to the sanitizer, which looks after this.
 */
static inline void scratch_await_threads(void)
{
	for (int i = 0; i < 5000 && scratch_threads() > 1; i++)
		usleep(1000);
}

static void scratch_remove(void)
{
	char *command = util_format("rm -rf '%s'", scratch_folder);

	if (getpid() == scratch_owner)
		scratch_await_threads();
	if (getpid() == scratch_owner && system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", scratch_folder);
	free(command);
}

/* The path of a name in the folder. The text is good until four calls later. */
static inline const char *scratch_path(const char *name)
{
	static char paths[4][256];
	static int next;
	char *path = paths[next++ % 4];

	if (!scratch_folder[0]) {
		strcpy(scratch_folder, "/tmp/ktop-test-XXXXXX");
		assert_non_null(mkdtemp(scratch_folder));
		scratch_owner = getpid();
		atexit(scratch_remove);
	}
	assert_true(snprintf(path, sizeof(paths[0]), "%s/%s", scratch_folder, name) <
		(int)sizeof(paths[0]));
	return path;
}

static inline const char *scratch_write(const char *name, const void *bytes, size_t size)
{
	const char *path = scratch_path(name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

static inline const char *scratch_text(const char *name, const char *text)
{
	return scratch_write(name, text, strlen(text));
}

/* The whole file, with a zero byte behind it. */
static inline char *scratch_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	char *bytes;
	long end;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	end = ftell(file);
	assert_true(end >= 0);
	rewind(file);
	bytes = calloc(1, (size_t)end + 1);
	assert_non_null(bytes);
	*size = fread(bytes, 1, (size_t)end, file);
	assert_int_equal(*size, end);
	fclose(file);
	return bytes;
}

/* The path of what is alone in a folder, in fresh memory. Names that begin with a dot do not count. */
static inline char *scratch_only(const char *folder)
{
	DIR *opened = opendir(folder);
	struct dirent *entry;
	char *path = NULL;

	assert_non_null(opened);
	while ((entry = readdir(opened)))
		if (entry->d_name[0] != '.') {
			assert_null(path);
			path = util_format("%s/%s", folder, entry->d_name);
		}
	closedir(opened);
	assert_non_null(path);
	return path;
}

/* Runs a shell command in the folder. It must succeed. */
static inline void scratch_run(const char *command)
{
	char *line = util_format("cd '%s' && %s", (scratch_path("."), scratch_folder), command);

	assert_int_equal(system(line), 0);
	free(line);
}

#endif
