/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "source_file.h"

enum {
	FILE_MOST = 16 << 20,		/* bytes of a file that are read; no source is longer */
	LINE_MOST = 512,		/* bytes of a line that are kept */
	TAB = 8,
};

/* The path on this host, in fresh memory. */
static char *path_here(const char *path, const char *map)
{
	const char *to = map ? strchr(map, '=') : NULL;

	if (to && strncmp(path, map, (size_t)(to - map)) == 0)
		return util_format("%s%s", to + 1, path + (to - map));
	return util_copy(path, strlen(path));
}

static char *without_tabs(const char *text, size_t size)
{
	char line[LINE_MOST];
	size_t used = 0;

	for (size_t i = 0; i < size && used < sizeof(line); i++) {
		line[used++] = text[i] == '\t' ? ' ' : text[i];
		while (text[i] == '\t' && used % TAB && used < sizeof(line))
			line[used++] = ' ';
	}
	while (used && (line[used - 1] == ' ' || line[used - 1] == '\r'))
		used--;
	return util_printable(line, used);
}

static FILE *open_file(const char *path, const char *map)
{
	char *here = path_here(path, map);
	int fd = util_file_read(AT_FDCWD, here, 0, NULL);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	free(here);
	return file;
}

size_t source_file_read(const char *path, const char *map, uint32_t first, size_t count, char **lines)
{
	FILE *file = open_file(path, map);
	size_t got = 0, done = 0, used = 0;
	char text[LINE_MOST];
	uint32_t number = 1;
	int c;

	memset(lines, 0, count * sizeof(*lines));
	if (!file)
		return 0;
	while (got < count && done++ < FILE_MOST && ((c = getc(file)) != EOF || used)) {
		if (c != '\n' && c != EOF) {
			if (used < sizeof(text))
				text[used++] = (char)c;
			continue;
		}
		if (number >= first)
			lines[got++] = without_tabs(text, used);
		number++;
		used = 0;
		if (c == EOF)
			break;
	}
	fclose(file);
	return got;
}
