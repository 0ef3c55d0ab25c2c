/* SPDX-License-Identifier: MIT */
/* Gives a target each file of tests/fuzz/corpus/TARGET once, or the files that are named. Prints TAP. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "fuzz.h"

/* The input is in memory of exactly its size, so that the sanitizer sees a read beyond its end. */
static bool replay(const char *path)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes;
	long size = -1;
	bool read;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	rewind(file);
	bytes = util_alloc((size_t)size);
	read = fread(bytes, 1, (size_t)size, file) == (size_t)size;
	fclose(file);
	fprintf(stderr, "%s\n", path);
	if (read)
		LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
	return read;
}

static int replay_folder(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort), done = 0;

	for (int i = 0; i < count; i++) {
		char *path = util_format("%s/%s", folder, entries[i]->d_name);

		done += entries[i]->d_name[0] != '.' && replay(path);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return done;
}

int main(int count, char **arguments)
{
	const char *name = strrchr(arguments[0], '/');
	char *folder = util_format("tests/fuzz/corpus/%s", name ? name + 1 : arguments[0]);
	int done = 0;

	printf("1..1\n");
	for (int i = 1; i < count; i++)
		done += replay(arguments[i]);
	if (count == 1)
		done = replay_folder(folder);
	printf("%s 1 - %d inputs of %s\n", done ? "ok" : "not ok", done, folder);
	free(folder);
	return !done;
}
