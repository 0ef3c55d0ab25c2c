/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "source_path.h"

static bool is_part(const char *part, size_t size, const char *text)
{
	return strlen(text) == size && memcmp(part, text, size) == 0;
}

/* Where the last part of what is kept begins. */
static size_t last_part(const char *path, size_t root, size_t kept)
{
	while (kept > root && path[kept - 1] != '/')
		kept--;
	return kept;
}

void source_path_clean(char *path)
{
	size_t root = path[0] == '/', kept = root;

	for (const char *at = path + root, *next; *at; at = next) {
		size_t size = strcspn(at, "/"), last = last_part(path, root, kept);

		next = at + size + (at[size] == '/');
		if (size == 0 || is_part(at, size, "."))
			continue;
		if (is_part(at, size, "..") && kept > root && !is_part(path + last, kept - last, "..")) {
			kept = last > root ? last - 1 : root;
			continue;
		}
		if (is_part(at, size, "..") && root)
			continue;
		if (kept > root)
			path[kept++] = '/';
		memmove(path + kept, at, size);
		kept += size;
	}
	path[kept] = '\0';
}

size_t source_path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash ? 0 : slash == path ? 1 : (size_t)(slash - path);
}
