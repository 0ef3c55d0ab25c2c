/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/wire/recording_writer.h"
#include "partial_folder.h"

char *partial_folder_name(const char *folder)
{
	size_t size = strlen(folder);

	while (size > 1 && folder[size - 1] == '/')
		size--;
	return util_format("%.*s.partial", (int)size, folder);
}

/* A folder that is there already may be somebody's: it is left as it is, unless it is empty. */
static bool make(const char *partial, const char *folder, char **error)
{
	rmdir(partial);
	if (access(partial, F_OK) == 0)
		return util_fail(error, "%s: not written: there is %s, of an export that was killed, or that goes on; "
			"remove it, or name another folder", folder, partial);
	return recording_folder(partial, error);
}

char *partial_folder_new(const char *folder, char **error)
{
	char *partial = partial_folder_name(folder);

	if (make(partial, folder, error))
		return partial;
	free(partial);
	return NULL;
}

void partial_folder_discard(char *partial)
{
	if (partial)
		recording_remove(partial);
	free(partial);
}

bool partial_folder_commit(char *partial, const char *folder, char **error)
{
	if (rename(partial, folder) == 0) {
		free(partial);
		return true;
	}
	util_fail(error, "%s: not written: %s; name a new or an empty folder", folder, strerror(errno));
	partial_folder_discard(partial);
	return false;
}

static bool is_taken(const char *folder)
{
	char *partial = partial_folder_name(folder);
	bool taken = access(folder, F_OK) == 0 || access(partial, F_OK) == 0;

	free(partial);
	return taken;
}

char *partial_folder_unused(const char *folder)
{
	const char *dot = strrchr(folder, '.');
	int stem = dot ? (int)(dot - folder) : (int)strlen(folder);
	char *name = util_copy(folder, strlen(folder));

	for (unsigned number = 2; is_taken(name); number++) {
		free(name);
		name = util_format("%.*s-%u%s", stem, folder, number, dot ? dot : "");
	}
	return name;
}
